package scheduler

import (
	"slices"

	"leeward/messages"
)

// group is a group of workloads that want to run together, or apart. Groups end with their namespace.
type group struct {
	namespace, name string
	apart           bool
}

// groups say how many bindings of each group run on each cluster. Where they want to run together, one that
// must leave a cluster draws no other there; or else they would wait for each other.
type groups map[group]map[messages.ClusterName]int

// move counts a binding where it now runs instead of where it ran; either may be nil. It reports whether
// the binding is in any group, so that others may have to look again.
func (g groups) move(before, after *messages.PlaceBinding) bool {
	was, is := groupsOf(before), groupsOf(after)
	for _, k := range was {
		g.count(k, before, -1)
	}
	for _, k := range is {
		g.count(k, after, 1)
	}
	return len(was)+len(is) > 0
}

func (g groups) count(k group, m *messages.PlaceBinding, sign int) {
	clusters := g[k]
	if clusters == nil {
		clusters = make(map[messages.ClusterName]int)
		g[k] = clusters
	}
	for _, t := range m.Targets {
		name := messages.ClusterName(t.Name)
		if !k.counts(m, name) {
			continue
		}
		if clusters[name] += sign; clusters[name] == 0 {
			delete(clusters, name)
		}
	}
	if len(clusters) == 0 {
		delete(g, k)
	}
}

// others returns the clusters that run other bindings of a group than this one, in order.
func (g groups) others(m *messages.PlaceBinding, apart bool) []messages.ClusterName {
	var names []messages.ClusterName
	for _, k := range groupsOf(m) {
		if k.apart != apart {
			continue
		}
		for name, n := range g[k] { // order-free: sorted below
			runs := hasTarget(m.Targets, string(name))
			if runs && k.counts(m, name) {
				n--
			}
			if n > 0 {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// counts reports whether it matters to its group that a binding runs on a cluster.
func (k group) counts(m *messages.PlaceBinding, cluster messages.ClusterName) bool {
	return k.apart || !slices.Contains(m.Leaving, cluster) && !slices.Contains(m.Seeking, cluster)
}

func groupsOf(m *messages.PlaceBinding) (all []group) {
	if m == nil || m.Groups == nil {
		return nil
	}
	namespace := m.Binding.Namespace()
	if name := m.Groups.AffinityGroup; name != "" {
		all = append(all, group{namespace, name, false})
	}
	if name := m.Groups.AntiAffinityGroup; name != "" {
		all = append(all, group{namespace, name, true})
	}
	return all
}
