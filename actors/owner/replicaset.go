package owner

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// replicaSet keeps up a number of pods with names of chance, as does a Deployment while all are of one template. A pod that is deleted or
// finished does not count from then on: it is replaced before it is gone.
type replicaSet struct{}

func (replicaSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time {
	for range int(o.spec.Replicas) - o.active {
		o.create(now, &o.template, o.fresh(now, o.template.prefix, o.hasPod), o.template.labels, o.template.spec, out)
	}
	if surplus := o.active - int(o.spec.Replicas); surplus > 0 {
		pods := slices.DeleteFunc(o.sorted(), func(p *pod) bool { return !p.active() })
		for _, p := range leastWanted(pods)[:surplus] {
			o.delete(p, "scaled down", out)
		}
	}
	return time.Time{}
}

// leastWanted orders active pods, those first that a scale-down deletes first: without a node, pending, not ready, on the node with the
// most of them, ready for the shortest time, the newest; at last by name. Source: ActivePodsWithRanks of Kubernetes, without pod-deletion-cost
// and without its rounding of ages to powers of ten.
func leastWanted(pods []*pod) []*pod {
	together := map[messages.NodeName]int{}
	for _, p := range pods {
		if p.Node != "" {
			together[p.Node]++
		}
	}
	slices.SortFunc(pods, func(a, b *pod) int {
		return cmp.Or(
			yes(a.Node != "")-yes(b.Node != ""),
			stage(a.Phase)-stage(b.Phase),
			yes(a.ready())-yes(b.ready()),
			together[b.Node]-together[a.Node],
			b.ReadySince.Compare(a.ReadySince),
			b.created.Compare(a.created),
			cmp.Compare(a.Pod, b.Pod),
		)
	})
	return pods
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
