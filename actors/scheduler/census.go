package scheduler

import (
	"cmp"
	"maps"
	"slices"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// census counts the copies that are placed, by cluster and by priority, while breakers need the counts.
type census struct {
	settings   *messages.Settings
	clusters   tally[string]
	priorities tally[int32]
	// told is set once the governor knows that there is a census.
	told bool
}

// tally counts by key, and knows what was told of those whose count may have changed since.
type tally[K cmp.Ordered] struct{ counts, told map[K]int }

func newCensus(settings *messages.Settings) census {
	return census{settings: settings, clusters: newTally[string](), priorities: newTally[int32]()}
}

func newTally[K cmp.Ordered]() tally[K] { return tally[K]{counts: map[K]int{}, told: map[K]int{}} }

func (t *tally[K]) add(k K, n int) {
	if _, known := t.told[k]; !known {
		t.told[k] = t.counts[k]
	}
	t.counts[k] += n
}

// news returns the keys, in order, with another count than was told, and takes them for told.
func (t *tally[K]) news() []K {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(t.told)), func(k K) bool { return t.told[k] == t.counts[k] })
	clear(t.told)
	return keys
}

// count takes a binding's new targets in, in place of its old ones; either may be nil.
func (c *census) count(before, after *messages.PlaceBinding) {
	if !c.settings.Breaks() || before != nil && after != nil && before.Priority == after.Priority && slices.EqualFunc(before.Targets, after.Targets, sameCluster) {
		return
	}
	c.add(before, -1)
	c.add(after, 1)
}

func sameCluster(a, b api.TargetCluster) bool { return a.Name == b.Name }

func (c *census) add(m *messages.PlaceBinding, sign int) {
	if m == nil || len(m.Targets) == 0 {
		return
	}
	for _, t := range m.Targets {
		c.clusters.add(t.Name, sign)
	}
	c.priorities.add(m.Priority, sign*len(m.Targets))
}

// tell tells the governor what changed since it last heard.
func (c *census) tell(out *actors.Outbox) {
	if !c.settings.Breaks() {
		return
	}
	m := &messages.CopiesCounted{}
	for _, name := range c.clusters.news() {
		m.Clusters = append(m.Clusters, messages.ClusterCopies{Cluster: messages.ClusterName(name), Copies: c.clusters.counts[name]})
	}
	for _, priority := range c.priorities.news() {
		m.Priorities = append(m.Priorities, messages.PriorityCopies{Priority: priority, Copies: c.priorities.counts[priority]})
	}
	if !c.told || len(m.Clusters) > 0 || len(m.Priorities) > 0 {
		c.told = true
		out.TellGovernor(m)
	}
}

// restart begins the census again where breakers begin to need it, and forgets it where they no longer do.
func (c *census) restart(breaks bool, entries map[messages.BindingName]*entry) {
	if breaks == c.settings.Breaks() {
		return
	}
	*c = newCensus(c.settings)
	if !breaks {
		return
	}
	for _, e := range entries { // order-free: sums
		c.add(e.asked, 1)
	}
}
