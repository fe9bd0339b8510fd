// Package invariant holds what must be true of a fleet whatever happens to it, and a monitor that watches
// over it: from the facts that an engine records and the objects as they stand when an instant is over. It
// asks no machine, so a machine that is wrong does not vouch for itself.
//
// A law says under which settings it holds; profile karmada breaks some by design. What a monitor looks at
// is what changed and what waits, so that it may stay on while a fleet is at work.
package invariant

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/config"
	"leeward/runtime/journal"
	"leeward/runtime/store"
)

// Monitor watches one engine. It belongs to one goroutine.
type Monitor struct {
	settings messages.Settings
	members  map[messages.ClusterName]messages.MemberBehaviour
	copies   copies
	// real is set where members are: what they run is known by what they report, as bindings have it.
	real bool
	// placed are the bindings that a cluster has, or had: who is no longer there is struck off when read.
	placed map[messages.ClusterName]map[messages.BindingName]bool
	// changed is when something that matters to a binding, or to all of a cluster, last changed.
	changed        map[messages.BindingName]time.Time
	clusterChanged map[messages.ClusterName]time.Time
	// Of the instant: open are the bindings to look at, of which those that wait stay. Touched are the clusters
	// whose taints may have changed, judged those whose conditions did, and gained those that got replicas, with
	// who got them; nobody, where one does not go by room. Resized are those with another capacity.
	open    map[messages.BindingName]bool
	touched map[messages.ClusterName]bool
	judged  map[messages.ClusterName]bool
	gained  map[messages.ClusterName][]messages.BindingName
	resized map[messages.ClusterName]bool
	// governed are the regions, or the fleet by no name, of which the governor slows or stops evictions.
	governed map[string]bool
	// refused are the clusters that take no taint of a policy, and say so once.
	refused map[messages.ClusterName]bool
	// untainted has what clusters lost of taints in the instant.
	untainted map[messages.ClusterName][]corev1.Taint
	// released are the old copies that were let go in the instant.
	released []*messages.EvictionEnded
	// started are the evictions that did in the instant, begun the ways out that they are, and evicted the bindings that
	// had to go.
	started []*messages.EvictionStarted
	begun   map[departure]bool
	evicted map[messages.BindingName]bool
	// edited are the bindings that were given something else in the instant, decided its placements, and forsaken the
	// bindings that were placed nowhere, or went elsewhere at once after an old copy had been let go.
	edited   map[messages.BindingName]bool
	decided  []*messages.Scheduled
	forsaken map[messages.BindingName]bool
	// applied is the placement of each binding's last scheduling, and reapplied are those that got another in the instant.
	applied   map[messages.BindingName]*api.Placement
	reapplied map[messages.BindingName]bool
	// limits is what the governor has permitted, ledger what moved under budgets.
	limits  limits
	permits permits
	ledger  ledger
	// starting is what begins to run, where that is limited, and arrivals are what began to in the instant; backoffs are the
	// clusters on which starts fail.
	starting starts
	backoffs map[messages.ClusterName]backoff
	arrivals []departure
	// away is set while there is no engine: nobody looks after anything.
	away bool

	violations []Violation
	known      map[Violation]bool
}

// New returns a monitor of an engine that has no objects yet. Members says how simulated members behave: a
// copy cannot serve before its least start-up time is over. Of members that it does not name, and of real
// ones, nothing is known beforehand.
func New(s messages.Settings, members map[messages.ClusterName]messages.MemberBehaviour) *Monitor {
	return &Monitor{
		settings: s, members: members, copies: newCopies(), limits: newLimits(), permits: newPermits(), ledger: newLedger(),
		starting: starts{}, backoffs: map[messages.ClusterName]backoff{},
		placed:  map[messages.ClusterName]map[messages.BindingName]bool{},
		changed: map[messages.BindingName]time.Time{}, clusterChanged: map[messages.ClusterName]time.Time{},
		open: map[messages.BindingName]bool{}, touched: map[messages.ClusterName]bool{},
		judged: map[messages.ClusterName]bool{}, gained: map[messages.ClusterName][]messages.BindingName{},
		resized: map[messages.ClusterName]bool{}, refused: map[messages.ClusterName]bool{},
		governed: map[string]bool{}, untainted: map[messages.ClusterName][]corev1.Taint{},
		edited: map[messages.BindingName]bool{}, forsaken: map[messages.BindingName]bool{},
		begun: map[departure]bool{}, evicted: map[messages.BindingName]bool{}, known: map[Violation]bool{},
		applied: map[messages.BindingName]*api.Placement{}, reapplied: map[messages.BindingName]bool{},
	}
}

// Violations returns what was broken so far, in the order in which it was seen.
func (m *Monitor) Violations() []Violation { return m.violations }

// Counters returns how often each law was broken so far, those never broken included.
func (m *Monitor) Counters() map[Law]int {
	broken := make(map[Law]int, len(Laws()))
	for _, law := range Laws() {
		broken[law] = 0
	}
	for i := range m.violations {
		broken[m.violations[i].Law]++
	}
	return broken
}

// Reaches says whether a cluster can be reached from now on: one that cannot runs what it ran.
func (m *Monitor) Reaches(now time.Time, c messages.ClusterName, reachable bool) {
	m.copies.cutOff[c] = !reachable
	m.copies.reached[c] = now
}

// Mishears says until when what a cluster reports may be late or lost: what the engine waits to hear, it may
// have to wait for until then.
func (m *Monitor) Mishears(until time.Time, c messages.ClusterName) {
	m.copies.mishears[c] = actors.Later(until, m.copies.mishears[c])
}

// Settled takes in the facts of an instant that is over, and looks at what they concern and what waits.
func (m *Monitor) Settled(now time.Time, s *store.Store, news []journal.Entry) {
	m.Heard(now, s, news)
	m.Look(now, s)
}

// Heard takes in facts and asks the laws about what was done.
func (m *Monitor) Heard(now time.Time, s *store.Store, news []journal.Entry) {
	for i := range news {
		m.heard(now, s, &news[i])
	}
	for _, f := range m.started {
		m.neverEarly(now, s, f)
		m.permitValid(now, f)
		m.holdsKept(now, s, f)
	}
	m.permits.settled()
	for _, f := range m.decided {
		m.leftByTask(now, s, f)
	}
	for _, f := range m.released {
		m.lastCopyKept(now, s, f)
	}
	m.stateAllows(now, s)
	m.budgetsKept(now, s)
	m.startsKept(now, s)
	m.sharesKept(s)
	m.started, m.released, m.decided = m.started[:0], m.released[:0], m.decided[:0]
	clear(m.untainted)
	clear(m.begun)
	clear(m.evicted)
	clear(m.forsaken)
	m.ledger.settled()
	clear(m.reapplied)
}

// Look asks the laws about how things stand, of all that changed since the last look and of what waits.
func (m *Monitor) Look(now time.Time, s *store.Store) {
	if m.away {
		clear(m.edited)
		return
	}
	for _, c := range sorted(m.touched) {
		m.lookAtCluster(now, s, c)
	}
	for _, c := range sorted(m.gained) {
		m.neverOversold(now, s, c)
	}
	for _, name := range sorted(m.open) {
		if b := s.Binding(name); b == nil || !m.lookAtBinding(now, s, b) {
			delete(m.open, name)
			delete(m.changed, name) // whatever opens it anew has changed something
		}
	}
	clear(m.touched)
	clear(m.judged)
	clear(m.gained)
	clear(m.resized)
	clear(m.edited)
}

// Finish looks at everything once more, at the end of a run: what should have happened and did not makes no
// news.
func (m *Monitor) Finish(now time.Time, s *store.Store) {
	m.reopen(s)
	m.Settled(now, s, nil)
}

// reopen has everything looked at. It changes nothing of since when things wait.
func (m *Monitor) reopen(s *store.Store) {
	for _, o := range s.List("Cluster") {
		m.touched[messages.ClusterName(o.GetName())] = true
	}
	s.EachBinding(func(b *store.Binding) { m.open[b.Name()] = true })
}

func (m *Monitor) settingChanged(now time.Time, s *store.Store, f *messages.SettingChanged) {
	if err := config.Set(&m.settings, f.Field, f.To); err != nil {
		panic(fmt.Sprintf("invariant: a setting that was changed cannot be: %v", err))
	}
	m.limits.renewed()
	clear(m.ledger.moved)
	clear(m.starting)
	m.allChanged(now, s)
}

// allChanged has everything looked at anew, as of now.
func (m *Monitor) allChanged(now time.Time, s *store.Store) {
	m.reopen(s)
	for name := range m.open { // order-free: each is set to the same
		m.changed[name] = now
	}
}

// govern notes whether the governor interferes. What waited for it starts to wait anew.
func (m *Monitor) govern(now time.Time, s *store.Store, f *messages.GovernorChanged) {
	m.governed[f.Region] = f.State != string(storm.Normal)
	if f.Region == "" {
		m.limits.fleet = f.EvictionsPerSecond
		delete(m.limits.paid, scope{})
	}
	m.allChanged(now, s)
}

// interfered reports whether evictions are slower than settings say, somewhere.
func (m *Monitor) interfered() bool {
	for _, governs := range m.governed { // order-free: any
		if governs {
			return true
		}
	}
	return false
}

// retainted has the bindings of a cluster looked at.
func (m *Monitor) retainted(now time.Time, c messages.ClusterName) {
	m.clusterChanged[c] = now
	for b := range m.placed[c] { // order-free: they are sorted before they are looked at
		m.open[b] = true
	}
}

// check notes that a law is broken where it is.
func (m *Monitor) check(law Law, holds bool, v Violation, detail string, args ...any) {
	if holds {
		return
	}
	key := Violation{Law: law, Binding: v.Binding, Cluster: v.Cluster}
	if m.known[key] {
		return
	}
	m.known[key] = true
	v.Law, v.Detail = law, fmt.Sprintf(detail, args...)
	m.violations = append(m.violations, v)
}

func sorted[K ~string, V any](set map[K]V) []K {
	if len(set) == 0 { // as most are, of most instants
		return nil
	}
	return slices.Sorted(maps.Keys(set))
}
