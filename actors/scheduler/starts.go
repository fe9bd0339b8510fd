package scheduler

import (
	"slices"
	"strconv"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// starts count, by cluster, the bindings that left another cluster and start there; limits are those of clusters that
// back off.
type starts struct {
	settings *messages.Settings
	counts   map[messages.ClusterName]int
	limits   map[messages.ClusterName]*messages.StartsLimited
}

func newStarts(settings *messages.Settings) starts {
	return starts{settings: settings, counts: map[messages.ClusterName]int{}, limits: map[messages.ClusterName]*messages.StartsLimited{}}
}

// underWay are the starts of a binding that keep others waiting.
func underWay(m *messages.PlaceBinding) []messages.ClusterName {
	if m == nil || m.Late {
		return nil
	}
	return m.Starting
}

// move counts a binding where it now starts instead of where it did; either may be nil. It reports whether others
// may start on some cluster in its place.
func (s *starts) move(before, after *messages.PlaceBinding) (fewer bool) {
	for _, c := range underWay(before) {
		if s.counts[c]--; s.counts[c] == 0 {
			delete(s.counts, c)
		}
		fewer = fewer || !slices.Contains(underWay(after), c) && s.mostOn(c) > 0
	}
	for _, c := range underWay(after) {
		s.counts[c]++
	}
	return fewer
}

// mostOn is how many may start on a cluster at the same time; zero: any number.
func (s *starts) mostOn(c messages.ClusterName) int {
	most := s.settings.MaxStartingPerCluster
	if l := s.limits[c]; l != nil && (most == 0 || l.Most <= most) {
		return l.Most
	}
	return most
}

// whyOn says that in words.
func (s *starts) whyOn(c messages.ClusterName) string {
	most := s.mostOn(c)
	if l := s.limits[c]; l != nil && l.Most == most {
		return strconv.Itoa(most) + ": " + l.Why
	}
	return strconv.Itoa(most)
}

// busy are the clusters that start as many others as they may, for a binding that must leave a cluster or did.
func (s *starts) busy(m *messages.PlaceBinding) (clusters []placement.BusyCluster) {
	if s.settings.MaxStartingPerCluster == 0 && len(s.limits) == 0 || !moving(m) {
		return nil
	}
	for c, n := range s.counts { // order-free: a set
		if most := s.mostOn(c); most > 0 && n >= most {
			clusters = append(clusters, placement.BusyCluster{Cluster: c, Most: s.whyOn(c)})
		}
	}
	return clusters
}

// note writes down where a binding starts with its new targets.
func (s *starts) note(next *messages.PlaceBinding, before []api.TargetCluster) {
	if !s.settings.CountsStarts() || len(next.Evicting) == 0 {
		return
	}
	var starting []messages.ClusterName
	for _, t := range next.Targets {
		came := !hasTarget(before, t.Name)
		if c := messages.ClusterName(t.Name); came || slices.Contains(next.Starting, c) {
			starting = append(starting, c)
		}
	}
	next.Starting, next.Late = starting, false
}

// tell tells the governor where a copy became healthy that started on a cluster that backs off.
func (s *starts) tell(before, after *messages.PlaceBinding, out *actors.Outbox) {
	if len(s.limits) == 0 || before == nil {
		return
	}
	m := &messages.StartsSucceeded{}
	for _, c := range before.Starting {
		if s.limits[c] != nil && !slices.Contains(after.Starting, c) && hasTarget(after.Targets, string(c)) {
			m.Clusters = append(m.Clusters, c)
		}
	}
	if len(m.Clusters) > 0 {
		out.TellGovernor(m)
	}
}

// limit has others wait where a cluster backs off. It reports whether a limit ended, so that they can be tried again.
func (s *starts) limit(m *messages.StartsLimited) (ended bool) {
	if m.Most > 0 {
		s.limits[m.Cluster] = m
		return false
	}
	delete(s.limits, m.Cluster)
	return true
}
