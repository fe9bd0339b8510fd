package kubeapi

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/randfill"
)

func TestEventsLoseNothingBetweenTheirGroups(t *testing.T) {
	fill := randfill.New().RandSource(rand.NewSource(1)).NilChance(0.3)
	for range 200 {
		var e corev1.Event
		fill.Fill(&e)
		e.TypeMeta = metav1.TypeMeta{}
		styled := newStyle(&e)
		require.Equal(t, e, oldStyle(&styled))
	}
}

func TestAListOfEventsIsReadInBothGroups(t *testing.T) {
	s, err := newScheme(kinds)
	require.NoError(t, err)
	kept := &corev1.EventList{Items: []corev1.Event{{Message: "gone"}}}
	styled, err := s.ConvertToVersion(kept, schema.GroupVersion{Group: "events.k8s.io", Version: "v1"})
	require.NoError(t, err)
	require.Equal(t, "gone", styled.(*eventsv1.EventList).Items[0].Note)
}
