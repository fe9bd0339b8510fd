package scheduler

import (
	"slices"
	"strconv"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// starts count, by cluster, the bindings that left another cluster and start there; limits are those of clusters that
// back off.
type starts struct {
	counts map[messages.ClusterName]int
	limits map[messages.ClusterName]*messages.StartsLimited
}

func newStarts() starts {
	return starts{counts: map[messages.ClusterName]int{}, limits: map[messages.ClusterName]*messages.StartsLimited{}}
}

// underWay are the starts of a binding that keep others waiting.
func underWay(m *messages.PlaceBinding) []messages.ClusterName {
	if m == nil || m.Late {
		return nil
	}
	return m.Starting
}

// moveStarts counts a binding where it now starts instead of where it did; either may be nil. It reports whether others
// may come to some cluster in its place.
func (s *Scheduler) moveStarts(before, after *messages.PlaceBinding) (fewer bool) {
	for _, c := range underWay(before) {
		if s.starts.counts[c]--; s.starts.counts[c] == 0 {
			delete(s.starts.counts, c)
		}
		fewer = fewer || !slices.Contains(underWay(after), c) && s.mostOn(c) > 0
	}
	for _, c := range underWay(after) {
		s.starts.counts[c]++
	}
	return fewer
}

// mostOn is how many may start on a cluster at once; zero: any number.
func (s *Scheduler) mostOn(c messages.ClusterName) int {
	most := s.settings.MaxStartingPerCluster
	if l := s.starts.limits[c]; l != nil && (most == 0 || l.Most <= most) {
		return l.Most
	}
	return most
}

// whyOn says that in words.
func (s *Scheduler) whyOn(c messages.ClusterName) string {
	most := s.mostOn(c)
	if l := s.starts.limits[c]; l != nil && l.Most == most {
		return strconv.Itoa(most) + ": " + l.Why
	}
	return strconv.Itoa(most)
}

// busy are the clusters that start as many others as they may, for a binding that is to leave a cluster or did.
func (s *Scheduler) busy(m *messages.PlaceBinding) (clusters []placement.Busy) {
	if s.settings.MaxStartingPerCluster == 0 && len(s.starts.limits) == 0 || !moving(m) {
		return nil
	}
	for c, n := range s.starts.counts { // order-free: a set
		if most := s.mostOn(c); most > 0 && n >= most {
			clusters = append(clusters, placement.Busy{Cluster: c, Most: s.whyOn(c)})
		}
	}
	return clusters
}

func moving(m *messages.PlaceBinding) bool { return len(m.Evicting)+len(m.Leaving)+len(m.Seeking) > 0 }

// startsOn notes where a binding starts with its new targets.
func (s *Scheduler) startsOn(next *messages.PlaceBinding, before []api.TargetCluster) {
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

// tellStarts tells the governor where a copy became healthy that started on a cluster that backs off.
func (s *Scheduler) tellStarts(before, after *messages.PlaceBinding, out *actors.Outbox) {
	if len(s.starts.limits) == 0 || before == nil {
		return
	}
	m := &messages.StartsSucceeded{}
	for _, c := range before.Starting {
		if s.starts.limits[c] != nil && !slices.Contains(after.Starting, c) && hasTarget(after.Targets, string(c)) {
			m.Clusters = append(m.Clusters, c)
		}
	}
	if len(m.Clusters) > 0 {
		out.TellGovernor(m)
	}
}

// startsLimited has others wait where a cluster backs off, or try again.
func (s *Scheduler) startsLimited(now time.Time, m *messages.StartsLimited, out *actors.Outbox) {
	if m.Most > 0 {
		s.starts.limits[m.Cluster] = m
		return
	}
	delete(s.starts.limits, m.Cluster)
	s.freed = true
	out.WakeAt(now)
}
