package owner

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// replicaSet keeps up a number of pods with names of chance, as does a Deployment while all are of one template. A pod that is deleted or
// finished does not count from then on: it is replaced before it is gone.
type replicaSet struct {
	// deployed: a Deployment made it.
	deployed bool
}

func (r replicaSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	for range int(o.spec.Replicas) - o.active {
		o.create(now, &o.template, o.fresh(now, o.template.prefix, o.hasPod), o.template.labels, o.template.spec, out)
	}
	if surplus := o.active - int(o.spec.Replicas); surplus > 0 {
		pods := slices.DeleteFunc(o.sorted(), func(p *pod) bool { return !p.active() })
		var related []*pod
		if r.deployed {
			related = pods
		}
		for _, p := range leastWanted(pods, related, roughly(now))[:surplus] {
			o.delete(p, "scaled down", out)
		}
	}
	return time.Time{}
}

// leastWanted orders active pods, those first that a scale-down deletes first: without a node, pending, not ready, on the node with the
// most of the related pods, ready for a shorter time, newer; at last by name, which is by chance. Source: ActivePodsWithRanks of Kubernetes, without
// pod-deletion-cost. A ReplicaSet without a Deployment finds no pods related, not even its own.
func leastWanted(pods, related []*pod, younger func(a, b time.Time) int) []*pod {
	together := map[messages.NodeName]int{}
	for _, p := range related {
		if p.active() {
			together[p.Node]++
		}
	}
	slices.SortFunc(pods, func(a, b *pod) int {
		return cmp.Or(
			yes(a.Node != "")-yes(b.Node != ""),
			stage(a.Phase)-stage(b.Phase),
			yes(a.ready())-yes(b.ready()),
			together[b.Node]-together[a.Node],
			younger(a.ReadySince, b.ReadySince),
			younger(a.created, b.created),
			cmp.Compare(a.Pod, b.Pod),
		)
	})
	return pods
}

// roughly compares ages at an instant: those of which the binary logarithms have the same whole part are equal, as for a ReplicaSet.
func roughly(now time.Time) func(a, b time.Time) int {
	age := func(since time.Time) int { return bits.Len64(uint64(max(now.Sub(since), 0))) }
	return func(a, b time.Time) int { return age(a) - age(b) }
}

func stage(p corev1.PodPhase) int {
	switch p {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	default:
		return 0
	}
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}
