package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
)

// placed is one binding on one cluster.
type placed struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// gone is the generation of a Work that is not there.
const gone = -1

// copyState is what an agent said of one copy.
type copyState struct {
	// generation of the Work, asked for since an instant; and whether it existed at the start, so that it is not known since when.
	generation int64
	since      time.Duration
	existing   bool
	// up is set once the copy served what this generation asks for; ill, once it said that it does not.
	up, ill bool
	// health and status are what its member reports; empty: as members do.
	health api.ResourceHealth
	status string
	line   int
}

// renewal is the last sign of life of an agent: when it was heard, and how long it was to hold.
type renewal struct {
	heard time.Duration
	holds time.Duration
}

// work tells how a copy is. How long it took to serve is how long its cluster takes; what its agent says after that is
// told as it was.
func (c *conversion) work(before, now api.Object) {
	w, stored := now.(*api.Work)
	if !stored {
		w = before.(*api.Work)
	}
	cluster, binding, ours := observed.Copy(w)
	if !ours {
		return
	}
	at := placed{binding, cluster}
	if !stored || w.DeletionTimestamp != nil {
		c.gone(at)
		return
	}
	s := c.copies[at]
	if s == nil || s.generation != w.Generation {
		s = &copyState{generation: w.Generation, since: c.at, existing: c.line == 0, line: c.line, health: s.told()}
		c.copies[at] = s
	}
	if r := observed.Report(w); r != nil && (r.Generation == 0 || r.Generation >= s.generation) {
		c.capacity(at, w, r.Unschedulable)
		c.heard(at, s, r)
	}
}

// capacity tells for how many replicas of a copy its cluster has capacity. That all of them have is told only where they are more:
// of fewer, it is not known what became of the capacity for the rest.
func (c *conversion) capacity(at placed, w *api.Work, unschedulable int32) {
	before, limited := c.rooms[at]
	if unschedulable <= 0 && !limited {
		return
	}
	replicas, counted := observed.Replicas(w)
	if !counted {
		return
	}
	switch capacity := max(0, replicas-unschedulable); {
	case unschedulable > 0:
		c.rooms[at] = capacity
	case capacity > before:
		delete(c.rooms, at)
	}
	if now, still := c.rooms[at]; still != limited || now != before {
		c.step(c.at, &scenario.RecordedInput{Cluster: at.cluster, ToMember: []messages.ToMember{c.capacityFor(at)}})
	}
}

// capacityFor is the capacity for a copy, as far as it is known.
func (c *conversion) capacityFor(at placed) *messages.SchedulableReplicasSet {
	capacity, limited := c.rooms[at]
	if !limited {
		capacity = -1
	}
	return &messages.SchedulableReplicasSet{Binding: at.binding, Replicas: capacity}
}

// told is the health that a member was last told to report; a copy that is new to us reports as members do.
func (s *copyState) told() api.ResourceHealth {
	if s == nil {
		return ""
	}
	return s.health
}

// heard takes in what an agent says of the newest wish.
func (c *conversion) heard(at placed, s *copyState, r *messages.WorkReport) {
	switch serves := r.Health == api.Healthy; {
	case r.Unschedulable > 0:
		return // its capacity tells how it is
	case !s.up && !serves && !s.existing:
		s.ill = true
		return // it starts
	case !s.up && !s.existing:
		c.startups[at.cluster] = append(c.startups[at.cluster], c.at-s.since)
	}
	s.up = true
	var said []messages.ToMember
	if r.Health != cmp.Or(s.health, api.Healthy) {
		s.health = r.Health
		said = append(said, &messages.HealthForced{Binding: at.binding, Health: r.Health})
	}
	if r.Status != s.status {
		s.status = r.Status
		said = append(said, &messages.StatusForced{Binding: at.binding, Status: r.Status})
	}
	if len(said) > 0 {
		c.step(c.at, &scenario.RecordedInput{Cluster: at.cluster, ToMember: said})
	}
}

// gone ends a copy that is not wanted any more. Its member remembers what it is to report of the next.
func (c *conversion) gone(at placed) {
	s := c.copies[at]
	if s == nil || s.generation == gone {
		return
	}
	c.neverUp(at, s)
	c.copies[at] = &copyState{generation: gone, up: true, health: s.health, status: s.status}
}

// neverServed tells of the copies that were ill until the end.
func (c *conversion) neverServed() {
	for _, at := range slices.SortedFunc(maps.Keys(c.copies), func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.binding, b.binding))
	}) {
		c.neverUp(at, c.copies[at])
	}
}

// neverUp has a copy that was ill from its first word on be ill from then on.
func (c *conversion) neverUp(at placed, s *copyState) {
	if s.up || !s.ill {
		return
	}
	c.line, s.health = s.line, api.Unhealthy
	c.step(s.since, &scenario.RecordedInput{Cluster: at.cluster, ToMember: []messages.ToMember{&messages.HealthForced{Binding: at.binding, Health: api.Unhealthy}}})
}

// running are the copies of a binding that existed at the start, as its clusters know them.
func (c *conversion) running(o api.Object) []*scenario.RecordedInput {
	b := store.AsBinding(o)
	if b == nil {
		return nil
	}
	name := b.Name()
	var all []*scenario.RecordedInput
	add := func(cluster string, replicas int32) {
		if heard := b.Status.Of(cluster); heard != nil {
			at := placed{name, messages.ClusterName(cluster)}
			if _, limited := c.rooms[at]; limited { // before it runs, or it would wait again
				all = append(all, &scenario.RecordedInput{Cluster: at.cluster, ToMember: []messages.ToMember{c.capacityFor(at)}})
			}
			all = append(all, &scenario.RecordedInput{Cluster: messages.ClusterName(cluster), ToMember: []messages.ToMember{
				&messages.HealthForced{Binding: name, Health: cmp.Or(heard.Health, api.Healthy)},
				&messages.RunCopy{Binding: name, Replicas: replicas, Revision: c.revision(b.Spec), Adopt: true},
			}})
		}
	}
	for _, t := range b.Spec.Clusters {
		add(t.Name, t.Pods())
	}
	for _, k := range b.Spec.GracefulEvictionTasks {
		if k.Replicas != nil {
			add(k.FromCluster, *k.Replicas)
		}
	}
	return all
}

// revision is that of the pod template of a binding's resource.
func (c *conversion) revision(of *api.BindingSpec) int32 {
	template := c.existing[of.Resource.Key()]
	if template == nil {
		return 0
	}
	return propagation.Revision(template)
}

// lease takes in a sign of life. Where the one before did not hold until then, the agent was silent.
func (c *conversion) lease(before, now api.Object) {
	l, ok := now.(*coordinationv1.Lease)
	if !ok || l.Namespace != api.LeaseNamespace || l.Spec.RenewTime == nil {
		return
	}
	if old, known := before.(*coordinationv1.Lease); known && old.Spec.RenewTime.Equal(l.Spec.RenewTime) {
		return
	}
	cluster, at := messages.ClusterName(l.Name), c.at
	if before == nil && c.line == 0 { // no daemon heard it
		at = min(0, l.Spec.RenewTime.Sub(c.incident.Start))
	}
	r := c.leases[cluster]
	if r == nil {
		r = &renewal{}
		c.leases[cluster] = r
	} else {
		c.silence(cluster, r, at, true)
	}
	r.heard, r.holds = at, 40*time.Second
	if s := l.Spec.LeaseDurationSeconds; s != nil && *s > 0 {
		r.holds = time.Duration(*s) * time.Second
	}
}

// silence has a cluster fall silent after a sign of life that did not hold until an instant, and be back then. While
// leases could not be followed, that is not known.
func (c *conversion) silence(cluster messages.ClusterName, r *renewal, until time.Duration, back bool) {
	blind := func(at time.Duration) bool { return r.heard <= at && at <= until }
	if until-r.heard <= r.holds || slices.ContainsFunc(c.incident.broken, blind) {
		return
	}
	renewed := c.incident.Start.Add(r.heard)
	c.step(r.heard, &scenario.RecordedInput{Cluster: cluster, ToMember: []messages.ToMember{&messages.OutagesSet{Outages: messages.Outages{Network: true}, RenewedAt: renewed}}})
	if back {
		c.step(until, &scenario.RecordedInput{Cluster: cluster, ToMember: []messages.ToMember{&messages.OutagesSet{}}})
	}
}
