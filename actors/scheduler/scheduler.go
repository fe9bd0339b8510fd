// Package scheduler is the machine that places bindings. It collects what changes in an instant, in
// the fleet and in the bindings, and decides at the instant's end: by priority, then waiting time, then
// name. So what is scarce never depends on the order in which messages came.
package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// Scheduler places the bindings of one capacity domain.
type Scheduler struct {
	settings messages.Settings
	seed     uint64
	fleet    *placement.Fleet
	planner  *placement.Planner

	entries map[messages.BindingName]*entry
	// dirty are the entries to decide on at the end of this instant, each once.
	dirty []*entry
	// batch are those that this instant's decisions are made on, decided of them so far; held is what came meanwhile.
	batch   []*entry
	decided int
	held    []messages.ToScheduler
	// changed are the clusters whose spec changed in this instant.
	changed []messages.ClusterName
	// freed is set when capacity may have become free: those who found none try again.
	freed bool
	// waiting are the entries that found no place, or hold an eviction back for want of one.
	waiting map[messages.BindingName]*entry
	// question and previous are scratch: what the planner is asked, and the places in it.
	question placement.Request
	previous []api.TargetCluster
	// kept is room that was found for bindings that ask for leave in this instant.
	kept []*messages.PlaceBinding
	// home are the bindings that are to return to an earlier affinity group.
	home   homeward
	groups groups
	starts starts
	census census
	// budgets are what namespaces with quotas may use; relieved is set when the usage of one fell, so that
	// those who found no room try again, after those who asked in this instant.
	budgets  map[string]*budget
	relieved bool
}

// entry is what the scheduler knows of one binding.
type entry struct {
	// asked is the binding's last word, brought up to date with what was decided since; nil: the binding ended.
	asked *messages.PlaceBinding
	// word is the memory of asked. The entry's own, so that a decision changes it without another copy on the heap.
	word messages.PlaceBinding
	// answered is false until the binding has had an answer to its last word.
	answered bool
	dirty    bool
	// rescaled is set where the binding asks for another number of replicas than before, until it is answered.
	rescaled bool
	// trigger says why the fleet made the entry dirty; empty: the binding asked.
	trigger string
	// failure is the last failure that the binding was told of.
	failure failure
}

// hears takes over a word in the place of the last one.
func (e *entry) hears(m messages.PlaceBinding) {
	e.word = m
	e.asked = &e.word
}

// open reports whether there is a binding to decide on.
func (e *entry) open() bool { return e.asked != nil && !e.asked.Suspended }

type failure struct{ reason, message string }

// remedy is what must change before it is worth trying again.
func (f failure) remedy() string {
	if f.reason == api.ReasonQuotaExceeded {
		return "quota or usage changed"
	}
	return "capacity changed"
}

// New returns a scheduler of an empty fleet. The seed breaks ties that Karmada leaves to chance.
func New(settings messages.Settings, seed uint64) *Scheduler {
	s := &Scheduler{
		settings: settings, seed: seed, fleet: placement.NewFleet(),
		entries: map[messages.BindingName]*entry{}, waiting: map[messages.BindingName]*entry{}, groups: groups{}, starts: newStarts(),
		budgets: map[string]*budget{}, census: newCensus(),
	}
	s.planner = placement.NewPlanner(s.fleet, &settings, seed)
	s.home = newHomeward()
	return s
}

// Receive routes a message to its transition. While the decisions of an instant are under way it holds what else comes,
// so that they rest on the same fleet whatever their number.
func (s *Scheduler) Receive(now time.Time, m messages.ToScheduler, out *actors.Outbox) {
	if _, goes := m.(*messages.GoOn); len(s.batch) > 0 && !goes {
		s.held = append(s.held, m)
		return
	}
	switch m := m.(type) {
	case *messages.ClusterViewed:
		s.clusterViewed(now, m, out)
	case *messages.ClusterGone:
		s.fleet.Drop(m.Name)
	case *messages.PlaceBinding:
		s.placeBinding(now, m, out)
	case *messages.TasksEnded:
		s.tasksEnded(now, m, out)
	case *messages.BindingGone:
		s.bindingGone(now, m.Binding, out)
	case *messages.QuotaApplied:
		s.quotaApplied(now, m, out)
	case *messages.QuotaDeleted:
		s.quotaDeleted(now, m, out)
	case *messages.StartsLimited:
		s.startsLimited(now, m, out)
	case *messages.ReturnsHeld:
		s.returnsHeld(now, m, out)
	case *messages.SettingsChanged:
		s.settingsChanged(now, m.Settings, out)
	case *messages.Woken:
		s.decideAll(now, out)
	case *messages.GoOn:
		s.decideSome(now, out)
	default:
		panic(fmt.Sprintf("scheduler: unknown message %T", m))
	}
}

func (s *Scheduler) clusterViewed(now time.Time, m *messages.ClusterViewed, out *actors.Outbox) {
	s.fleet.Put(m.View)
	s.home.news = true
	if m.SpecChanged {
		s.changed = append(s.changed, m.View.Name)
	} else {
		s.freed = true
	}
	out.WakeAt(now)
}

// settingsChanged keeps what is reserved in step with whether anything is.
func (s *Scheduler) settingsChanged(now time.Time, next messages.Settings, out *actors.Outbox) {
	if next.CapacityReservation != s.settings.CapacityReservation {
		sign := int32(1)
		if s.settings.CapacityReservation {
			sign = -1
		}
		for _, name := range s.names() {
			s.reserve(s.entries[name].asked, sign)
		}
	}
	s.recount(next.Breaks())
	s.settings = next
	s.planner = placement.NewPlanner(s.fleet, &s.settings, s.seed)
	s.freed = true
	out.WakeAt(now)
}

func (s *Scheduler) names() []messages.BindingName {
	names := make([]messages.BindingName, 0, len(s.entries))
	for name := range s.entries { // order-free: sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// account reserves the capacity of a binding's new targets in place of its old ones, charges them to its
// quotas, and counts it among its groups; either may be nil.
func (s *Scheduler) account(before, after *messages.PlaceBinding) {
	s.charge(before, after)
	if s.settings.Breaks() {
		s.census.count(before, after)
	}
	if fewer := s.moveStarts(before, after); s.groups.move(before, after) || fewer {
		s.freed = true
	}
	if !s.settings.CapacityReservation || sameRoom(before, after) {
		return
	}
	s.reserve(before, -1)
	s.reserve(after, 1)
	s.freed = s.freed || frees(before, after)
}

// sameRoom reports whether a binding takes the same room as before, as most of its words say.
func sameRoom(before, after *messages.PlaceBinding) bool {
	return before != nil && after != nil && before.HasReplicas == after.HasReplicas && before.Requirements == after.Requirements &&
		before.Set == after.Set && sameTargets(before.Targets, after.Targets)
}

func (s *Scheduler) reserve(m *messages.PlaceBinding, sign int32) {
	if m == nil {
		return
	}
	for _, t := range m.Targets {
		switch cluster := messages.ClusterName(t.Name); {
		case m.Set != nil:
			s.fleet.ReserveSet(cluster, sign, m.Set)
		case m.HasReplicas:
			s.fleet.Reserve(cluster, sign*t.Replicas, m.Requirements)
		}
	}
}

// frees reports whether some cluster has fewer replicas of the binding than before, others, or another set.
func frees(before, after *messages.PlaceBinding) bool {
	if before == nil {
		return false
	}
	if after == nil {
		return len(before.Targets) > 0
	}
	for _, t := range before.Targets {
		if api.ReplicasOn(after.Targets, t.Name) < t.Replicas || before.Requirements != after.Requirements || before.Set != nil && !keepsSet(before, after, t.Name) {
			return true
		}
	}
	return false
}

// keepsSet reports whether a cluster runs the same set after as before.
func keepsSet(before, after *messages.PlaceBinding, cluster string) bool {
	return after.Set != nil && after.Set.Targets.Equal(before.Set.Targets) && hasTarget(after.Targets, cluster)
}

func (s *Scheduler) mark(e *entry) {
	if !e.dirty {
		e.dirty = true
		s.dirty = append(s.dirty, e)
	}
}

// decideAll serves what the instant brought, in canonical order.
func (s *Scheduler) decideAll(now time.Time, out *actors.Outbox) {
	s.freeRoom()
	s.markByFleet()
	s.batch, s.dirty = s.dirty, s.batch[:0]
	slices.SortFunc(s.batch, urgency)
	s.decideSome(now, out)
}

// decisionsPerTurn is how many decisions are made before the bindings hear of them. In a storm the lanes of the others
// work on the first while the next are made, and nobody keeps a hundred thousand of them in a mailbox.
const decisionsPerTurn = 256

// decideSome makes the next decisions, and has itself told to go on if there are more.
func (s *Scheduler) decideSome(now time.Time, out *actors.Outbox) {
	end := min(len(s.batch), s.decided+decisionsPerTurn)
	for _, e := range s.batch[s.decided:end] {
		e.dirty = false
		if e.open() {
			s.decide(now, e, out)
		}
	}
	if s.decided = end; end < len(s.batch) {
		out.TellScheduler(&messages.GoOn{})
		return
	}
	s.judgeReturns(now, s.batch, out)
	if s.settings.Breaks() {
		s.census.tell(out)
	}
	s.endBatch(now, out)
}

// endBatch lets those try again who found no place, if some may be free now, and hears what came meanwhile.
func (s *Scheduler) endBatch(now time.Time, out *actors.Outbox) {
	clear(s.batch)
	s.batch, s.decided = s.batch[:0], 0
	if len(s.dirty) == 0 { // the longer list goes on serving, else both grow long
		s.dirty, s.batch = s.batch, s.dirty
	}
	s.freed, s.relieved = s.freed || s.relieved, false
	if s.freed && len(s.waiting) > 0 {
		out.WakeAt(now)
	}
	held := s.held
	s.held = nil
	for _, m := range held {
		s.Receive(now, m, out)
	}
}

// urgency orders by priority, waiting time and name; entries of bindings that ended come last.
func urgency(a, b *entry) int {
	switch {
	case a.asked == nil || b.asked == nil:
		return cmp.Compare(ended(a), ended(b))
	default:
		return cmp.Or(
			-cmp.Compare(a.asked.Priority, b.asked.Priority),
			a.asked.Since.Compare(b.asked.Since),
			cmp.Compare(a.asked.Binding, b.asked.Binding),
		)
	}
}

func ended(e *entry) int {
	if e.asked == nil {
		return 1
	}
	return 0
}

// markByFleet marks the bindings that changes of the fleet concern: those that a changed cluster could
// serve or did serve, and, when capacity may be free, those that wait.
func (s *Scheduler) markByFleet() {
	if len(s.changed) > 0 {
		slices.Sort(s.changed)
		s.markByChanges()
	}
	if s.freed {
		for _, e := range s.waiting { // order-free: the batch is sorted
			if !e.dirty {
				e.trigger = e.failure.remedy()
				s.mark(e)
			}
		}
	}
	s.home.news = s.home.news || s.freed
	s.changed, s.freed = nil, false
}

// markByChanges marks the bindings that a changed cluster matters to: it runs them, or they could use it. Those
// that wait could use more clusters than those that have a place.
func (s *Scheduler) markByChanges() {
	triggers := make([]string, len(s.changed)) // once for all that they concern
	for i, c := range s.changed {
		triggers[i] = "cluster " + string(c) + " changed"
	}
	for _, e := range s.entries { // order-free: the batch is sorted
		s.markFor(e, triggers, func(c messages.ClusterName) bool {
			return api.ReplicasOn(e.asked.Targets, string(c)) > 0 || s.planner.CouldUse(e.asked.Placement, e.asked.Affinity, c)
		})
	}
	if !s.settings.RetryForAnyGroup {
		return
	}
	for _, e := range s.waiting { // order-free: the batch is sorted
		s.markFor(e, triggers, func(c messages.ClusterName) bool { return s.planner.CouldEverUse(e.asked.Placement, c) })
	}
}

// markFor marks an entry for the first change that matters to it, if it is not marked already.
func (s *Scheduler) markFor(e *entry, triggers []string, matters func(messages.ClusterName) bool) {
	if e.dirty {
		return
	}
	if i := slices.IndexFunc(s.changed, matters); i >= 0 {
		e.trigger = triggers[i]
		s.mark(e)
	}
}
