package karmada

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// decoded is a binding of web on m1 and m2, as a server has it, with a placement among some clusters, and one that was applied.
func decoded(t *testing.T, among, was string) *store.Binding {
	t.Helper()
	o := (&bindingOf{clusters: placed("m1", "m2")}).object(placementOf(among))
	o["metadata"].(map[string]any)["annotations"].(map[string]any)[api.AnnotationAppliedPlacement] = textOf(t, placementOf(was))
	read, err := kindOf(keyOf(o)).decode([]byte(textOf(t, o)))
	require.NoError(t, err)
	return store.AsBinding(read)
}

func TestBindingsOfOnePolicyShareTheirPlacement(t *testing.T) {
	first, second := decoded(t, "m1", "m1"), decoded(t, "m1", "m1")
	require.Same(t, first.Spec.Placement, second.Spec.Placement)
	edited := decoded(t, "m7", "m1") // and not scheduled since
	require.NotSame(t, first.Spec.Placement, edited.Spec.Placement)
	require.Equal(t, []string{"m7"}, edited.Spec.Placement.ClusterAffinity.ClusterNames)
	require.Equal(t, []string{"m1"}, decoded(t, "m1", "m1").Spec.Placement.ClusterAffinity.ClusterNames)
}

// TestAPlacementThatIsYetToBeCompletedIsNotShared: machines complete it where it is.
func TestAPlacementThatIsYetToBeCompletedIsNotShared(t *testing.T) {
	var a alike
	b := store.AsBinding(&api.ResourceBinding{Spec: api.BindingSpec{Placement: &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{}}}})
	b.Meta.Annotations = map[string]string{api.AnnotationAppliedPlacement: "{}"}
	a.share(b)
	require.Empty(t, a.of)
}

func TestThePlacementsThatAreSharedAreBounded(t *testing.T) {
	var a alike
	for n := range mostAlike + 10 {
		b := store.AsBinding(&api.ResourceBinding{Spec: api.BindingSpec{Placement: &api.Placement{}}})
		b.Meta.Annotations = map[string]string{api.AnnotationAppliedPlacement: fmt.Sprint(n)}
		a.share(b)
	}
	require.Len(t, a.of, 10)
}
