package member

import (
	"cmp"
	"container/heap"
	"fmt"
	"iter"
	"time"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/messages"
	"leeward/messages/api"
)

// copyState is one copy on the cluster.
type copyState struct {
	binding messages.BindingName
	// ready of replicas serve; up is false until the copy has served once.
	replicas, ready int32
	up              bool
	// available is how many of them were last recorded to serve users.
	available int32
	// pending counts the pods that no node can take, of a copy that is run by pods.
	pending int32
	// asks is set from when the copy was to be removed unseen until the engine answers what is to become of it.
	asks bool
	// revision of the pod template is to run; serving is the one that the ready replicas run.
	revision, serving int32
	// servesAt is when all replicas will serve; zero: they do.
	servesAt time.Time
	// wanted is the placement that the member was last told; served the one that its replicas run.
	wanted, served int64
}

// run starts a copy, scales it or rolls out another version of its pod template, during which the old
// replicas serve. One that was preserved goes on. To be told the same again makes the member report again, so
// that an engine that lost its memory learns how things are.
func (m *Member) run(now time.Time, r *messages.RunCopy, out *actors.Outbox) {
	m.adopt(now, r, out)
	i, known := m.at[r.Binding]
	if !known {
		m.start(now, r, out)
		return
	}
	c := m.copies.at(i)
	c.asks = false
	if r.AsIs {
		m.affirm(c, r.Placement, out)
		return
	}
	before, rolls := c.replicas, r.Revision > c.revision
	c.replicas, c.wanted, c.revision = r.Replicas, r.Placement, max(r.Revision, c.revision)
	if c.replicas != before {
		out.Record(&messages.CopyScaled{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas, Before: before})
	}
	if rolls {
		out.Record(&messages.CopyUpdated{Binding: c.binding, Cluster: m.cluster, Revision: c.revision})
	}
	switch {
	case c.replicas > before, rolls:
		m.awaitStartup(now, c, out)
	case c.up && c.ready >= c.replicas && c.serving == c.revision:
		m.serves(c, out)
	default:
		m.report(c, out)
	}
}

// affirm reports a copy as what is wanted, under the number of the wish.
func (m *Member) affirm(c *copyState, placement int64, out *actors.Outbox) {
	if c.served == c.wanted {
		c.served = placement
	}
	c.wanted = placement
	m.report(c, out)
}

// adopt looks after a preserved copy again. What it runs counts as the version that is asked for, for those of a
// resource that is gone mean nothing any more.
func (m *Member) adopt(now time.Time, r *messages.RunCopy, out *actors.Outbox) {
	c, preserved := m.preserved[r.Binding]
	if !preserved {
		return
	}
	delete(m.preserved, r.Binding)
	if !c.servesAt.IsZero() && !c.servesAt.After(now) {
		c.up, c.ready, c.servesAt = true, c.replicas, time.Time{}
	}
	c.revision, c.serving, c.wanted, c.served, c.asks = r.Revision, r.Revision, 0, 0, false
	m.at[r.Binding] = m.copies.add(c)
	out.Record(&messages.CopyAdopted{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas})
}

func (m *Member) start(now time.Time, r *messages.RunCopy, out *actors.Outbox) {
	i := m.copies.add(copyState{binding: r.Binding, replicas: r.Replicas, revision: r.Revision, wanted: r.Placement})
	m.at[r.Binding] = i
	c := m.copies.at(i)
	if r.Adopt {
		m.find(now, c, &r.Found, out)
		return
	}
	out.Record(&messages.CopyStarted{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas, Labels: r.Labels})
	if m.startup(c) > 0 {
		m.report(c, out)
	}
	m.awaitStartup(now, c, out)
}

// find takes over a copy that ran before the engine did, as it was last reported: one that is not healthy stays so until
// a scenario says otherwise, and replicas that do not serve yet start up.
func (m *Member) find(now time.Time, c *copyState, found *messages.CopyFound, out *actors.Outbox) {
	out.Record(&messages.CopyAdopted{
		Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas,
		Health: cmp.Or(found.Health, api.Healthy), Ready: cmp.Or(found.Ready, c.replicas),
	})
	switch {
	case found.Starting:
		m.report(c, out)
		m.awaitStartup(now, c, out)
		return
	case found.Health != "" && found.Health != api.Healthy:
		m.forced[c.binding] = found.Health
	case found.Ready > 0 && found.Ready < c.replicas:
		c.up, c.ready, c.serving, c.served = true, found.Ready, c.revision, c.wanted
		m.report(c, out)
		m.awaitStartup(now, c, out)
		return
	}
	m.serves(c, out)
}

// awaitStartup makes a copy's replicas serve once their start-up time is over. Until then the last
// report holds, as it does with a real cluster, whose status comes only when something changed.
func (m *Member) awaitStartup(now time.Time, c *copyState, out *actors.Outbox) {
	if m.behaviour.ByPods {
		m.report(c, out)
		return
	}
	d := m.startup(c)
	if d <= 0 {
		m.serves(c, out)
		return
	}
	c.servesAt = now.Add(d)
	heap.Push(&m.starting, startup{at: c.servesAt, binding: c.binding})
	if capacity, limited := m.capacity[c.binding]; limited && c.up && c.replicas > capacity {
		m.report(c, out)
	}
}

func (m *Member) serves(c *copyState, out *actors.Outbox) {
	c.up, c.ready, c.serving, c.served = true, c.replicas, c.revision, c.wanted
	c.servesAt = time.Time{}
	m.report(c, out)
}

// woken ends the start-ups that are over. One that was overtaken by another, or whose copy is gone, no
// longer counts.
func (m *Member) woken(now time.Time, out *actors.Outbox) {
	for len(m.starting) > 0 && !m.starting[0].at.After(now) {
		s := heap.Pop(&m.starting).(startup)
		if i, known := m.at[s.binding]; known && m.copies.at(i).servesAt.Equal(s.at) {
			m.serves(m.copies.at(i), out)
		}
	}
}

// remove ends a copy, or ceases to look after it, and says so, also where there was none, because the binding waits
// for the word.
func (m *Member) remove(r *messages.RemoveCopy, out *actors.Outbox) {
	b := r.Binding
	if i, known := m.at[b]; known {
		c := m.copies.take(i)
		delete(m.at, b)
		m.serve(&c, 0, "", out)
		if r.Preserve {
			m.preserved[b] = c
			out.Record(&messages.CopyPreserved{Binding: b, Cluster: m.cluster})
		} else {
			out.Record(&messages.CopyStopped{Binding: b, Cluster: m.cluster})
		}
	}
	m.reportOf(b, &messages.CopyRemoved{Cluster: m.cluster}, out)
}

func (m *Member) reportAll(out *actors.Outbox) {
	for c := range m.copies.all() {
		m.report(c, out)
	}
}

// report tells the binding how its copy is, which perhaps was to be removed and is kept to be judged, and records how
// many replicas serve. Of copies that are unseen nothing is told.
func (m *Member) report(c *copyState, out *actors.Outbox) {
	m.serve(c, m.available(c), "", out)
	if m.outages.Unseen() {
		return
	}
	r := &messages.CopyReported{
		Cluster: m.cluster, Health: m.health(c), Ready: c.ready, Revision: c.serving, Status: m.statuses[c.binding], ForPlacement: c.served, Kept: c.asks,
	}
	if r.Health != api.Healthy && !m.behaviour.ByPods {
		r.Ready = 0
	}
	r.Unschedulable, r.Full = c.pending, c.pending > 0
	m.squeeze(r, c)
	m.reportOf(c.binding, r, out)
}

// startAll starts all copies again, if there is power.
func (m *Member) startAll(now time.Time, out *actors.Outbox) {
	if m.outages.Power || m.behaviour.ByPods {
		return
	}
	for c := range m.copies.all() {
		c.up, c.ready = false, 0
		if m.startup(c) > 0 {
			m.report(c, out)
		}
		m.awaitStartup(now, c, out)
	}
}

// health is what the member reports: a copy that never served is Unhealthy; a behaviour that names no
// health means Healthy.
func (m *Member) health(c *copyState) api.ResourceHealth {
	if !c.up || m.behaviour.ByPods && c.ready < c.replicas {
		return api.Unhealthy
	}
	if h, ok := m.forced[c.binding]; ok {
		return h
	}
	return cmp.Or(m.behaviour.Health, api.Healthy)
}

// startup is the instant at which a copy's replicas will all serve.
type startup struct {
	at      time.Time
	binding messages.BindingName
}

// startup is how long a copy takes to become healthy here: anywhere between the bounds, in steps of a
// millisecond, always the same for one seed, binding, cluster and size.
func (m *Member) startup(c *copyState) time.Duration {
	if m.behaviour.StartupMax <= m.behaviour.StartupMin {
		return m.behaviour.StartupMin
	}
	number := draw.Hash(0, fmt.Sprintf("%d/%s/%s/%d", m.seed, m.cluster, c.binding, c.replicas))
	return draw.Between(number, m.behaviour.StartupMin, m.behaviour.StartupMax)
}

// starting is a heap of start-ups, the next one first; those of one instant in order of their names.
type starting []startup

// next is the instant of the next start-up; zero: none.
func (s starting) next() time.Time {
	if len(s) == 0 {
		return time.Time{}
	}
	return s[0].at
}

func (s starting) Len() int { return len(s) }

func (s starting) Less(i, j int) bool {
	if !s[i].at.Equal(s[j].at) {
		return s[i].at.Before(s[j].at)
	}
	return s[i].binding < s[j].binding
}

func (s starting) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push is for package heap.
func (s *starting) Push(x any) { *s = append(*s, x.(startup)) }

// Pop is for package heap.
func (s *starting) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// shelfRow is how many copies stand side by side.
const shelfRow = 64

// shelf keeps copies in rows that never move: one slice would be copied whole whenever it grows, which for 1 400 copies
// is 370 bytes for each that a storm adds. Where one is taken out a gap remains, for the next that comes.
type shelf struct {
	rows []*[shelfRow]copyState
	n    int // places that are, or were, taken
	gaps []int
}

func (s *shelf) at(i int) *copyState { return &s.rows[i/shelfRow][i%shelfRow] }

// add puts a copy into a gap, or else at the end, and returns its index.
func (s *shelf) add(c copyState) (i int) {
	if last := len(s.gaps) - 1; last >= 0 {
		i, s.gaps = s.gaps[last], s.gaps[:last]
	} else {
		i = s.n
		s.n++
	}
	if i == len(s.rows)*shelfRow {
		s.rows = append(s.rows, new([shelfRow]copyState))
	}
	*s.at(i) = c
	return i
}

// take takes a copy out.
func (s *shelf) take(i int) copyState {
	c := *s.at(i)
	*s.at(i) = copyState{}
	s.gaps = append(s.gaps, i)
	return c
}

// all visits the copies in the order of their places.
func (s *shelf) all() iter.Seq[*copyState] {
	return func(yield func(*copyState) bool) {
		for i := range s.n {
			if c := s.at(i); c.binding != "" && !yield(c) {
				return
			}
		}
	}
}
