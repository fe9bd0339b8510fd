package binding

import (
	"cmp"
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

// giveBack takes gains off a result; a cluster that has nothing else is off it.
func giveBack(clusters, gained []api.TargetCluster) []api.TargetCluster {
	var left []api.TargetCluster
	for _, c := range clusters {
		rest := c
		gains := false
		for _, g := range gained {
			if g.Name == c.Name {
				rest.Replicas -= g.Replicas
				gains = true
			}
		}
		if !gains || rest.Replicas > 0 {
			left = append(left, rest)
		}
	}
	return left
}

// successors are the clusters that have the replicas now which some clusters once took over: where one of these is evicted from
// itself, those who took over from it.
func (v *view) successors(replicas []api.TargetCluster) []api.TargetCluster {
	var now []api.TargetCluster
	for _, r := range replicas {
		k := v.handover.task(messages.ClusterName(r.Name))
		if k == nil {
			now = append(now, r)
		} else if len(k.ReplacedBy) > 0 {
			taken, _ := take(k.ReplacedBy, r.Replicas, v.duplicated())
			now = append(now, v.successors(taken)...)
		}
	}
	return now
}

// owed are the replicas that those who took over give back if a task is withdrawn: all of them, or, of a
// gradual one, as many as the old copy still runs, where they do not serve yet first.
func (v *view) owed(k *api.GracefulEvictionTask) []api.TargetCluster {
	gained := v.successors(k.ReplacedBy)
	if k.Handover != api.HandoverGradual || v.duplicated() {
		return gained
	}
	gained = slices.Clone(gained)
	slices.SortStableFunc(gained, func(x, y api.TargetCluster) int { return cmp.Compare(v.lacking(y.Name), v.lacking(x.Name)) })
	back, _ := take(gained, *k.Replicas, false)
	return back
}
