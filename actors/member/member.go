// Package member is the machine of one cluster's agent, simulated: it runs copies, lets them start up,
// reports their health, and can fall silent. The engine sees of a cluster's workloads what its member
// tells, nothing else.
package member

import (
	"container/heap"
	"fmt"
	"hash/fnv"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Member is the simulated agent of one cluster.
type Member struct {
	cluster   messages.ClusterName
	settings  messages.Settings
	seed      uint64
	behaviour messages.MemberBehaviour
	// forced overrides the health of single bindings.
	forced map[messages.BindingName]api.ResourceHealth

	// copies in the order in which they came; at maps each to its index.
	copies   []copyState
	at       map[messages.BindingName]int
	starting starting

	// silent since silentSince, when the lease was last renewed.
	silent      bool
	silentSince time.Time
	// missed is what was said to the member while it was silent.
	missed []messages.ToMember
}

// copyState is one copy on the cluster.
type copyState struct {
	binding messages.BindingName
	// ready <= replicas; up is false until the copy has served once.
	replicas, ready int32
	up              bool
	// wanted is the placement that the member was last told; served the one that its replicas run.
	wanted, served int64
}

// New returns a member without copies, healthy and quick. Start-up times follow from the seed.
func New(cluster messages.ClusterName, settings messages.Settings, seed uint64) *Member {
	return &Member{
		cluster: cluster, settings: settings, seed: seed,
		behaviour: messages.MemberBehaviour{Health: api.Healthy},
		forced:    map[messages.BindingName]api.ResourceHealth{},
		at:        map[messages.BindingName]int{},
	}
}

// Receive routes a message to its transition. A silent member keeps what the engine tells it for
// later; what happens to the cluster itself happens at once.
func (m *Member) Receive(now time.Time, msg messages.ToMember, out *actors.Outbox) {
	switch msg := msg.(type) {
	case *messages.RunCopy, *messages.RemoveCopy:
		m.told(now, msg, out)
	case *messages.MemberConfigured:
		m.behaviour = msg.Behaviour
	case *messages.HealthForced:
		m.healthForced(msg, out)
	case *messages.HeartbeatSet:
		m.heartbeatSet(now, msg.Stopped, out)
	case *messages.EngineRestarted:
		m.tellSilence(out)
	case *messages.SettingsChanged:
		m.settings = msg.Settings
	case *messages.Woken:
		m.woken(now, out)
	default:
		panic(fmt.Sprintf("member %s: unknown message %T", m.cluster, msg))
	}
	out.WakeAt(m.starting.next())
}

func (m *Member) told(now time.Time, msg messages.ToMember, out *actors.Outbox) {
	if m.silent {
		m.missed = append(m.missed, msg)
		return
	}
	switch msg := msg.(type) {
	case *messages.RunCopy:
		m.run(now, msg, out)
	case *messages.RemoveCopy:
		m.remove(msg.Binding, out)
	}
}

// run starts a copy or scales it. To be told the same again makes the member report again, so that an
// engine that lost its memory learns how things are.
func (m *Member) run(now time.Time, r *messages.RunCopy, out *actors.Outbox) {
	i, known := m.at[r.Binding]
	if !known {
		m.start(now, r, out)
		return
	}
	c := &m.copies[i]
	c.wanted = r.Placement
	switch before := c.replicas; {
	case r.Replicas > before:
		c.replicas = r.Replicas
		out.Record(&messages.CopyScaled{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas, Before: before})
		m.awaitStartup(now, c, out)
	case r.Replicas < before:
		c.replicas, c.ready, c.served = r.Replicas, min(c.ready, r.Replicas), c.wanted
		out.Record(&messages.CopyScaled{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas, Before: before})
		m.report(c, out)
	default:
		if c.ready == c.replicas {
			c.served = c.wanted
		}
		m.report(c, out)
	}
}

func (m *Member) start(now time.Time, r *messages.RunCopy, out *actors.Outbox) {
	m.at[r.Binding] = len(m.copies)
	m.copies = append(m.copies, copyState{binding: r.Binding, replicas: r.Replicas, wanted: r.Placement})
	c := &m.copies[len(m.copies)-1]
	if r.Adopt {
		m.started(c, out)
		return
	}
	out.Record(&messages.CopyStarted{Binding: c.binding, Cluster: m.cluster, Replicas: c.replicas})
	if m.startup(c) > 0 {
		m.report(c, out)
	}
	m.awaitStartup(now, c, out)
}

// awaitStartup makes a copy's replicas serve once their start-up time is over. Until then the last
// report stands, as it does with a real cluster, whose status comes only when something changed.
func (m *Member) awaitStartup(now time.Time, c *copyState, out *actors.Outbox) {
	d := m.startup(c)
	if d <= 0 {
		m.started(c, out)
		return
	}
	heap.Push(&m.starting, startup{at: now.Add(d), binding: c.binding, replicas: c.replicas})
}

func (m *Member) started(c *copyState, out *actors.Outbox) {
	c.up, c.ready, c.served = true, c.replicas, c.wanted
	m.report(c, out)
}

func (m *Member) woken(now time.Time, out *actors.Outbox) {
	for len(m.starting) > 0 && !m.starting[0].at.After(now) {
		s := heap.Pop(&m.starting).(startup)
		if i, known := m.at[s.binding]; known && m.copies[i].replicas == s.replicas {
			m.started(&m.copies[i], out)
		}
	}
}

func (m *Member) remove(b messages.BindingName, out *actors.Outbox) {
	if i, known := m.at[b]; known {
		last := len(m.copies) - 1
		m.copies[i] = m.copies[last]
		m.at[m.copies[i].binding] = i
		m.copies = m.copies[:last]
		delete(m.at, b)
		out.Record(&messages.CopyStopped{Binding: b, Cluster: m.cluster})
	}
	out.TellBinding(b, &messages.CopyRemoved{Cluster: m.cluster})
}

// report tells the binding how its copy is; a silent member tells nobody.
func (m *Member) report(c *copyState, out *actors.Outbox) {
	if m.silent {
		return
	}
	r := &messages.CopyReported{Cluster: m.cluster, Health: m.health(c), Ready: c.ready, ForPlacement: c.served}
	if r.Health != api.Healthy {
		r.Ready = 0
	}
	out.TellBinding(c.binding, r)
}

func (m *Member) health(c *copyState) api.ResourceHealth {
	if !c.up {
		return api.Unhealthy
	}
	if h, ok := m.forced[c.binding]; ok {
		return h
	}
	return m.behaviour.Health
}

func (m *Member) healthForced(f *messages.HealthForced, out *actors.Outbox) {
	if f.Binding != "" {
		m.forced[f.Binding] = f.Health
		if i, known := m.at[f.Binding]; known {
			m.report(&m.copies[i], out)
		}
		return
	}
	m.behaviour.Health = f.Health
	clear(m.forced)
	for i := range m.copies {
		m.report(&m.copies[i], out)
	}
}

// heartbeatSet silences the member, or lets it catch up: it renews its lease, reports all copies and
// does what it was told meanwhile.
func (m *Member) heartbeatSet(now time.Time, stopped bool, out *actors.Outbox) {
	if stopped == m.silent {
		return
	}
	m.silent = stopped
	if stopped {
		m.silentSince = m.lastRenewal(now)
		m.tellSilence(out)
		return
	}
	out.TellCluster(m.cluster, &messages.LeaseRenewed{})
	for i := range m.copies {
		m.report(&m.copies[i], out)
	}
	missed := m.missed
	m.missed = nil
	for _, msg := range missed {
		m.told(now, msg, out)
	}
}

func (m *Member) tellSilence(out *actors.Outbox) {
	if m.silent {
		out.TellCluster(m.cluster, &messages.LeaseStale{RenewedAt: m.silentSince})
	}
}

// lastRenewal is the lease renewal at or before now; agents renew at fixed intervals.
func (m *Member) lastRenewal(now time.Time) time.Time {
	interval := time.Duration(float64(m.settings.ClusterLeaseDuration) * m.settings.ClusterLeaseRenewIntervalFraction)
	if interval <= 0 {
		return now
	}
	return now.Truncate(interval)
}

// startup is how long a copy takes to become healthy here: anywhere between the bounds, always the
// same for one seed, binding, cluster and size.
func (m *Member) startup(c *copyState) time.Duration {
	spread := m.behaviour.StartupMax - m.behaviour.StartupMin
	if spread <= 0 {
		return m.behaviour.StartupMin
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%s/%d", m.seed, m.cluster, c.binding, c.replicas)
	return m.behaviour.StartupMin + time.Duration(h.Sum64()%uint64(spread+1)).Truncate(time.Millisecond)
}
