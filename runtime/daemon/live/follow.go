package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// Standby is a fleet of a daemon that does not lead. Its machines hear what those of the leader hear, and decide the same, a moment earlier or
// later, but nothing of that is committed or told. What the leader has committed of a binding, or of the Governor, they take over as it is, and
// of a cluster after agreesWithin; what it has not they keep, for the leader may be gone.
type Standby struct{ fleet *Fleet }

// ErrBehind is returned when machines that follow are no longer as the store is, and must be made again.
var ErrBehind = errors.New("the machines have decided otherwise than the leader")

const (
	// writesWithin is how long the leader may take to commit what machines that follow have decided: in a storm its own wait for permits,
	// and for the log.
	writesWithin = 2 * time.Minute
	// agreesWithin is how long machines that follow may take to decide of a cluster, a policy or a quota what the leader has.
	agreesWithin = 5 * time.Second
)

// following is what a fleet notes while another leads.
type following struct {
	// ahead are the objects that machines have as the leader has not committed them, since when.
	ahead map[api.Key]time.Time
	// disputed are those of them, bindings and the Governor aside, that the leader has committed otherwise, since when. Clusters yield in time.
	disputed map[api.Key]time.Time
	// unsaid is what machines have said of objects that are ahead, or not compared yet.
	unsaid map[api.Key][]untold
	// heard are the bindings that others have written since they were last compared.
	heard map[api.Key]bool
	// works are those that were written since.
	works map[string]*api.Work
	// lost is set once the leader is seen to have workloads on a cluster that is gone here.
	lost bool
	// told is what the leader has decided, too, in the last seconds: it may have been killed before it told of that.
	told toldLately
	// looked is when they were last compared with the store.
	looked time.Time
	// owed are the copies whose Works are not as machines want them, by the keys of the Works.
	owed map[string]wish
}

// tellsWithin is how long a leader may take from a decision to the Event that tells of it.
const tellsWithin = 10 * time.Second

// toldLately are the Events that tell of decisions, in the order in which the leader was heard to have made these.
type toldLately []toldOf

type toldOf struct {
	since time.Time
	of    []event
}

// forget forgets what the leader has told by now.
func (l *toldLately) forget(now time.Time) {
	i := slices.IndexFunc(*l, func(t toldOf) bool { return now.Sub(t.since) <= tellsWithin })
	if i < 0 {
		i = len(*l)
	}
	if *l = slices.Delete(*l, 0, i); len(*l) == 0 {
		*l = nil // a start, or a storm, tells of all bindings: its memory is not kept
	}
}

// byObject are the Events by what they are about.
func (l toldLately) byObject() map[api.Key][]*event {
	if len(l) == 0 {
		return nil
	}
	all := map[api.Key][]*event{}
	for _, t := range l {
		for i := range t.of {
			e := &t.of[i]
			all[e.about] = append(all[e.about], e)
		}
	}
	return all
}

// untold is a fact with its words.
type untold struct {
	at   time.Time
	fact messages.Fact
	told journal.Phrase
}

// Follow makes the machines of a standby. They are Lead's, or closed. Where the context is done meanwhile, Follow returns its cause.
func Follow(ctx context.Context, c Config) (*Standby, error) {
	f := empty(c)
	f.following = &following{
		ahead: map[api.Key]time.Time{}, disputed: map[api.Key]time.Time{}, unsaid: map[api.Key][]untold{}, owed: map[string]wish{}, heard: map[api.Key]bool{}, works: map[string]*api.Work{},
	}
	if err := f.start(ctx, f.firstRound); err != nil {
		return nil, err
	}
	return &Standby{f}, nil
}

// Close ends machines that do not lead.
func (s *Standby) Close() { s.fleet.Close() }

// Run follows the leader until the context is done. The error says why the machines must be made again; they are closed then.
func (s *Standby) Run(ctx context.Context) error {
	err := s.fleet.guarded(func() error { return s.fleet.loop(ctx) })
	if err != nil {
		s.Close()
	}
	return err
}

// Lead has the machines decide for a term. They commit what the leader owed, and tell of it. Lead returns nil, and closes them, where they are
// not as the store is.
func (s *Standby) Lead(ctx context.Context, term int64) (*Fleet, error) {
	f := s.fleet
	behind := false
	err := f.untilDone(ctx, func() error {
		_, err := f.round()
		if err == nil && f.yield(f.config.Clock.Now()) {
			_, err = f.round()
		}
		behind = errors.Is(err, ErrBehind) || err == nil && len(f.following.disputed) > 0
		if behind || err != nil {
			return err
		}
		told := f.following.told
		f.lead(term, told)
		err = f.firstRound()
		f.makeUp(told)
		return err
	})
	switch {
	case behind:
		f.Close()
		return nil, nil
	case err != nil:
		return nil, err
	}
	return f, nil
}

// lead has the fleet commit from now on, in a term, what it has decided while it followed.
func (f *Fleet) lead(term int64, lately toldLately) {
	l := f.following
	f.config.Term, f.following = term, nil
	var said []untold
	for _, key := range slices.SortedFunc(maps.Keys(l.unsaid), store.CompareKeys) {
		said = append(said, l.unsaid[key]...)
	}
	slices.SortStableFunc(said, func(a, b untold) int { return a.at.Compare(b.at) })
	for _, s := range said {
		f.say(s.at, s.fact, s.told)
	}
	f.unwritten = slices.SortedFunc(maps.Keys(l.ahead), store.CompareKeys)
	f.wishes = append(slices.Collect(maps.Values(l.owed)), f.wishes...) // order-free: each of another Work
	met := f.monitor()
	f.restoreRecord(lately)
	<-met
}

// makeUp has the fleet do what no eviction waits for: look at all sums and namespaces, and tell what the leader may not have told.
func (f *Fleet) makeUp(told toldLately) {
	f.world.Store().EachBinding(func(b *store.Binding) { f.sums.put(b.Name()) })
	for _, c := range f.world.Store().List("Cluster") {
		f.joining = append(f.joining, messages.ClusterName(c.GetName()))
	}
	records := f.config.Recorded != nil // then restoreRecord tells of evictions
	for _, t := range told {
		for i := range t.of {
			if e := &t.of[i]; e.reason != "" && !(records && ofEviction(e.Fact)) && !f.hasEvent(e) {
				f.events[e.about] = append(f.events[e.about], *e)
			}
		}
	}
}

// compare compares what the machines have with what the leader has committed, in place of committing it. It reports whether there is more
// to do immediately.
func (f *Fleet) compare() (again bool, err error) {
	if err := f.adopt(); err != nil {
		return false, err
	}
	now, l := f.config.Clock.Now(), f.following
	l.looked = now
	for i, key := range f.world.Store().Changed() {
		engine.GiveWay(i)
		f.compareOne(key, now)
	}
	for key := range l.disputed {
		if _, ahead := l.ahead[key]; !ahead {
			delete(l.disputed, key)
		}
	}
	agreed := func(key api.Key) bool { return l.ahead[key].IsZero() }
	l.told.forget(now)
	maps.DeleteFunc(f.events, func(key api.Key, of []event) bool {
		if agreed(key) {
			l.told = append(l.told, toldOf{now, of})
		}
		return agreed(key)
	})
	maps.DeleteFunc(l.unsaid, func(key api.Key, _ []untold) bool { return agreed(key) })
	f.joining, f.orphaned, f.sums = f.joining[:0], nil, sums{known: map[messages.BindingName]bool{}}
	f.addWorks(func(p pending) {
		if p.wish != nil {
			l.owed[p.wish.key] = *p.wish
		}
	}, f.now(), f.late(consequencesLast))
	f.yield(now.Add(-agreesWithin))
	if l.lost || l.behind(now) {
		return false, ErrBehind
	}
	return f.world.Unread() || len(f.wishes) > 0, nil
}

// compareOne notes whether an object is ahead.
func (f *Fleet) compareOne(key api.Key, now time.Time) {
	l, s := f.following, f.world.Store()
	if f.agrees(key) {
		delete(l.ahead, key)
		if row := s.Stored(key); row != nil && s.Has(key) {
			s.Committed(key, row, s.Version(key))
		}
		return
	}
	if l.ahead[key].IsZero() {
		l.ahead[key] = now
	}
}

// agrees reports whether an object is in the world as it is stored.
func (f *Fleet) agrees(key api.Key) bool {
	ours := f.world.Store().Snapshot(key)
	old, _ := f.stored(key)
	if ours == nil || ours == old {
		return ours == old
	}
	if b := store.AsBinding(ours); b != nil && old != nil { // by how many steps machines came there does not matter
		more := old.GetGeneration() - b.Meta.Generation
		b.Meta.Generation += more
		b.Status.SchedulerObservedGeneration += more
	}
	_, differs := written(ours, old, false)
	return !differs
}

// yield has the clusters that the leader has decided otherwise on, before a time, be as they are stored. It reports whether there are any. Two
// machines that taint a cluster in two seconds, a moment apart, would differ for ever.
func (f *Fleet) yield(before time.Time) (yields bool) {
	l := f.following
	for _, key := range slices.SortedFunc(maps.Keys(l.disputed), store.CompareKeys) {
		o, _ := f.stored(key)
		c, is := o.(*api.Cluster)
		if !is || l.disputed[key].After(before) {
			continue
		}
		yields = true
		f.world.AdoptCluster(api.Shallow(c).(*api.Cluster))
		delete(l.disputed, key)
		delete(l.ahead, key)
		delete(l.unsaid, key)
		delete(f.events, key)
	}
	return yields
}

// behind reports whether the machines and the leader have been at odds for too long.
func (l *following) behind(now time.Time) bool {
	for _, since := range l.disputed {
		if now.Sub(since) > agreesWithin {
			return true
		}
	}
	for key, since := range l.ahead {
		if key != store.GovernorKey && now.Sub(since) > writesWithin {
			return true
		}
	}
	return false
}

// next is when it is looked again whether the machines are behind; zero: they agree with the leader.
func (l *following) next() time.Time {
	if l == nil || len(l.ahead) == 0 {
		return time.Time{}
	}
	return l.looked.Add(agreesWithin)
}

// hear keeps what a machine says, and has a Work looked at again that is wanted otherwise now.
func (l *following) hear(at time.Time, fact messages.Fact, told journal.Phrase) {
	about := aboutOf(fact)
	l.unsaid[about] = append(l.unsaid[about], untold{at, fact, told})
	switch fact.(type) {
	case *messages.CopyWanted, *messages.CopyUnwanted:
		w := wishOf(fact)
		delete(l.owed, w.key)
	}
}

// take takes in what may be a decision of the leader.
func (l *following) take(c *engine.Change, now time.Time) {
	if rules(c) && l.disputed[keyOf(c)].IsZero() {
		l.disputed[keyOf(c)] = now
	}
}

// rules reports whether a change of a cluster, a policy or a quota tells what machines decide of it.
func rules(c *engine.Change) bool {
	before, now := c.Previous(), c.Object
	if before == nil || now == nil {
		return false
	}
	switch now := now.(type) {
	case *api.Cluster:
		return rulesCluster(before.(*api.Cluster), now)
	case *api.ClusterTaintPolicy, *api.FederatedResourceQuota, *api.WorkloadRebalancer:
		return !equality.Semantic.DeepEqual(statusOf(before).Interface(), statusOf(now).Interface())
	}
	return false
}

// rulesCluster is rules of a cluster: taints that users set are none of it.
func rulesCluster(before, now *api.Cluster) bool {
	was, is := *before, *before
	decideCluster(&is, now)
	is.Spec.Taints = before.Spec.Taints
	was.Status.TaintCauses, is.Status.TaintCauses = ofMachines(before), ofMachines(now)
	return !equality.Semantic.DeepEqual(&was, &is)
}

// ofMachines are the causes of the taints that machines set.
func ofMachines(c *api.Cluster) []api.TaintCause {
	return slices.DeleteFunc(slices.Clone(c.Status.TaintCauses), func(k api.TaintCause) bool { return k.By == api.TaintCauseUser })
}

// withoutDecisions is a version of a cluster with what the leader decided in the next one: the machines of a standby decide that themselves.
func withoutDecisions(before, now *api.Cluster) *api.Cluster {
	next := *before
	decideCluster(&next, now)
	next.Spec.Taints = append(taintsBy(now, true), taintsBy(before, false)...)
	for _, k := range now.Status.Conditions {
		if observed.OfSilence(k) {
			next.Status.Conditions = slices.Clone(next.Status.Conditions)
			meta.SetStatusCondition(&next.Status.Conditions, k)
		}
	}
	return &next
}

// taintsBy are the taints of a cluster that machines set, or else users.
func taintsBy(c *api.Cluster, machines bool) []corev1.Taint {
	causes := ofMachines(c)
	return slices.DeleteFunc(slices.Clone(c.Spec.Taints), func(t corev1.Taint) bool {
		return slices.ContainsFunc(causes, func(k api.TaintCause) bool { return k.Key == t.Key && k.Effect == t.Effect }) != machines
	})
}

// adopt takes over the bindings that the leader, or a user, has written otherwise than the machines have decided by now.
func (f *Fleet) adopt() error {
	heard := slices.SortedFunc(maps.Keys(f.following.heard), store.CompareKeys)
	clear(f.following.heard)
	for i, key := range heard {
		engine.GiveWay(i)
		f.world.Store().Note(key)
		if !f.agrees(key) {
			f.adoptOne(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.following.works)) {
		if cluster, says := observedOf(f.following.works[key]); says != nil {
			f.lookAfter(&report{cluster, says})
		}
	}
	clear(f.following.works)
	return f.settleAt(f.world.Now())
}

func (f *Fleet) adoptOne(key api.Key) {
	name, s := bindingOf(key), f.world.Store()
	ours := s.Binding(name)
	stored, _ := f.stored(key)
	switch {
	case stored == nil && ours != nil && !s.Has(ours.Spec.Resource.Key()):
		f.world.End(name)
	case stored == nil:
		f.world.Delete(key)
	case !f.ends(name):
		o, next := api.Shallow(stored), store.AsBinding(stored)
		copies := slices.Collect(next.Copies())
		if ours != nil {
			copies = slices.AppendSeq(copies, ours.Copies())
		}
		slices.Sort(copies)
		f.refused(o, f.world.Adopt(o))
		if next.Owner() != "" && !s.Has(next.Spec.Resource.Key()) { // its workload was deleted before it was heard of
			f.world.End(name)
		}
		for _, c := range slices.Compact(copies) {
			f.lookAtCopy(next, c)
			f.following.lost = f.following.lost || s.Cluster(c) == nil
		}
	}
}

// lookAtCopy tells machines of the Work of a copy, as a start does.
func (f *Fleet) lookAtCopy(b *store.Binding, c messages.ClusterName) {
	o, _ := f.config.Engine.Table(catalog.Works.Name()).Get(workKey(c, b.Name()))
	if w, is := o.(*api.Work); is {
		if cluster, says := observedOf(w); says != nil {
			f.world.TellAgent(cluster, says)
		}
	}
	if api.FindTarget(b.Spec.Clusters, string(c)) < 0 {
		f.world.CopyLeft(b.Name(), c)
	}
}

// workHeard has a Work that is owed looked at again, and one that no binding may know of.
func (f *Fleet) workHeard(c *engine.Change) {
	l := f.following
	if l == nil {
		return
	}
	if w, owed := l.owed[c.Key]; owed {
		delete(l.owed, c.Key)
		f.wishes = append(f.wishes, w)
	}
	if w, is := c.Object.(*api.Work); is {
		l.works[c.Key] = w
	}
}
