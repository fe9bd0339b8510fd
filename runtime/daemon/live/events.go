package live

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// component names the daemon in its Events.
const component = "leewardd"

// Decision is a fact that was committed, or that needs no commit.
type Decision struct {
	At   time.Time
	Fact messages.Fact
	Told journal.Phrase
	// Restored is set where a restart has found it in the store alone.
	Restored bool
}

// event is what is told of an object, until the object is written.
type event struct {
	Decision
	about   api.Key
	order   uint64 // in which it was decided
	kind    string // Normal or Warning
	reason  string // empty: no Event tells of it
	message string // empty: as told
	// seq sets it apart from others, and uid is that of the object; they are known when it is about to be written.
	seq uint64
	uid types.UID
}

func (e *event) text() string {
	if e.message == "" {
		e.message = e.Told.Text()
	}
	return e.message
}

// noteEvent has a fact told with its reason once it is committed, unless it only follows from one that is told.
func (f *Fleet) noteEvent(d Decision) {
	if d.Told.Level < zerolog.InfoLevel {
		return
	}
	if f.wasRemoved(d.Fact) {
		return
	}
	e := event{Decision: d, kind: corev1.EventTypeNormal, reason: failover.EventReason(d.Fact), about: aboutOf(d.Fact)}
	if d.Told.Level >= zerolog.WarnLevel {
		e.kind = corev1.EventTypeWarning
	}
	if e.about == (api.Key{}) {
		e.reason = ""
	}
	f.tell(e)
}

// aboutOf is the object that a fact is about; none where no Event tells of it.
func aboutOf(fact messages.Fact) api.Key {
	switch fact := fact.(type) {
	case messages.AboutBinding:
		return store.BindingKey(fact.AboutBinding())
	case messages.AboutCluster:
		return store.ClusterKey(fact.AboutCluster())
	case *messages.GovernorChanged:
		return store.GovernorKey
	}
	return api.Key{}
}

// wasRemoved reports whether a fact is that a cluster is removed of which a start finds that it was removed before.
func (f *Fleet) wasRemoved(fact messages.Fact) bool {
	removed, is := fact.(*messages.ClusterRemoved)
	if !is || !f.starting {
		return false
	}
	o, _ := f.stored(store.ClusterKey(removed.Cluster))
	return o != nil && letGo(o)
}

// warn tells of what is wrong with an object.
func (f *Fleet) warn(about api.Key, reason, message string) {
	f.tell(event{Decision: Decision{At: f.world.Now()}, about: about, kind: corev1.EventTypeWarning, reason: reason, message: message})
}

// tell has an Event made.
func (f *Fleet) tell(e event) {
	f.eventSeq++
	e.order = f.eventSeq
	f.events[e.about] = append(f.events[e.about], e)
}

// eventsAbout takes what was noted about one object that is committed, and returns the Events, with its uid where it is new.
func (f *Fleet) eventsAbout(key api.Key, uid types.UID) []pending {
	told := withoutTakenBack(f.events[key])
	delete(f.events, key)
	if uid == "" && len(told) > 0 {
		uid = f.uidOf(key)
	}
	all := make([]pending, 0, len(told))
	for i := range told {
		e := &told[i]
		exists := (e.Restored || f.starting && !ofEviction(e.Fact)) && e.reason != "" && f.hasEvent(e)
		if e.Fact != nil && (!exists || e.Restored) {
			f.decided = append(f.decided, *e)
		}
		if e.reason != "" && !exists {
			f.eventSeq++
			e.seq, e.uid = f.eventSeq, uid
			all = append(all, pending{event: e})
			if t := f.aboutTemplate(e); t != nil {
				all = append(all, pending{event: t})
			}
		}
	}
	return all
}

// aboutTemplate is what an Event about a binding tells of its workload; nil where the workload's owner is not told.
func (f *Fleet) aboutTemplate(e *event) *event {
	if !failover.RoleOf(e.Fact).Is(failover.Owner) {
		return nil
	}
	b := f.world.Store().Binding(e.Fact.(messages.AboutBinding).AboutBinding())
	if b == nil {
		return nil
	}
	f.eventSeq++
	t := *e
	t.about, t.uid, t.seq = b.Spec.Resource.Key(), b.Spec.Resource.UID, f.eventSeq
	return &t
}

// foundAsStored drops that a binding took over something of its workload, or of its policy, at a start that has nothing to write
// for it.
func (f *Fleet) foundAsStored(key api.Key) {
	if f.starting && len(f.events[key]) > 0 { // else a start would keep, and sort, the keys of all bindings for nothing
		f.events[key] = slices.DeleteFunc(f.events[key], func(e event) bool { _, updates := e.Fact.(*messages.BindingUpdated); return updates })
	}
}

// withoutTakenBack leaves out evictions that were withdrawn before their tasks were committed: they never began. Those that were found in the
// store did.
func withoutTakenBack(told []event) []event {
	if !slices.ContainsFunc(told, func(e event) bool { return failover.RoleOf(e.Fact).Is(failover.Retracts) }) {
		return told
	}
	var facts []messages.Fact
	for i := range told {
		if !told[i].Restored {
			facts = append(facts, told[i].Fact)
		}
	}
	void := failover.Retracted(facts)
	return slices.DeleteFunc(told, func(e event) bool { return e.Fact != nil && slices.Contains(void, e.Fact) })
}

// record tells what was committed, in the order in which it was decided.
func (f *Fleet) record() {
	if f.config.Decided != nil && len(f.decided) > 0 {
		slices.SortFunc(f.decided, func(a, b event) int { return cmp.Compare(a.order, b.order) })
		all := lists.Of(f.decided, func(d event) Decision { return d.Decision })
		f.config.Decided(all)
	}
	f.decided = nil // a start, or a storm, tells of all bindings: its memory is not kept
}

// hasEvent reports whether there is an Event that tells the same: machines that are built again find again what cannot be, such as a
// placement, and who looks at Events has read it; or, of what was found in the store, that tells of it.
func (f *Fleet) hasEvent(e *event) bool {
	namespace, begins := eventName(e)
	for _, o := range f.config.Engine.Table(catalog.Events.Name()).Snapshot().Under(engine.Key(catalog.Events.Name(), namespace, begins), "") {
		is := o.(*corev1.Event)
		if is.InvolvedObject.Kind == e.about.Kind && is.InvolvedObject.Name == e.about.Name && is.Reason == e.reason && (e.says(is.Message) || e.Restored && is.FirstTimestamp.Unix() == e.At.Unix()) {
			return true
		}
	}
	return false
}

// says reports whether an Event tells the same. Of a workload that no cluster can take, a restart does not know what had it tried.
func (e *event) says(message string) bool {
	if _, fails := e.Fact.(*messages.ScheduleFailed); fails {
		return withoutTrigger(message) == withoutTrigger(e.text())
	}
	return message == e.text()
}

// withoutTrigger leaves out of a text what it gives as the trigger.
func withoutTrigger(text string) string {
	before, trigger, _ := strings.Cut(text, "; because ")
	_, after, _ := strings.Cut(trigger, "; ")
	return before + "; " + after
}

// eventName is where Events of an object are, and what their names begin with. Those of objects without a namespace are in
// the default one.
func eventName(e *event) (namespace, begins string) {
	return cmp.Or(e.about.Namespace, metav1.NamespaceDefault), strings.ToLower(e.about.Name) + "."
}

// eventsLeft takes the Events of all objects but those that are not committed yet.
func (f *Fleet) eventsLeft() (all []pending) {
	waiting := map[api.Key][]event{} // a new one: a start tells of all bindings, and its memory is not kept
	for _, key := range slices.SortedFunc(maps.Keys(f.events), store.CompareKeys) {
		if f.postponed[key] {
			waiting[key] = f.events[key]
		} else {
			f.foundAsStored(key)
			all = append(all, f.eventsAbout(key, "")...)
		}
	}
	f.events = waiting
	return all
}

// make makes an Event of it, to be written.
func (e *event) make(p *pending) {
	namespace, begins := eventName(e)
	at := metav1.Time{Time: e.At}
	o := &corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{
			Name: begins + strconv.FormatUint(e.seq, 16), Namespace: namespace, UID: uuid.NewUUID(), CreationTimestamp: at,
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: e.about.APIVersion, Kind: e.about.Kind, Namespace: e.about.Namespace, Name: e.about.Name, UID: e.uid,
		},
		Reason: e.reason, Message: e.text(), Type: e.kind, Count: 1, FirstTimestamp: at, LastTimestamp: at,
		Source: corev1.EventSource{Component: component}, ReportingController: component,
	}
	p.key, p.object = engine.Key(catalog.Events.Name(), namespace, o.Name), o
	p.write = engine.Create(p.key, o).For(catalog.EventLife)
}

// uidOf is the uid of an object as the engine has it; empty where it is not there, or not yet.
func (f *Fleet) uidOf(k api.Key) types.UID {
	if o, _ := f.stored(k); o != nil {
		return o.GetUID()
	}
	return ""
}
