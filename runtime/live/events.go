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
	"leeward/runtime/catalog"
	"leeward/runtime/engine"
	"leeward/runtime/journal"
	"leeward/runtime/store"
)

// component names the daemon in its Events.
const component = "leewardd"

// event is what is told of an object, until the object is written.
type event struct {
	about   api.Key
	at      time.Time
	kind    string // Normal or Warning
	reason  string
	message string // empty: as told
	told    journal.Phrase
	// seq sets it apart from others, and uid is that of the object; they are known when it is about to be written.
	seq uint64
	uid types.UID
}

func (e *event) text() string {
	if e.message == "" {
		e.message = e.told.Text()
	}
	return e.message
}

// reasons are those that Karmada's Events have for the same.
var reasons = map[string]string{
	"TaintAdded":         "TaintClusterSucceed",
	"TaintRemoved":       "TaintClusterSucceed",
	"TaintingFailed":     "TaintClusterFailed",
	"Scheduled":          "ScheduleBindingSucceed",
	"ScheduleFailed":     "ScheduleBindingFailed",
	"EvictionEnded":      "EvictWorkloadFromClusterSucceed",
	"BindingDescheduled": "DescheduleBindingSucceed",
}

// noteEvent tells of a fact with its grounds, unless it only follows from one that is told.
func (f *Fleet) noteEvent(at time.Time, fact messages.Fact, told journal.Phrase) {
	if told.Level < zerolog.InfoLevel {
		return
	}
	var about api.Key
	switch fact := fact.(type) {
	case *messages.BindingCreated:
		return // the binding itself says which policy claimed it
	case *messages.CapacityChanged:
		return // the cluster itself says what its agent reports, each few seconds
	case messages.AboutBinding:
		about = store.BindingKey(fact.AboutBinding())
	case messages.AboutCluster:
		about = store.ClusterKey(fact.AboutCluster())
	case *messages.GovernorChanged:
		about = store.GovernorKey
	default:
		return
	}
	kind := corev1.EventTypeNormal
	if told.Level >= zerolog.WarnLevel {
		kind = corev1.EventTypeWarning
	}
	f.tell(event{about: about, at: at, kind: kind, reason: cmp.Or(reasons[fact.Kind()], fact.Kind()), told: told})
}

// warn tells of what is wrong with an object.
func (f *Fleet) warn(about api.Key, reason, message string) {
	f.tell(event{about: about, at: f.world.Now(), kind: corev1.EventTypeWarning, reason: reason, message: message})
}

// tell has an Event made.
func (f *Fleet) tell(e event) { f.events[e.about] = append(f.events[e.about], e) }

// eventsAbout takes the Events of one object, with its uid where it is new.
func (f *Fleet) eventsAbout(key api.Key, uid types.UID) []pending {
	told := f.events[key]
	if len(told) == 0 {
		return nil
	}
	delete(f.events, key)
	if uid == "" {
		uid = f.uidOf(key)
	}
	all := make([]pending, 0, len(told))
	for i := range told {
		if e := &told[i]; !f.starting || !f.stands(e) {
			f.eventSeq++
			e.seq, e.uid = f.eventSeq, uid
			all = append(all, pending{event: e})
		}
	}
	return all
}

// stands reports whether there is an Event that tells the same. Machines that are made anew find again what cannot be, such
// as a placement; who looks at Events has read it.
func (f *Fleet) stands(e *event) bool {
	namespace, begins := eventName(e)
	for _, o := range f.config.Engine.Table(catalog.Events.Name()).Snapshot().Under(engine.Key(catalog.Events.Name(), namespace, begins), "") {
		is := o.(*corev1.Event)
		if is.InvolvedObject.Kind == e.about.Kind && is.InvolvedObject.Name == e.about.Name && is.Reason == e.reason && is.Message == e.text() {
			return true
		}
	}
	return false
}

// eventName is where Events of an object are, and what their names begin with. Those of objects without a namespace are in
// the default one.
func eventName(e *event) (namespace, begins string) {
	return cmp.Or(e.about.Namespace, metav1.NamespaceDefault), strings.ToLower(e.about.Name) + "."
}

// eventsLeft takes the Events of all objects.
func (f *Fleet) eventsLeft() (all []pending) {
	for _, key := range slices.SortedFunc(maps.Keys(f.events), store.CompareKeys) {
		all = append(all, f.eventsAbout(key, "")...)
	}
	f.events = map[api.Key][]event{} // a start tells of all bindings: its room is not kept
	return all
}

// make makes an Event of it, to be written.
func (e *event) make(p *pending) {
	namespace, begins := eventName(e)
	at := metav1.Time{Time: e.at}
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
	if r := catalog.Of(k); r != nil {
		if o, _ := f.config.Engine.Table(r.Name()).Get(engine.Key(r.Name(), k.Namespace, k.Name)); o != nil {
			return o.GetUID()
		}
	}
	return ""
}
