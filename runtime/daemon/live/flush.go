package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

// pending is one object that must be written.
type pending struct {
	key   string
	write engine.Write
	// object is what is written; nil deletes.
	object engine.Object
	// source is the world's object, wish what a Work must be, and event what an Event must tell, which is made when it is
	// written.
	source     api.Key
	version    uint64 // of the world's object
	wish       *wish
	generation int64 // of a Work, once it is written
	event      *event
}

const (
	// decidedTogether is how many objects that machines decided on are committed together: few, so that the first are
	// seen, and acted on, while the last are still being written.
	decidedTogether = 256
	// flushedTogether is how many objects of all else are: few enough for readers of the engine to keep up, this fleet among
	// them, and enough for a sync of the log to cost little.
	flushedTogether = 512
	// decidedInARound is how many are before the machines hear of what came meanwhile: an edit of a policy may change as
	// many as there are. DecisionsLast is how long objects are made of them before that, however few they were.
	decidedInARound = 8 * decidedTogether
	decisionsLast   = 50 * time.Millisecond
	// wishesTogether is how many Works are looked at before the machines hear of what came meanwhile.
	wishesTogether = 4096
	// consequencesLast is how long Works and sums are looked at before that, however few they were: people who pause a storm, and
	// evictions that are due, do not wait for the Works of a whole fleet.
	consequencesLast = 50 * time.Millisecond
)

// flush commits all that the machines changed: what they decided, and then a part of what follows from that. It reports
// whether more of that remains, or the machines must hear of something that came of it. What meets a change that the
// world has not heard of waits until it has.
func (f *Fleet) flush() (again bool, err error) {
	r := &relay{fleet: f}
	clear(f.postponed)
	changed, decided := f.flushDecisions(f.nextDecisions(), r)
	r.arriveAll()     // agents that wait for a decision need the processors first
	if r.err != nil { // of what was decided it is not known what was committed
		return false, r.end()
	}
	if len(f.unwritten) == 0 && f.config.Flushed != nil {
		f.config.Flushed()
	}
	for _, a := range decided {
		if f.postponed[a.key] {
			continue
		}
		for _, p := range f.eventsAbout(a.key, a.uid) {
			r.addOne(p)
		}
	}
	f.follow(changed)
	if len(f.unwritten) > 0 { // nothing follows from what is not all there
		f.record()
		f.checkInvariants()
		return true, r.end()
	}
	if !f.starting { // machines that start act before they look at Works
		f.consequences(r.addOne)
	}
	for _, p := range f.eventsLeft() {
		r.addOne(p)
	}
	f.record()
	f.checkInvariants() // while the last of it is written
	err = r.end()
	return f.world.Unread() || len(f.wishes) > 0 || len(f.sums.waiting) > 0, err
}

// nextDecisions takes the objects that must be committed, in their order, those that changed last before those that wait: what
// fails while a policy changes must not wait for the rest of that. Where there are many, those of which only the status changed are
// the last: a storm that is paused, or goes on, says so of every eviction that waits. The Governor precedes all: people who hold
// evictions wait for its status.
func (f *Fleet) nextDecisions() []api.Key {
	news, waiting := f.world.Store().Changed(), f.unwritten
	f.unwritten = nil
	if len(news) > 0 && len(waiting) > 0 {
		known := make(map[api.Key]bool, len(news))
		for _, key := range news {
			known[key] = true
		}
		waiting = slices.DeleteFunc(waiting, func(key api.Key) bool { return known[key] })
	}
	next := news
	if len(news)+len(waiting) > decidedTogether && !f.starting {
		var said []api.Key
		next = slices.DeleteFunc(news, func(key api.Key) bool {
			says := !f.acts(key)
			if says {
				said = append(said, key)
			}
			return says
		})
		waiting = append(waiting, said...)
	}
	next = append(next, waiting...)
	if i := slices.Index(next, store.GovernorKey); i > 0 {
		next = slices.Insert(slices.Delete(next, i, i+1), 0, store.GovernorKey)
	}
	return next
}

// stored is an object as the engine has it, for all that the world has heard; nil: it has none.
func (f *Fleet) stored(k api.Key) (api.Object, int64) {
	if row := f.world.Store().Stored(k); row != nil {
		return row.Object(), row.Version()
	}
	return nil, 0
}

// acts reports whether more of an object changed than the status of a binding.
func (f *Fleet) acts(key api.Key) bool {
	b := f.world.Store().Binding(bindingOf(key))
	if b == nil {
		return true
	}
	o, _ := f.stored(key)
	return o == nil || o.GetGeneration() != b.Meta.Generation
}

// about names an object that was decided on, and of which there is something to tell.
type about struct {
	key api.Key
	uid types.UID // as it was before it is deleted; empty where it is new, and not written
}

// flushDecisions commits objects as the machines have them, at a start all of them, until it is interrupted, or else so many as a
// round has time for, and leaves the others to the next. It returns which it took, and those of which there is something to tell, if they were not
// postponed.
func (f *Fleet) flushDecisions(next []api.Key, r *relay) (changed []api.Key, decided []about) {
	f.unwanted, f.going = nil, map[string]bool{}
	n, late := 0, f.late(decisionsLast)
	for keys := range slices.Chunk(next, decidedTogether) {
		if f.world.Interrupted() || !f.starting && n > 0 && (n == decidedInARound || late()) {
			break
		}
		n += len(keys)
		part := make([]pending, 0, len(keys))
		for i, key := range keys {
			engine.GiveWay(i)
			if f.takeBack(key) {
				f.putOff(key)
				continue
			}
			made := f.object(key)
			part = append(part, made...)
			if len(f.events[key]) > 0 {
				decided = append(decided, about{key, cmp.Or(uidIn(made, key), f.uidOf(key))})
			}
		}
		r.add(part)
	}
	f.unwritten = append(next[n:], f.unwritten...)
	return next[:n:n], decided
}

// commit commits a part of what must be written, all of it but what meets a change, in one step or in as few steps as the
// store allows. In shadow it does not.
func (f *Fleet) commit(part []pending) error {
	for len(part) > 0 && !f.config.Shadow {
		n := min(len(part), f.config.Engine.Batch())
		if err := f.commitTogether(part[:n:n]); err != nil {
			return err
		}
		part = part[n:]
	}
	return nil
}

// commitTogether commits what is not too large in one step.
func (f *Fleet) commitTogether(part []pending) error {
	if len(part) == 0 {
		return nil
	}
	return f.answered(part, f.feed.Begin(f.config.Term, writes(part)...)())
}

// answered notes what was committed, or commits again what met no change, or less of what was too large.
func (f *Fleet) answered(part []pending, err error) error {
	var conflict *engine.Conflict
	switch {
	case err == nil:
		f.committed(part)
		return nil
	case errors.As(err, &conflict):
		return f.commitTogether(f.postpone(part, conflict.Key))
	case errors.As(err, new(*engine.TooLarge)) && len(part) > 1:
		return f.commitHalves(part)
	case errors.As(err, new(*engine.TooLarge)):
		f.config.Log.Error().Str("object", part[0].key).Err(err).Msg("not written")
		return nil
	default:
		return fmt.Errorf("commit %d changes: %w", len(part), err)
	}
}

func (f *Fleet) commitHalves(part []pending) error {
	n := len(part) / 2
	if err := f.commitTogether(part[:n:n]); err != nil {
		return err
	}
	return f.commitTogether(part[n:])
}

// writes makes Events of what they are to tell, too: on the goroutine of who writes them.
func writes(batch []pending) []engine.Write {
	all := make([]engine.Write, len(batch))
	for i := range batch {
		engine.GiveWay(i)
		p := &batch[i]
		if p.event != nil && p.object == nil {
			p.event.make(p)
		}
		all[i] = p.write
	}
	return all
}

// uidIn is the uid of an object that is about to be written; empty where it is not.
func uidIn(made []pending, key api.Key) types.UID {
	for i := range made {
		if made[i].source == key && made[i].object != nil {
			return made[i].object.GetUID()
		}
	}
	return ""
}

// follow notes what follows from decisions that were committed.
func (f *Fleet) follow(changed []api.Key) {
	for _, key := range changed {
		if binding := f.world.Store().Binding(bindingOf(key)); binding != nil {
			f.sums.put(binding.Name())
			f.renewParts(binding)
		}
	}
}

// consequences adds what follows from decisions: namespaces and Works, the oldest wishes first, and only so many: what is
// decided meanwhile does not wait for all of them; then the sums of what copies of changed bindings report, which no agent
// waits for. Agents' machines are told of Works that need not be written: they are as they should be.
func (f *Fleet) consequences(add func(pending)) {
	now, late := f.now(), f.late(consequencesLast)
	for _, c := range f.joining {
		if p, needed := f.namespaceFor(c, now); needed {
			add(p)
		}
	}
	f.joining = f.joining[:0]
	for _, c := range f.orphaned {
		if f.world.Store().Cluster(c) == nil { // else it was made again
			for _, p := range f.giveUp(c) {
				add(p)
			}
		}
	}
	f.orphaned = nil
	f.addWorks(add, now, late)
	f.addSums(add, late)
}

// late returns what reports whether something that begins now has taken its time.
func (f *Fleet) late(lasts time.Duration) func() bool {
	began := f.config.Clock.Now()
	return func() bool { return f.config.Clock.Now().Sub(began) >= lasts }
}

// addWorks adds the Works that the oldest wishes ask for, one at least.
func (f *Fleet) addWorks(add func(pending), now time.Time, late func() bool) {
	oldest := f.wishes[:min(len(f.wishes), wishesTogether)]
	done := len(oldest)
	var unheard []wish
	namespaces := map[string]bool{} // their Works that are added
	for n, i := range newest(oldest) {
		if n > 0 && late() {
			done = i
			break
		}
		engine.GiveWay(n)
		w := &oldest[i]
		if w.renews() && f.feed.Awaits(w.key) { // the Work may have been edited, and it takes its replicas over: hear of that first
			unheard = append(unheard, *w)
			continue
		}
		p, needed := f.work(w, now)
		if of, missing := f.namespaceWork(w, now); missing && needed && !namespaces[of.key] {
			namespaces[of.key] = true
			add(of)
		}
		if needed {
			add(p)
			continue
		}
		f.tellWritten(w, p.generation)
		f.tellNone(w)
	}
	clear(f.manifests)
	if f.wishes = append(f.wishes[done:], unheard...); len(f.wishes) == 0 {
		f.wishes = nil // a start wishes for all Works: their memory is not kept
	}
}

// addSums adds the sums of the bindings that have waited longest, few of them while there are Works to write.
func (f *Fleet) addSums(add func(pending), late func() bool) {
	for n := 0; n < sumsTogether && len(f.sums.waiting) > 0; n += sumsBesideWorks {
		for _, name := range f.sums.take() {
			if binding := f.world.Store().Binding(name); binding != nil {
				if p, needed := f.aggregate(binding); needed {
					add(p)
				}
			}
		}
		if len(f.wishes) > 0 || late() {
			return
		}
	}
}

// bindingOf names the binding that a key is that of; empty where it is that of something else.
func bindingOf(k api.Key) messages.BindingName {
	switch k.Kind {
	case "ResourceBinding", "ClusterResourceBinding":
		return messages.NameBinding(k.Namespace, k.Name)
	}
	return ""
}

// newest returns which wishes count, in their order: of those for one Work the last; one that renews it adds nothing to one before.
func newest(wishes []wish) []int {
	last := make(map[string]int, len(wishes))
	for i := range wishes {
		if _, before := last[wishes[i].key]; !before || !wishes[i].renews() {
			last[wishes[i].key] = i
		}
	}
	var kept []int
	for i := range wishes {
		if last[wishes[i].key] == i {
			kept = append(kept, i)
		}
	}
	return kept
}

// now is the instant that objects are stamped with.
func (f *Fleet) now() time.Time { return f.world.Now().Truncate(time.Second) }

// committed notes what was written, and tells the machines that wait for it.
func (f *Fleet) committed(batch []pending) {
	f.stats.Written += uint64(len(batch))
	for i := range batch {
		p := &batch[i]
		if bindingOf(p.source) != "" {
			before, _ := f.stored(p.source)
			f.rooms.follow(store.AsBinding(p.object), store.AsBinding(before), true)
		}
		switch {
		case p.object == nil:
			if p.source != (api.Key{}) {
				f.world.Store().Committed(p.source, nil, 0)
			}
			delete(f.ended, bindingOf(p.source))
			if p.wish != nil {
				f.tellGone(p.wish)
			}
		case p.source != (api.Key{}):
			f.rest(p)
		}
		if p.wish != nil {
			f.tellWritten(p.wish, p.generation)
		}
	}
}

// rest has the world's object rest on the row that was committed of it, unless another writer has changed that since: that
// is news.
func (f *Fleet) rest(p *pending) {
	row := f.config.Engine.Table(catalog.Of(p.source).Name()).Row(p.key)
	if row.Version() == engine.VersionOf(p.object) {
		f.world.Store().Committed(p.source, row, p.version)
	}
}

// tellWritten tells which generation of its Work carries a wish, if it asked for a copy and there is a Work.
func (f *Fleet) tellWritten(w *wish, generation int64) {
	if w.wanted != nil && generation != 0 {
		f.world.TellAgent(w.cluster, &messages.WorkWritten{Binding: w.binding, Placement: w.wanted.Placement, Generation: generation})
	}
}

// tellGone tells that a Work was deleted which no agent had to let go first.
func (f *Fleet) tellGone(w *wish) {
	f.world.TellAgent(w.cluster, &messages.WorkGone{Binding: w.binding})
}

// tellNone tells that a Work is gone which was never written, or which others have deleted since it was last heard of: its agent's
// machine waits for that word before it asks for another. Where the news of its end is still to come, that is the word.
func (f *Fleet) tellNone(w *wish) {
	if w.unwanted != nil && f.config.Engine.Table(catalog.Works.Name()).Version(w.key) == 0 && !f.feed.Awaits(w.key) {
		f.tellGone(w)
	}
}

// postpone takes an object that another writer has just changed out of a batch, to be written when the world has
// heard of that: the news is on its way.
func (f *Fleet) postpone(batch []pending, key string) []pending {
	f.stats.Conflicts++
	i := slices.IndexFunc(batch, func(p pending) bool { return p.key == key })
	if i < 0 { // cannot be: the engine was given these keys
		panic(fmt.Sprintf("live: conflict of %s, which was not written", key))
	}
	switch p := &batch[i]; { // a namespace that is there already is as good
	case p.wish != nil:
		f.wishes = slices.Insert(f.wishes, 0, *p.wish) // before what was wished for since, which holds
	case p.source != (api.Key{}):
		f.putOff(p.source)
	}
	return slices.Delete(batch, i, i+1)
}

// putOff has an object written in a later round: until then nothing is told of what was decided on it.
func (f *Fleet) putOff(source api.Key) {
	f.postponed[source] = true
	f.unwritten = append(f.unwritten, source)
}

// object returns the write that makes an object of the engine what it is in the world, with those that go with it;
// none where it is that, or the world has no say in it.
func (f *Fleet) object(source api.Key) []pending {
	r := catalog.Of(source)
	if r == nil {
		return nil
	}
	p := pending{key: engine.Key(r.Name(), source.Namespace, source.Name), source: source, version: f.world.Store().Version(source)}
	old, version := f.stored(source)
	if version != f.config.Engine.Table(r.Name()).Version(p.key) {
		f.stats.Conflicts++
		f.putOff(source) // its news is on its way
		return nil
	}
	ours := f.world.Store().Snapshot(source)
	if ours == nil {
		return append(f.worksOf(source), f.removal(p, old, version)...)
	}
	next, changes := written(ours, old, f.world.Store().Decided(source))
	if !changes {
		return nil
	}
	p.object, p.write = next, engine.Update(p.key, next, version)
	return []pending{p}
}
