package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages/api"
)

func TestUnits(t *testing.T) {
	tests := []struct {
		name     string
		resource corev1.ResourceName
		quantity string
		want     int64
	}{
		{"cpu counts in thousandths", corev1.ResourceCPU, "1500m", 1500},
		{"less than a thousandth of cpu counts as one", corev1.ResourceCPU, "100u", 1},
		{"memory counts in bytes", corev1.ResourceMemory, "1Ki", 1024},
		{"a part of a device counts as one", "example.com/gpu", "1500m", 2},
		{"none is none", corev1.ResourcePods, "0", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, api.Units(test.resource, resource.MustParse(test.quantity)))
		})
	}
}

func TestOnlySoManyConditionsAreRememberedThatAreGone(t *testing.T) {
	var list []api.RemovedCondition
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 250 {
		list = api.WithRemoved(list, fmt.Sprintf("C%d", i), at.Add(time.Duration(i)*time.Second))
	}
	require.Len(t, list, 100)
	require.Equal(t, "C150", list[0].Type)
	require.Equal(t, "C249", list[99].Type)
	again := api.WithRemoved(list, "C150", at.Add(time.Hour))
	require.Len(t, again, 100)
	require.Equal(t, "C150", again[99].Type)
	require.Equal(t, "C150", list[0].Type, "the list before is as it was")
}
