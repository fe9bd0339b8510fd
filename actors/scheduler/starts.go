package scheduler

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// starts count, by cluster, the bindings that left another cluster and start there.
type starts map[messages.ClusterName]int

// move counts a binding where it now starts instead of where it did; either may be nil. It reports whether some
// cluster has a start less, so that others may come.
func (s starts) move(before, after *messages.PlaceBinding) (fewer bool) {
	if before != nil {
		for _, c := range before.Starting {
			if s[c]--; s[c] == 0 {
				delete(s, c)
			}
			fewer = fewer || after == nil || !slices.Contains(after.Starting, c)
		}
	}
	if after != nil {
		for _, c := range after.Starting {
			s[c]++
		}
	}
	return fewer
}

// busy are the clusters that start as many others as they may, for a binding that is to leave a cluster or did.
func (s *Scheduler) busy(m *messages.PlaceBinding) (clusters []messages.ClusterName) {
	most := s.settings.MaxStartingPerCluster
	if most == 0 || !moving(m) {
		return nil
	}
	for c, n := range s.starts { // order-free: a set
		if slices.Contains(m.Starting, c) {
			n--
		}
		if n >= most {
			clusters = append(clusters, c)
		}
	}
	return clusters
}

func moving(m *messages.PlaceBinding) bool { return len(m.Evicting)+len(m.Leaving)+len(m.Seeking) > 0 }

// startsOn notes where a binding starts with its new targets.
func (s *Scheduler) startsOn(next *messages.PlaceBinding, before []api.TargetCluster) {
	if s.settings.MaxStartingPerCluster == 0 || len(next.Evicting) == 0 {
		return
	}
	var starting []messages.ClusterName
	for _, t := range next.Targets {
		came := !slices.ContainsFunc(before, func(o api.TargetCluster) bool { return o.Name == t.Name })
		if c := messages.ClusterName(t.Name); came || slices.Contains(next.Starting, c) {
			starting = append(starting, c)
		}
	}
	next.Starting = starting
}
