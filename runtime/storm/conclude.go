package storm

import (
	"cmp"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// shape is what the fleet is made of.
func (s *Storm) shape() Shape {
	s.clusters = lists.Of(s.ground.clusters(), func(o api.Object) *api.Cluster { return o.(*api.Cluster) })
	shape := Shape{Clusters: len(s.clusters), Regions: len(regionsOf(s.clusters))}
	s.eachStanding(func(_ messages.BindingName, at *followed) {
		shape.Bindings++
		for _, t := range at.Clusters {
			shape.Replicas += int(t.Replicas)
		}
	})
	if m := s.config.Manifests; m != nil {
		for _, d := range m.Objects {
			if !slices.Contains(shape.Files, d.Place.File) {
				shape.Files = append(shape.Files, d.Place.File)
			}
		}
	}
	return shape
}

// regionsOf are the regions of clusters, each once, in order.
func regionsOf(clusters []*api.Cluster) []string {
	var regions []string
	for _, c := range clusters {
		if c.Spec.Region != "" {
			regions = append(regions, c.Spec.Region)
		}
	}
	slices.Sort(regions)
	return slices.Compact(regions)
}

// eachStanding visits every workload, in no order.
func (s *Storm) eachStanding(visit func(messages.BindingName, *followed)) {
	for _, l := range s.lanes {
		for name, at := range l.standing { // order-free: visitors count, or sort what they keep
			visit(name, at)
		}
	}
}

// load counts the replicas of every cluster as they are now, as those before.
func (s *Storm) load() []ClusterLoad {
	counts := s.counts()
	return lists.Of(s.clusters, func(c *api.Cluster) ClusterLoad {
		return ClusterLoad{Cluster: c.Name, Region: c.Spec.Region, Before: counts[c.Name]}
	})
}

func (s *Storm) counts() map[string]int {
	counts := map[string]int{}
	s.eachStanding(func(_ messages.BindingName, at *followed) {
		for _, t := range at.Clusters {
			counts[t.Name] += int(t.Replicas)
		}
	})
	return counts
}

// conclude completes the report from what the lanes recorded.
func (s *Storm) conclude() {
	r := s.report
	all := newTiming()
	for _, l := range s.lanes {
		all.merge(&l.timing)
		r.Rates.Withdrawn += l.withdrawn
		r.Rates.Held += l.held
		r.FleetTime = max(r.FleetTime, Seconds(l.last))
	}
	r.timed(&all, released)
	s.reload()
	if !r.Interrupted {
		r.Checks = s.checks()
	}
}

// reload says how many replicas every cluster has now, failed ones first.
func (s *Storm) reload() {
	counts := s.counts()
	for i := range s.report.Load {
		c := &s.report.Load[i]
		c.After, c.Failed = counts[c.Cluster], slices.Contains(s.victims, c.Cluster)
	}
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(s.report.Load, func(a, b ClusterLoad) int { return cmp.Compare(rank[a.Failed], rank[b.Failed]) })
}
