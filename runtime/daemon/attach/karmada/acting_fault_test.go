package karmada

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ends is a workload's binding, once Karmada's controllers have done what they do, but for what counts writes.
func (s *stage) ends(name string) map[string]any {
	s.karmada()
	o := s.server.Get(ofBinding + name + "-deployment").DeepCopy()
	o.SetResourceVersion("")
	o.SetManagedFields(nil)
	return o.Object
}

// failsOver fails m2 and waits until web has moved, or a daemon is dead.
func (s *stage) failsOver(a *actor) {
	s.t.Helper()
	dead := func() bool {
		a.faults.mu.Lock()
		defer a.faults.mu.Unlock()
		return a.faults.dead
	}
	require.Eventually(s.t, func() bool {
		s.karmada()
		return dead() || a.began.Load() && s.is("web") == "m1:2 m2:2"
	}, 20*time.Second, time.Millisecond, "%s", s)
	s.taint("m2", "failed")
	require.Eventually(s.t, func() bool {
		s.karmada()
		return dead() || s.is("web") == "m1:2 m3:2"
	}, 20*time.Second, time.Millisecond, "%s", s)
}

// TestADaemonThatIsKilledBetweenAnyTwoWritesLeavesNothingHalfDone: whichever write is its last, and whether or not the server got it, the
// next one ends where an undisturbed one does.
func TestADaemonThatIsKilledBetweenAnyTwoWritesLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	whole := newStage(t, opted, "web")
	undisturbed := whole.acts(opted)
	whole.failsOver(undisturbed)
	undisturbed.stop()
	require.Equal(t, "m1:2 m3:2", whole.is("web"))
	for last := 1; last <= 6; last++ {
		if testing.Short() && last%2 == 0 { // each takes its time under the race detector
			continue
		}
		for _, lost := range []bool{false, true} {
			t.Run(fmt.Sprintf("after %d, lost %t", last, lost), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, opted, "web")
				a := s.acts(opted, func(_ *Config, f *faults) { f.dies, f.loses = last, lost })
				s.failsOver(a)
				a.stop()
				if lease := ownLease; s.server.Get(lease) != nil {
					s.server.Remove(lease) // it has run out
				}
				s.acts(opted)
				s.taint("m2", "failed")
				s.until("m1:2 m3:2")
				require.Equal(t, whole.ends("web"), s.ends("web"))
			})
		}
	}
}

// TestConflictsAreDecidedAgain: whenever a daemon writes, another writer was there just before.
func TestConflictsAreDecidedAgain(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	storm := 0
	a := s.acts(opted, func(_ *Config, f *faults) {
		f.refuses = func(n int) *http.Response {
			if n%4 != 0 {
				storm++
				s.server.Change("", ofBinding+"web-deployment", func(o *unstructured.Unstructured) {
					o.SetLabels(map[string]string{"propagationpolicy.karmada.io/permanent-id": "x", "storm": fmt.Sprint(n)})
				})
			}
			return nil
		}
	})
	s.failsOver(a)
	a.stop()
	require.Equal(t, "m1:2 m3:2", s.is("web"))
	require.Greater(t, storm, 8)
	require.GreaterOrEqual(t, a.faults.conflicts, storm)
}

// TestAServerThatAsksForAPauseGetsIt: it gets no second request before that is over, and the decision is written then.
func TestAServerThatAsksForAPauseGetsIt(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	a := s.acts(opted, func(_ *Config, f *faults) {
		f.refuses = func(n int) *http.Response {
			if n > 1 {
				return nil
			}
			body, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: 429, Reason: metav1.StatusReasonTooManyRequests, Details: &metav1.StatusDetails{RetryAfterSeconds: 30}})
			return &http.Response{StatusCode: 429, Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"30"}}, Body: io.NopCloser(strings.NewReader(string(body)))}
		}
	}).leads()
	a.refused()
	s.clock.Add(29 * time.Second)
	a.look(func(*deciding) {})
	a.look(func(*deciding) {})
	require.Equal(t, 1, a.faults.count())
	s.clock.Add(time.Second)
	require.Eventually(t, func() bool {
		a.look(func(*deciding) {}) // it may have set its alarm by the time before
		return s.is("web") == "m1:2 m2:2"
	}, 20*time.Second, time.Millisecond)
}

// refused waits until the first request was made and its refusal was heard: from then on there is a pause.
func (a *actor) refused() {
	a.stage.t.Helper()
	heard := func() (all bool) {
		a.look(func(d *deciding) { all = a.faults.count() == 1 && d.acting.writes.underWay == 0 })
		return all
	}
	require.Eventually(a.stage.t, heard, 20*time.Second, time.Millisecond)
}

// TestAWriteThatIsRefusedIsMadeAgain: by a webhook, for a token that has expired, or because the server fails. It comes back with pauses, and
// the decision is written.
func TestAWriteThatIsRefusedIsMadeAgain(t *testing.T) {
	t.Parallel()
	for code, reason := range map[int32]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusUnauthorized: metav1.StatusReasonUnauthorized, http.StatusInternalServerError: metav1.StatusReasonInternalError,
	} { // order-free: each by itself
		const times = 3
		s := newStage(t, opted, "web")
		a := s.acts(opted, func(_ *Config, f *faults) {
			f.refuses = func(n int) *http.Response {
				if n > times {
					return nil
				}
				body, _ := json.Marshal(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason, Message: "the webhook says no"})
				return &http.Response{StatusCode: int(code), Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(body)))}
			}
		}).leads()
		a.refused()
		a.look(func(*deciding) {})
		a.look(func(*deciding) {})
		require.Equal(t, 1, a.faults.count(), "there is a pause")
		require.Eventually(t, func() bool {
			s.clock.Add(firstPause)
			return s.is("web") == "m1:2 m2:2"
		}, 20*time.Second, time.Millisecond)
		require.Equal(t, times, strings.Count(a.log.String(), "a decision was not written, and is tried again"))
		a.stop()
	}
}

// TestOneOfSeveralActs: the second takes over when the first is gone, and goes on with what it began.
func TestOneOfSeveralActs(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	first := s.acts(opted).leads()
	s.until("m1:2 m2:2")
	second := s.acts(opted)
	require.Eventually(t, func() bool { return second.Ready() == nil }, 20*time.Second, time.Millisecond)
	require.False(t, second.began.Load())
	s.silent["m3"] = true
	s.taint("m2", "failed")
	s.until("m1:2 m3:2 -m2")
	require.Zero(t, second.faults.count())
	first.stop()
	second.leads()
	s.heals("m3")
	s.until("m1:2 m3:2")
}

// TestFieldsThatAreNotKnownSurvive: of the object, its status, and an item of a list of which Leeward writes others.
func TestFieldsThatAreNotKnownSurvive(t *testing.T) {
	t.Parallel()
	s := newStage(t, opted, "web")
	before := s.ends("web")
	a := s.acts(opted)
	s.failsOver(a)
	a.stop()
	after := s.ends("web")
	for _, field := range Fields {
		for _, o := range []map[string]any{before, after} {
			path := strings.Split(strings.TrimPrefix(field.Path, "/"), "/")
			for i := range path {
				path[i] = strings.ReplaceAll(path[i], "~1", "/")
			}
			unstructured.RemoveNestedField(o, path...)
		}
	}
	for _, o := range []map[string]any{before, after} { // which Karmada's controllers and the server write
		unstructured.RemoveNestedField(o, "status", "aggregatedStatus")
		unstructured.RemoveNestedField(o, "metadata", "generation")
	}
	require.Equal(t, before, after)
	clusters, _, _ := unstructured.NestedSlice(s.server.Get(ofBinding+"web-deployment").Object, "spec", "clusters")
	require.Equal(t, map[string]any{"name": "m1", "replicas": int64(2), "ofTheFuture": "kept"}, clusters[0])
}
