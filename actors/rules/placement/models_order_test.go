package placement

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
)

// The resources of a request are a map: how many replicas nodes can take must not depend on which is looked at first, nor on the
// order in which the models of a cluster stand, nor on that of the resources in each.
func TestReplicasByGradesDependOnNoOrder(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		view := graded(r)
		c := newCapacity()
		needs := []need{{0, 1}}
		for _, i := range r.Perm(len(resources))[:r.IntN(len(resources)+1)] {
			needs = append(needs, need{c.column(resources[i]), 1 + r.Int64N(9)})
		}
		n, known := gradesOf(view).replicas(&c, needs)
		for range 24 {
			r.Shuffle(len(needs)-1, func(i, j int) { needs[i+1], needs[j+1] = needs[j+1], needs[i+1] })
			r.Shuffle(len(view.Models), func(i, j int) { view.Models[i], view.Models[j] = view.Models[j], view.Models[i] })
			for _, m := range view.Models {
				r.Shuffle(len(m.Ranges), func(i, j int) { m.Ranges[i], m.Ranges[j] = m.Ranges[j], m.Ranges[i] })
			}
			again, knownAgain := gradesOf(view).replicas(&c, needs)
			require.Equal(t, n, again, "seed %d: %v of %v", seed, needs, view.Models)
			require.Equal(t, known, knownAgain, "seed %d: %v of %v", seed, needs, view.Models)
		}
	}
}

// What exceeds every grade fits no node, whatever else is asked for that grades say nothing of.
func TestWhatExceedsEveryGradeFitsNowhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	view := graded(r)
	c := newCapacity()
	tooLarge, unlisted := need{c.column(view.Models[0].Ranges[0].Name), 100}, need{c.column("example.com/fpga"), 1}
	for _, needs := range [][]need{{{0, 1}, tooLarge, unlisted}, {{0, 1}, unlisted, tooLarge}} {
		n, known := gradesOf(view).replicas(&c, needs)
		require.True(t, known)
		require.Zero(t, n)
	}
}

var resources = []corev1.ResourceName{"example.com/a", "example.com/b", "example.com/c", "example.com/d"}

// graded is a cluster whose grades list some of the resources, from 0 up.
func graded(r *rand.Rand) *messages.ClusterView {
	v := &messages.ClusterView{Name: "a", Resources: &api.ResourceSummary{}}
	listed := r.Perm(len(resources))[:1+r.IntN(len(resources)-1)]
	floors := make([]int64, len(resources))
	for grade := range 1 + r.IntN(4) {
		m := api.ResourceModel{Grade: uint(grade)}
		for _, i := range listed {
			m.Ranges = append(m.Ranges, api.ResourceModelRange{Name: resources[i], Min: *resource.NewQuantity(floors[i], resource.DecimalSI)})
			floors[i] += 1 + r.Int64N(4)
		}
		v.Models = append(v.Models, m)
		v.Resources.AllocatableModelings = append(v.Resources.AllocatableModelings, api.AllocatableModeling{Grade: uint(grade), Count: r.IntN(5)})
	}
	return v
}
