package karmada

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"

	"leeward/messages"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// The bounds of Events. client-go writes one after the other, at most 25 of one object at the same time and then one in five minutes, and
// drops what is more than 1000 behind: the log has all of it.
const (
	// eventsPerSecond and eventsBurst bound the requests.
	eventsPerSecond, eventsBurst = 50, 100
	// mostTold is how many bindings have Events that wait for their decision to be written, mostOfOne how many one of them has. Those
	// beyond have none.
	mostTold, mostOfOne = 10_000, 20
)

// eventSink is where Events are written.
func eventSink(c *rest.Config) (record.EventSink, error) {
	own := rest.CopyConfig(c)
	own.UserAgent, own.QPS, own.Burst = userAgent, eventsPerSecond, eventsBurst
	clients, err := corev1client.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("make a client of Events: %w", err)
	}
	return &corev1client.EventSinkImpl{Interface: clients.Events("")}, nil
}

// telling tells of decisions in Events about bindings and their workloads, once they are written.
type telling struct {
	recorder record.EventRecorder
	end      func()
	noted    map[messages.BindingName][]noted
	// fresh are the bindings to look at: something was decided of them, or written.
	fresh map[messages.BindingName]bool
}

// noted is a decision that is yet to be told.
type noted struct {
	fact messages.Fact
	told journal.Phrase
}

func newTelling(ctx context.Context, sink record.EventSink) *telling {
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(sink)
	return &telling{
		recorder: b.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: userAgent}), end: b.Shutdown,
		noted: map[messages.BindingName][]noted{}, fresh: map[messages.BindingName]bool{},
	}
}

// note keeps what was decided of a binding until that is written.
func (t *telling) note(f messages.Fact, told journal.Phrase) {
	about, is := f.(messages.AboutBinding)
	if !is || told.Level < zerolog.InfoLevel || failover.EventReason(f) == "" {
		return
	}
	name := about.AboutBinding()
	if all := t.noted[name]; len(all) < mostOfOne && (len(all) > 0 || len(t.noted) < mostTold) {
		t.noted[name], t.fresh[name] = append(all, noted{f, told}), true
	}
}

// forget drops what was decided and not written, because others wrote otherwise.
func (t *telling) forget(name messages.BindingName) { delete(t.noted, name) }

// tell tells what was decided of a binding, which is written; nil: it is gone. What was taken back before it was written never happened.
func (t *telling) tell(b *store.Binding) {
	if b == nil || len(t.noted[b.Name()]) == 0 {
		return
	}
	all := t.noted[b.Name()]
	delete(t.noted, b.Name())
	facts := make([]messages.Fact, len(all))
	for i := range all {
		facts[i] = all[i].fact
	}
	void := map[messages.Fact]bool{}
	for _, f := range failover.Retracted(facts) {
		void[f] = true
	}
	for i := range all {
		if f := all[i].fact; !void[f] {
			kind := corev1.EventTypeNormal
			if all[i].told.Level >= zerolog.WarnLevel {
				kind = corev1.EventTypeWarning
			}
			for _, about := range aboutOf(b, f) {
				t.recorder.Event(about, kind, failover.EventReason(f), all[i].told.Text())
			}
		}
	}
}

// aboutOf are the objects that an Event is about: the binding, and its workload where the owner of that is told.
func aboutOf(b *store.Binding, f messages.Fact) []*corev1.ObjectReference {
	key := store.BindingKey(b.Name())
	all := []*corev1.ObjectReference{{
		APIVersion: key.APIVersion, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name, UID: b.Meta.UID, ResourceVersion: b.Meta.ResourceVersion,
	}}
	if r := &b.Spec.Resource; failover.RoleOf(f).Is(failover.Owner) {
		all = append(all, &corev1.ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, UID: r.UID})
	}
	return all
}
