package binding

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// shareGains puts what a decision added down to the tasks that wait for it, each as much as it gave up.
func (v *view) shareGains(before, after []api.TargetCluster) (takeovers []messages.Takeover) {
	var few [4]api.TargetCluster // off the heap, as a rule
	pool := gains(few[:0], before, after)
	for i := range v.handover.tasks {
		k := &v.handover.tasks[i]
		if len(k.ReplacedBy) > 0 || len(pool) == 0 {
			continue
		}
		want := int32(0)
		if k.Replicas != nil {
			want = *k.Replicas
		}
		if k.ReplacedBy, pool = take(pool, want, v.duplicated()); len(k.ReplacedBy) > 0 {
			takeovers = append(takeovers, messages.Takeover{From: messages.ClusterName(k.FromCluster), By: k.ReplacedBy})
		}
	}
	return takeovers
}

// take cuts want replicas off a pool of gains, whose memory it uses again, or, where each cluster runs all replicas, one
// cluster.
func take(pool []api.TargetCluster, want int32, whole bool) (taken, rest []api.TargetCluster) {
	if whole {
		return slices.Clone(pool[:1]), pool[1:]
	}
	rest = pool[:0]
	for i, g := range pool {
		if want == 0 {
			return taken, append(rest, pool[i:]...)
		}
		n := min(want, g.Replicas)
		taken = append(taken, api.TargetCluster{Name: g.Name, Replicas: n})
		want -= n
		if g.Replicas > n {
			rest = append(rest, api.TargetCluster{Name: g.Name, Replicas: g.Replicas - n})
		}
	}
	return taken, rest
}

// gains appends to a pool the replicas that clusters have more after than before, new clusters with all of theirs.
func gains(pool, before, after []api.TargetCluster) []api.TargetCluster {
	for _, a := range after {
		had, known := int32(0), false
		for _, b := range before {
			if b.Name == a.Name {
				had, known = b.Replicas, true
			}
		}
		if !known || a.Replicas > had {
			pool = append(pool, api.TargetCluster{Name: a.Name, Replicas: a.Replicas - had})
		}
	}
	return pool
}
