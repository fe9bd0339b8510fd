package api_test

import (
	"testing"

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
