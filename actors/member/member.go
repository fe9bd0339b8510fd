// Package member is the machine of one cluster's agent, simulated: it runs copies, lets them start up,
// reports their health, and can fall silent. The engine sees of a cluster's workloads what its member
// tells, nothing else.
package member

import (
	"fmt"
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
	// statuses are what copies of single bindings say of themselves.
	statuses map[messages.BindingName]string
	// capacity is for how many replicas of single bindings there is capacity; any number of others.
	capacity map[messages.BindingName]int32

	// copies in no order that means anything; at maps each to its index. No binding manages the preserved ones.
	copies    shelf
	at        map[messages.BindingName]int
	preserved map[messages.BindingName]copyState
	starting  starting

	// outages are those of the cluster. A silent member is so since silentSince, and renewed its lease last at renewedAt.
	outages                messages.Outages
	silentSince, renewedAt time.Time
	// backAt is when the member was last silent no more.
	backAt time.Time
	// toldFailure is set from when the member reports that its API server fails until it reports that it answers.
	toldFailure bool
	// missed is what was said to the member while its copies were unseen.
	missed []messages.ToMember
	// link is what becomes of its reports on their way; nil: nothing.
	link *link
}

// New returns a member without copies, healthy and quick. Start-up times follow from the seed.
func New(cluster messages.ClusterName, settings messages.Settings, seed uint64) *Member {
	return &Member{
		cluster: cluster, settings: settings, seed: seed,
		behaviour: messages.MemberBehaviour{Health: api.Healthy},
		forced:    map[messages.BindingName]api.ResourceHealth{},
		statuses:  map[messages.BindingName]string{},
		capacity:  map[messages.BindingName]int32{},
		at:        map[messages.BindingName]int{},
		preserved: map[messages.BindingName]copyState{},
	}
}

// Receive routes a message to its transition. A member that is cut off keeps what the engine tells it for
// later; what happens to the cluster itself happens immediately.
func (m *Member) Receive(now time.Time, msg messages.ToMember, out *actors.Outbox) {
	if m.link != nil {
		m.link.now = now
	}
	switch msg := msg.(type) {
	case *messages.RunCopy, *messages.RemoveCopy:
		m.told(now, msg, out)
	case *messages.MemberConfigured:
		m.configured(msg.Behaviour, out)
	case *messages.HealthForced:
		m.healthForced(msg, out)
	case *messages.StatusForced:
		m.statusForced(msg, out)
	case *messages.SchedulableReplicasSet:
		m.schedulableReplicasSet(msg, out)
	case *messages.PodsCounted:
		m.podsCounted(msg, out)
	case *messages.OutagesSet:
		m.outagesSet(now, msg, out)
	case *messages.ClusterDismissed:
		m.dismissed(out)
	case *messages.EngineRestarted:
		m.engineRestarted(msg.Gone, out)
	case *messages.ReportsDisturbed:
		m.disturbed(now, msg)
	case *messages.ClusterSays:
		m.clusterSays(msg.Report, out)
	case *messages.Rebooted:
		m.startAll(now, out)
	case *messages.SettingsChanged:
		m.settings = msg.Settings
	case *messages.Woken:
		m.woken(now, out)
		m.deliverLate(now, out)
	default:
		panic(fmt.Sprintf("member %s: unknown message %T", m.cluster, msg))
	}
	out.WakeAt(actors.Earlier(m.starting.next(), m.link.next()))
}

func (m *Member) told(now time.Time, msg messages.ToMember, out *actors.Outbox) {
	if m.outages.Unseen() {
		m.missed = append(m.missed, msg)
		return
	}
	switch msg := msg.(type) {
	case *messages.RunCopy:
		m.run(now, msg, out)
	case *messages.RemoveCopy:
		m.removeOrAsk(msg, out)
	}
}

// removeOrAsk removes a copy, unless it has asked and was not answered: the binding that wants it judged has not heard of that.
func (m *Member) removeOrAsk(r *messages.RemoveCopy, out *actors.Outbox) {
	if i, known := m.at[r.Binding]; known && r.Ask && m.copies.at(i).asks {
		m.report(m.copies.at(i), out)
		return
	}
	m.remove(r, out)
}

// configured takes over another behaviour; another health shows immediately.
func (m *Member) configured(b messages.MemberBehaviour, out *actors.Outbox) {
	before := m.behaviour.Health
	m.behaviour = b
	if before != b.Health {
		m.reportAll(out)
	}
}

func (m *Member) healthForced(f *messages.HealthForced, out *actors.Outbox) {
	if f.Binding == "" {
		m.behaviour.Health = f.Health
		clear(m.forced)
		m.reportAll(out)
		return
	}
	m.forced[f.Binding] = f.Health
	if i, known := m.at[f.Binding]; known {
		m.report(m.copies.at(i), out)
	}
}

func (m *Member) statusForced(f *messages.StatusForced, out *actors.Outbox) {
	m.statuses[f.Binding] = f.Status
	if f.Health != "" {
		m.forced[f.Binding] = f.Health
	}
	if i, known := m.at[f.Binding]; known {
		m.report(m.copies.at(i), out)
	}
}

// catchUp does what the member was told while it was cut off: of what concerns one binding only the
// last, for an agent that is back finds the wishes of today.
func (m *Member) catchUp(now time.Time, out *actors.Outbox) {
	last := make(map[messages.BindingName]int, len(m.missed))
	for i, msg := range m.missed {
		last[about(msg)] = i
	}
	missed := m.missed
	m.missed = nil
	for i, msg := range missed {
		if last[about(msg)] == i && !m.asks(msg, out) {
			m.told(now, msg, out)
		}
	}
}

// dismissed gives up the removals that a silent member has not heard of: no binding manages its copies any more.
func (m *Member) dismissed(out *actors.Outbox) {
	for _, msg := range m.missed {
		if r, ok := msg.(*messages.RemoveCopy); ok {
			out.TellBinding(r.Binding, &messages.CopyRemoved{Cluster: m.cluster})
		}
	}
	m.missed = nil
	m.flush(out)
	for c := range m.copies.all() {
		m.serve(c, 0, "", out)
	}
}

// asks reports a copy that is not to be removed unseen, and whether there is one.
func (m *Member) asks(msg messages.ToMember, out *actors.Outbox) bool {
	r, removal := msg.(*messages.RemoveCopy)
	if !removal || !r.Ask {
		return false
	}
	i, known := m.at[r.Binding]
	if known {
		c := m.copies.at(i)
		c.asks = true
		m.report(c, out)
	}
	return known
}

func about(msg messages.ToMember) messages.BindingName {
	if r, ok := msg.(*messages.RunCopy); ok {
		return r.Binding
	}
	return msg.(*messages.RemoveCopy).Binding
}

// engineRestarted tells of a silence again, and of the end of one that no probe may have found before the engine
// went, and asks again what that did not answer.
func (m *Member) engineRestarted(gone time.Time, out *actors.Outbox) {
	for i := range m.copies.n {
		if c := m.copies.at(i); c.asks {
			m.report(c, out)
		}
	}
	m.tellSilence(out)
	if !m.outages.Silent() && !m.backAt.IsZero() && gone.Sub(m.backAt) < m.settings.ClusterStatusUpdateFrequency {
		out.TellCluster(m.cluster, &messages.ContactRestored{})
	}
}

func (m *Member) tellSilence(out *actors.Outbox) {
	if m.outages.Silent() {
		out.TellCluster(m.cluster, &messages.ContactLost{At: m.silentSince, RenewedAt: m.renewedAt})
	}
}

// lastRenewal is the lease renewal at or before now; agents renew at fixed intervals.
func (m *Member) lastRenewal(now time.Time) time.Time {
	return now.Truncate(time.Duration(float64(m.settings.ClusterLeaseDuration) * m.settings.ClusterLeaseRenewIntervalFraction))
}

// schedulableReplicasSet sets for how many replicas of a binding there is capacity.
func (m *Member) schedulableReplicasSet(r *messages.SchedulableReplicasSet, out *actors.Outbox) {
	if r.Replicas < 0 {
		delete(m.capacity, r.Binding)
	} else {
		m.capacity[r.Binding] = r.Replicas
	}
	if i, known := m.at[r.Binding]; known {
		m.report(m.copies.at(i), out)
	}
}

// squeeze corrects what is reported of a copy that there is no capacity for, or none to spare: the replicas
// beyond wait, and a copy whose replicas do not all serve is not healthy.
func (m *Member) squeeze(r *messages.CopyReported, c *copyState) {
	capacity, limited := m.capacity[c.binding]
	if !limited {
		return
	}
	r.Full = c.replicas >= capacity
	r.Unschedulable = max(0, c.replicas-capacity)
	if r.Unschedulable > 0 && r.Health == api.Healthy {
		r.Health, r.Ready = api.Unhealthy, min(r.Ready, capacity)
	}
}

// podsCounted takes over how many pods of a copy are ready: it runs what is wanted once all of them are.
func (m *Member) podsCounted(p *messages.PodsCounted, out *actors.Outbox) {
	i, known := m.at[p.Binding]
	if !known {
		return
	}
	c := m.copies.at(i)
	c.ready, c.pending = min(p.Ready, c.replicas), p.Unschedulable
	if p.Ready >= c.replicas {
		c.up, c.serving, c.served = true, c.revision, c.wanted
	}
	m.report(c, out)
}

// availablePods is how many replicas of a copy serve users that is run by pods: the ready ones, unless the application is unhealthy or there
// is no power.
func (m *Member) availablePods(c *copyState) int32 {
	if m.outages.Power || m.forced[c.binding] == api.Unhealthy || m.behaviour.Health == api.Unhealthy {
		return 0
	}
	return c.ready
}
