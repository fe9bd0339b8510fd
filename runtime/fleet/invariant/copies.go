package invariant

import (
	"slices"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
)

// copies are what members run, as they themselves recorded it, and what was last believed of its health.
type copies struct {
	of     map[messages.BindingName][]copyOf
	cutOff map[messages.ClusterName]bool
	// reached is when a cluster could last be reached again: it then does what it was told meanwhile.
	reached map[messages.ClusterName]time.Time
	// mishears is until when the reports of a cluster may be late.
	mishears map[messages.ClusterName]time.Time
}

// copyOf is one copy on one cluster.
type copyOf struct {
	cluster  messages.ClusterName
	runs     bool
	replicas int32
	// started is when the copy began, zero: it was there before the engine; stopped is when it ended, late if that
	// was when its cluster could be reached again, and did what it was told long ago.
	started, stopped time.Time
	late             bool
	health           api.ResourceHealth
	ready            int32
	// unheard is set while nothing was heard of the copy since it runs something else, revision if it is of another
	// template.
	unheard bool
	// said is what its cluster said of it last; nil: nothing that is known.
	said     *messages.CopyReported
	revision int32
}

func newCopies() copies {
	return copies{
		of: map[messages.BindingName][]copyOf{}, cutOff: map[messages.ClusterName]bool{}, reached: map[messages.ClusterName]time.Time{},
		mishears: map[messages.ClusterName]time.Time{},
	}
}

// find returns what is known of a copy, or nil.
func (c *copies) find(b messages.BindingName, on messages.ClusterName) *copyOf {
	list := c.of[b]
	i := slices.IndexFunc(list, func(o copyOf) bool { return o.cluster == on })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// at is find, and makes an entry where there is none.
func (c *copies) at(b messages.BindingName, on messages.ClusterName) *copyOf {
	if known := c.find(b, on); known != nil {
		return known
	}
	c.of[b] = append(c.of[b], copyOf{cluster: on})
	return &c.of[b][len(c.of[b])-1]
}

func (c *copies) heard(e *journal.Entry) {
	switch f := e.Fact.(type) {
	case *messages.CopyStarted:
		k := c.at(f.Binding, f.Cluster)
		k.runs, k.replicas, k.started = true, f.Replicas, e.At
	case *messages.CopyAdopted:
		k := c.at(f.Binding, f.Cluster)
		k.runs, k.replicas, k.started = true, f.Replicas, time.Time{}
		if f.Health != "" {
			k.health, k.ready = f.Health, f.Ready
		}
	case *messages.CopyScaled:
		k := c.at(f.Binding, f.Cluster)
		k.runs, k.replicas, k.unheard = true, f.Replicas, true
	case *messages.CopyUpdated:
		k := c.at(f.Binding, f.Cluster)
		k.revision, k.unheard = f.Revision, true
	case *messages.CopyStopped:
		c.ended(e.At, f.Binding, f.Cluster)
	case *messages.CopyPreserved:
		c.ended(e.At, f.Binding, f.Cluster)
	case *messages.HealthChanged:
		k := c.at(f.Binding, f.Cluster)
		k.health, k.ready = f.Health, f.Ready
		k.unheard = k.unheard && f.Revision < k.revision
	case *messages.HealthForgotten:
		k := c.at(f.Binding, f.Cluster)
		k.health, k.ready = "", 0
	}
}

// Reported takes in what a binding is told of a copy.
func (m *Monitor) Reported(b messages.BindingName, r *messages.CopyReported) {
	m.copies.at(b, r.Cluster).said = r
	m.open[b] = true
}

func (c *copies) ended(at time.Time, b messages.BindingName, on messages.ClusterName) {
	k := c.at(b, on)
	k.runs, k.replicas, k.stopped, k.late = false, 0, at, c.reached[on].Equal(at)
}

func (c *copies) dropCluster(name messages.ClusterName) {
	for b, list := range c.of { // order-free: each list loses the same cluster
		c.of[b] = slices.DeleteFunc(list, func(k copyOf) bool { return k.cluster == name })
	}
}

// serves reports whether a copy can serve now: it is said to be healthy, and has had the time to start.
func (m *Monitor) serves(now time.Time, k *copyOf) bool {
	if k == nil || k.health != api.Healthy {
		return false
	}
	return k.started.IsZero() || !now.Before(k.started.Add(m.members[k.cluster].StartupMin))
}
