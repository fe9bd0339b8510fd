// Package invariant holds what must be true of a fleet whatever happens to it, and a monitor that watches
// over it: from the facts that an engine records and the objects as they stand when an instant is over. It
// asks no machine, so a machine that is wrong does not vouch for itself.
//
// An invariant says under which settings it holds; profile karmada breaks some by design. What a monitor looks at
// is what changed and what is due, so that it can run while a fleet is at work.
package invariant

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// Monitor watches one engine. It belongs to one goroutine.
type Monitor struct {
	settings messages.Settings
	members  map[messages.ClusterName]messages.MemberBehaviour
	copies   copies
	// real is set where members are: what they run is known by what they report, as bindings have it.
	real   bool
	census census
	// due is when a binding must be looked at again though no fact tells of it.
	due agenda
	// changed is when something that matters to a binding, or to all of a cluster, last changed.
	changed        map[messages.BindingName]time.Time
	clusterChanged map[messages.ClusterName]time.Time
	// Since the last look: open are the bindings to look at, and touched the clusters whose taints may have changed,
	// judged those whose conditions did, and gained those that got replicas, with the bindings that got them; none, where
	// one does not go by capacity. Resized are those with another capacity.
	open    map[messages.BindingName]bool
	touched map[messages.ClusterName]bool
	judged  map[messages.ClusterName]bool
	gained  map[messages.ClusterName][]messages.BindingName
	resized map[messages.ClusterName]bool
	// governed are the regions, or the fleet by no name, of which the governor slows or stops evictions.
	governed map[string]bool
	// refused are the clusters that take no taint of a policy, and say so once.
	refused map[messages.ClusterName]bool
	// batch is what was told together, of one instant or several.
	batch batch
	// Of the instant: begun are the evictions that started, and evicted the bindings that had to go; decided are its
	// placements.
	begun   map[evictedFrom]bool
	evicted map[messages.BindingName]bool
	decided []decision
	// edited are the bindings that were given something else since the last look.
	edited map[messages.BindingName]bool
	// applied is the placement of each binding's last scheduling.
	applied map[messages.BindingName]*api.Placement
	// preferred is where each binding ran before it was evicted, and may return to.
	preferred map[messages.BindingName][]api.TargetCluster
	// returns are when clusters could take back what they ran, unhealthy since when copies are.
	returns, unhealthy map[evictedFrom]time.Time
	// left is where bindings were evicted from for the health of their copies, the oldest first.
	left map[messages.BindingName][]healthEviction
	// observed are the bindings that were placed since the last look, and not changed after it.
	observed map[messages.BindingName]bool
	// replacements are the clusters that took over from each that a binding leaves, under destinationsMustHear.
	replacements map[messages.BindingName]map[messages.ClusterName][]api.TargetCluster
	// limits is what the governor has permitted, budgeted what moved under budgets.
	limits   limits
	permits  permits
	budgeted budgetMoves
	// starting is what begins to run, where that is limited, and arrivals are what began to in the instant; backoffs are the
	// clusters on which starts fail.
	starting starts
	backoffs map[messages.ClusterName]backoff
	arrivals []arrival
	// away is set while there is no engine. Idled is until when one that was there last did nothing.
	away  bool
	idled time.Time

	violations []Violation
	known      map[Violation]bool
}

// New returns a monitor of an engine that has no objects yet. Members says how simulated members behave: a
// copy cannot serve before its least start-up time is over. Of members that it does not name, and of real
// ones, nothing is known beforehand.
func New(s messages.Settings, members map[messages.ClusterName]messages.MemberBehaviour) *Monitor {
	return &Monitor{
		settings: s, members: members, copies: newCopies(), limits: newLimits(), permits: newPermits(), budgeted: newBudgetMoves(),
		starting: starts{}, backoffs: map[messages.ClusterName]backoff{},
		census: newCensus(), due: agenda{ids: map[messages.BindingName]int32{}}, batch: newBatch(),
		changed: map[messages.BindingName]time.Time{}, clusterChanged: map[messages.ClusterName]time.Time{},
		open: map[messages.BindingName]bool{}, touched: map[messages.ClusterName]bool{},
		judged: map[messages.ClusterName]bool{}, gained: map[messages.ClusterName][]messages.BindingName{},
		resized: map[messages.ClusterName]bool{}, refused: map[messages.ClusterName]bool{},
		governed: map[string]bool{}, edited: map[messages.BindingName]bool{},
		begun: map[evictedFrom]bool{}, evicted: map[messages.BindingName]bool{}, known: map[Violation]bool{},
		applied:   map[messages.BindingName]*api.Placement{},
		preferred: map[messages.BindingName][]api.TargetCluster{},
		returns:   map[evictedFrom]time.Time{}, unhealthy: map[evictedFrom]time.Time{}, observed: map[messages.BindingName]bool{},
		left:         map[messages.BindingName][]healthEviction{},
		replacements: map[messages.BindingName]map[messages.ClusterName][]api.TargetCluster{},
	}
}

// Violations returns what was broken so far, in the order in which it was seen.
func (m *Monitor) Violations() []Violation { return m.violations }

// Counters returns how often each invariant was broken so far, those never broken included.
func (m *Monitor) Counters() map[Name]int {
	broken := make(map[Name]int, len(All()))
	for _, name := range All() {
		broken[name] = 0
	}
	for i := range m.violations {
		broken[m.violations[i].Invariant]++
	}
	return broken
}

// Reaches says whether a cluster can be reached from now on: one that cannot runs what it ran.
func (m *Monitor) Reaches(now time.Time, c messages.ClusterName, reachable bool) {
	m.copies.cutOff[c] = !reachable
	m.copies.reached[c] = now
	m.lookOn(c)
}

// Mishears says until when what a cluster reports may be late or lost: what the engine waits to hear, it may
// have to wait for until then.
func (m *Monitor) Mishears(until time.Time, c messages.ClusterName) {
	m.copies.mishears[c] = actors.Later(until, m.copies.mishears[c])
	m.lookOn(c)
}

// Idled notes that machines did nothing until now that was due, because their process did not get to it: what waited for
// something else waits again.
func (m *Monitor) Idled(now time.Time) { m.idled = now }

// Settled takes in the facts of an instant that is over, and looks at what they concern and what is due.
func (m *Monitor) Settled(now time.Time, s *store.Store, news []journal.Entry) {
	m.Heard(s, news)
	m.Look(now, s)
}

// Heard takes in facts and asks the invariants about what was done. The facts may be of several instants, the oldest first:
// each is held to what was so in its own, as far as facts tell. What only objects tell, which are as the last instant left
// them, is not asked of a binding or cluster that changed after the fact.
func (m *Monitor) Heard(s *store.Store, news []journal.Entry) {
	m.batch.begin(news)
	for i := range news {
		if i > 0 && !news[i].At.Equal(news[i-1].At) {
			m.instantOver(news[i-1].At, s)
		}
		m.heard(s, &news[i])
	}
	if len(news) > 0 {
		m.instantOver(news[len(news)-1].At, s)
	}
	m.batchOver(s)
}

// instantOver asks what facts alone tell of an instant.
func (m *Monitor) instantOver(at time.Time, s *store.Store) {
	for _, e := range m.batch.news() {
		m.permitValid(at, e.fact)
	}
	m.permitsSpent(at)
	for i := range m.decided {
		f := m.decided[i].Scheduled
		m.leftByTask(at, s, f)
		if m.batch.current(at, f.Binding, "") { // what is suspended, its object tells as it is now
			m.destinationsHear(at, s, f)
			m.placementFollows(at, s, &m.decided[i])
		}
	}
	m.quotasKept(at, s, m.decided)
	m.decided = m.decided[:0]
	m.begun, m.evicted = emptied(m.begun), emptied(m.evicted)
}

// batchOver asks what objects tell, too.
func (m *Monitor) batchOver(s *store.Store) {
	for _, e := range m.batch.started {
		if m.batch.current(e.at, e.fact.Binding, e.fact.Cluster) {
			m.neverEarly(e.at, s, e.fact)
			m.holdsKept(e.at, s, e.fact)
			m.taskFollows(e.at, s, e.fact)
		}
	}
	for _, e := range m.batch.released {
		if m.batch.current(e.at, e.fact.Binding, e.fact.Cluster) {
			m.lastCopyKept(e.at, s, e.fact)
			m.successorsHeard(e.at, s, e.fact)
		}
	}
	m.stateAllows(s)
	m.budgetsKept(s)
	m.startsKept(s)
	m.sharesKept(s)
	m.batch.end()
	m.budgeted.settled()
}

// Look asks the invariants about how things are now, of all that changed since the last look and of what is due.
func (m *Monitor) Look(now time.Time, s *store.Store) {
	if m.away {
		m.edited = emptied(m.edited)
		return
	}
	m.due.eachDue(now, func(b messages.BindingName) { m.open[b] = true })
	open := sorted(m.open)
	m.open = emptied(m.open)
	for _, name := range open {
		m.census.count(name, s.Binding(name))
	}
	for _, c := range sorted(m.touched) {
		m.lookAtCluster(now, s, c)
	}
	for _, c := range sorted(m.gained) {
		m.neverOversold(now, s, c)
	}
	for _, name := range open {
		m.lookAt(now, s, name)
	}
	m.touched, m.judged, m.gained, m.resized = emptied(m.touched), emptied(m.judged), emptied(m.gained), emptied(m.resized)
	m.edited, m.observed = emptied(m.edited), emptied(m.observed)
}

// lookAt asks the invariants about one binding, and notes when to do so again.
func (m *Monitor) lookAt(now time.Time, s *store.Store, name messages.BindingName) {
	b := s.Binding(name)
	if b == nil {
		m.due.set(name, time.Time{})
		delete(m.changed, name)
		delete(m.replacements, name)
		delete(m.preferred, name)
		return
	}
	m.noteDestinations(b)
	m.notePreferred(b)
	next, waits := m.lookAtBinding(now, s, b)
	if !waits {
		delete(m.changed, name) // whatever opens it again has changed something
	}
	m.due.set(name, next)
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

func (m *Monitor) settingChanged(at time.Time, s *store.Store, f *messages.SettingChanged) {
	if err := config.Set(&m.settings, f.Field, f.To); err != nil {
		panic(fmt.Sprintf("invariant: a setting that was changed cannot be: %v", err))
	}
	m.limits.renewed()
	clear(m.permits.worked)
	clear(m.budgeted.moved)
	clear(m.starting)
	m.allChanged(at, s)
}

// allChanged has everything looked at again, as of an instant.
func (m *Monitor) allChanged(at time.Time, s *store.Store) {
	m.reopen(s)
	for name := range m.open { // order-free: each is set to the same
		m.changed[name] = at
	}
}

// govern notes whether the governor interferes. What waited for it starts to wait again.
func (m *Monitor) govern(at time.Time, s *store.Store, f *messages.GovernorChanged) {
	m.governed[f.Region] = f.State != string(storm.Normal)
	if f.Region == "" {
		m.limits.fleet = f.EvictionsPerSecond
		delete(m.limits.paid, scope{})
	}
	m.allChanged(at, s)
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

// retainted has the bindings of a cluster looked at, as of an instant.
func (m *Monitor) retainted(at time.Time, c messages.ClusterName) {
	m.clusterChanged[c] = at
	m.lookOn(c)
}

// lookOn has the bindings of a cluster looked at.
func (m *Monitor) lookOn(c messages.ClusterName) {
	if l := m.census.on[c]; l != nil {
		for b := range l.bindings { // order-free: they are sorted before they are looked at
			m.open[b] = true
		}
	}
}

// check notes that an invariant is broken where it is.
func (m *Monitor) check(name Name, holds bool, v Violation, detail string, args ...any) {
	if holds {
		return
	}
	key := Violation{Invariant: name, Binding: v.Binding, Cluster: v.Cluster}
	if m.known[key] {
		return
	}
	m.known[key] = true
	v.Invariant, v.Detail = name, fmt.Sprintf(detail, args...)
	m.violations = append(m.violations, v)
}

// emptied is a set without what is in it. One that was large is let go: to walk it, or to clear it, would take as long as
// when it was.
func emptied[K comparable, V any](set map[K]V) map[K]V {
	if len(set) > 64 {
		return map[K]V{}
	}
	clear(set)
	return set
}

func sorted[K ~string, V any](set map[K]V) []K {
	if len(set) == 0 { // as most are, of most instants
		return nil
	}
	keys := make([]K, 0, len(set))
	for key := range set { // order-free: they are sorted
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
