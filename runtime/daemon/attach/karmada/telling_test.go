package karmada

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// told are the Events that were written, each "Deployment web EvictionStarted: ...".
func (s *stage) told() (all []string) {
	for _, r := range s.server.Requests() {
		body, is := strings.CutPrefix(r, "POST /api/v1/namespaces/shop/events ")
		if !is {
			continue
		}
		var e corev1.Event
		require.NoError(s.t, json.Unmarshal([]byte(body), &e))
		all = append(all, fmt.Sprintf("%s %s %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message))
	}
	return all
}

// TestDecisionsAreToldInEvents once, with their reasons: a start that finds them tells nothing.
func TestDecisionsAreToldInEvents(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	s.taint("m2", "failed")
	s.until("m1:2 m3:2")
	eventually := func(what string) {
		require.Eventually(t, func() bool { return strings.Contains(strings.Join(s.told(), "\n"), what) }, 20*time.Second, time.Millisecond, "%s: %v", what, s.told())
	}
	eventually("ResourceBinding web-deployment EvictionStarted: ")
	eventually("Deployment web EvictionStarted: ")
	eventually("taint failed:NoExecute")
	eventually("ResourceBinding web-deployment ScheduleBindingSucceed: ")
	eventually("EvictWorkloadFromClusterSucceed: ")
	a.stop()
	before := len(s.told())
	a = s.acts(opted).leads()
	a.asked <- func(*deciding) {} // it has looked at all
	a.stop()
	require.Len(t, s.told(), before)
}

func TestWhatWaitsToBeToldIsBounded(t *testing.T) {
	recorder := record.NewFakeRecorder(1000)
	d := &telling{recorder: recorder, noted: map[messages.BindingName][]noted{}, fresh: map[messages.BindingName]bool{}}
	note := func(name string) {
		f := &messages.EvictionStarted{Binding: messages.BindingName(name), Cluster: "m1"}
		d.note(f, journal.Tell(time.Time{}, f))
	}
	for range 2 * mostOfOne {
		note("shop/a")
	}
	for n := range 2 * mostTold {
		note(fmt.Sprint("shop/b", n))
	}
	require.Len(t, d.noted, mostTold)
	require.Len(t, d.fresh, mostTold)
	b := &api.ResourceBinding{}
	b.Namespace, b.Name = "shop", "a"
	d.tell(store.AsBinding(b))
	require.Len(t, recorder.Events, 2*mostOfOne, "each about the binding and its workload")
	d.forget("shop/b0")
	require.Len(t, d.noted, mostTold-2)
	note("shop/c")
	require.Len(t, d.noted, mostTold-1)
}
