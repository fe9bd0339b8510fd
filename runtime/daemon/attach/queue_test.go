package attach

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/fleet/config"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// cluster is a model of an API server with one node, and a queue that is attached to it.
type cluster struct {
	t        *testing.T
	settings messages.Settings
	now      time.Time
	queue    *queue
	taints   []corev1.Taint
	pods     map[messages.PodName]*corev1.Pod
	// writes are what the server has taken, in order; refuse says what it answers in place of taking one.
	writes []string
	refuse func(*request) error
	kinds  []string
	// blocked are the evictions that a budget held back, as they were told of.
	blocked []*messages.PodEvictionBlocked
}

func newCluster(t *testing.T, overrides ...config.Override) *cluster {
	s, problems := config.Resolve(config.Default, overrides)
	require.Empty(t, problems)
	require.Empty(t, Validate(&s))
	c := &cluster{t: t, settings: s, now: start, pods: map[messages.PodName]*corev1.Pod{}, refuse: func(*request) error { return nil }}
	c.restart()
	t.Cleanup(func() { c.queue.decider.close() })
	return c
}

// restart has another process begin, which knows what the server has.
func (c *cluster) restart() {
	if c.queue != nil {
		c.queue.decider.close()
	}
	c.queue = newQueue(newDecider(&c.settings, false, c.hear), func(messages.APIVerb, string, time.Duration) {})
	c.tainted()
}

func (c *cluster) hear(_ time.Time, f messages.Fact) {
	c.kinds = append(c.kinds, f.Kind())
	if b, is := f.(*messages.PodEvictionBlocked); is {
		c.blocked = append(c.blocked, b)
	}
}

func (c *cluster) tainted(keys ...string) {
	if len(keys) > 0 {
		c.taints = nil
	}
	for _, key := range keys {
		c.taints = append(c.taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: c.now}})
	}
	c.queue.decider.setNode("n1", c.taints, c.all())
}

func (c *cluster) untainted() {
	c.taints = nil
	c.queue.decider.setNode("n1", nil, c.all())
}

func (c *cluster) all() (pods []*corev1.Pod) {
	for _, p := range c.pods {
		pods = append(pods, p)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(podName(a), podName(b)) })
	return pods
}

// runs has a pod run that tolerates everything for so many seconds; -1 is forever.
func (c *cluster) runs(name string, seconds int64, edits ...func(*corev1.Pod)) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, UID: types.UID("uid of " + name)}, Spec: corev1.PodSpec{NodeName: "n1"}}
	toleration := corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
	if seconds < 0 {
		toleration.TolerationSeconds = nil
	}
	if seconds != 0 {
		p.Spec.Tolerations = []corev1.Toleration{toleration}
	}
	for _, edit := range edits {
		edit(p)
	}
	c.stored(p)
}

func (c *cluster) stored(p *corev1.Pod) {
	c.pods[podName(p)] = p
	c.queue.hear(podName(p), p)
}

// take is the server's part of a request.
func (c *cluster) take(r *request) error {
	if err := c.refuse(r); err != nil {
		return err
	}
	p := c.pods[r.Pod]
	if p == nil || p.UID != r.UID {
		return apierrors.NewNotFound(corev1.Resource("pods"), string(r.Pod))
	}
	p = p.DeepCopy()
	if r.Verb == messages.VerbPatch {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: r.Reason, Message: r.Message}}
	} else {
		p.DeletionTimestamp = &metav1.Time{Time: c.now}
	}
	c.writes = append(c.writes, fmt.Sprintf("%s %s %s", c.now.Sub(start), r.Verb, r.Pod))
	c.stored(p)
	return nil
}

// settle goes on until nothing is due.
func (c *cluster) settle() {
	for again := true; again; {
		require.NoError(c.t, c.queue.step(c.now))
		sent := c.queue.due(c.now)
		for _, s := range sent {
			c.queue.done(s, c.take(&s.request), c.now)
		}
		next, found := c.queue.next()
		again = len(sent) > 0 || found && !next.After(c.now)
	}
}

// until lets time pass, to so many seconds after the start.
func (c *cluster) until(seconds float64) {
	end := start.Add(time.Duration(seconds * float64(time.Second)))
	for c.settle(); c.now.Before(end); c.settle() {
		next, found := c.queue.next()
		if !found || next.After(end) {
			next = end
		}
		c.now = next
	}
}

func TestAPodIsMarkedAndThenDeletedAtItsDeadline(t *testing.T) {
	c := newCluster(t)
	c.runs("now", 0)
	c.runs("later", 7)
	c.runs("never", -1)
	c.runs("finished", 0, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	c.runs("ending", 0, func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })
	c.runs("elsewhere", 0, func(p *corev1.Pod) { p.Spec.NodeName = "n2" })
	c.tainted("k")
	c.until(60)
	require.Equal(t, []string{"0s patch d/now", "0s delete d/now", "7s patch d/later", "7s delete d/later"}, c.writes)
	require.Equal(t, "deleted because of the taint k:NoExecute", c.pods["d/later"].Status.Conditions[0].Message)
	require.NotContains(t, c.kinds, "EvictionCancelled", "its own deletions are not taken for those of others")
}

func TestAnIdleClusterHasNoMachines(t *testing.T) {
	c := newCluster(t)
	c.runs("a", 0)
	c.runs("b", 5)
	c.until(1)
	require.Empty(t, c.queue.decider.pods)
	c.tainted("k")
	c.until(2)
	require.Len(t, c.queue.decider.pods, 2)
	c.untainted()
	c.until(60)
	require.Empty(t, c.queue.decider.pods)
	require.Empty(t, c.queue.decider.on)
	require.Equal(t, []string{"1s patch d/a", "1s delete d/a"}, c.writes)
}

// TestACrashBetweenAnyTwoWritesLosesNothing and repeats nothing: after so many writes the process is gone with all that it knew, and another
// begins with what the server has.
func TestACrashBetweenAnyTwoWritesLosesNothing(t *testing.T) {
	const writes = 2 * 3
	for crash := range writes + 1 {
		c := newCluster(t)
		c.runs("a", 0)
		c.runs("b", 3)
		c.runs("c", 3)
		c.runs("never", -1)
		c.tainted("k")
		c.refuse = func(*request) error {
			if len(c.writes) == crash {
				return errors.New("crashed")
			}
			return nil
		}
		c.until(3)
		require.Len(t, c.writes, crash)
		c.refuse = func(*request) error { return nil }
		c.restart()
		c.until(60)
		require.ElementsMatch(t, []string{"patch d/a", "delete d/a", "patch d/b", "delete d/b", "patch d/c", "delete d/c"}, names(c.writes), "crash after %d writes", crash)
		require.Nil(t, c.pods["d/never"].DeletionTimestamp)
		for _, p := range []messages.PodName{"d/b", "d/c"} {
			require.False(t, c.pods[p].DeletionTimestamp.Time.Before(start.Add(3*time.Second)))
		}
	}
}

// names are writes without their times.
func names(writes []string) (all []string) {
	for _, w := range writes {
		var at, verb, pod string
		_, err := fmt.Sscan(w, &at, &verb, &pod)
		if err != nil {
			panic(err)
		}
		all = append(all, verb+" "+pod)
	}
	return all
}

func TestTheDeadlineHoldsAcrossRestarts(t *testing.T) {
	c := newCluster(t)
	c.runs("a", 300)
	c.tainted("k")
	for _, at := range []float64{100, 200, 299} {
		c.until(at)
		c.restart()
	}
	c.until(400)
	require.Equal(t, []string{"5m0s patch d/a", "5m0s delete d/a"}, c.writes)
}

func TestTheMoreImportantPodGoesFirst(t *testing.T) {
	c := newCluster(t)
	for i := range 8 { // one at a time
		at := start.Add(time.Duration(i-8) * time.Second)
		c.queue.window.Overloaded(at, at, 0)
	}
	for name, priority := range map[string]int32{"low": -5, "middle": 0, "high": 1000} {
		c.runs(name, 0, func(p *corev1.Pod) { p.Spec.Priority = &priority })
	}
	c.tainted("k")
	c.until(1)
	require.Equal(t, []string{
		"0s patch d/high", "0s delete d/high", "0s patch d/middle", "0s delete d/middle", "0s patch d/low", "0s delete d/low",
	}, c.writes)
}

// TestATaintThatGoesTakesBackWhatHasNotBeenDone, at every stage.
func TestATaintThatGoesTakesBackWhatHasNotBeenDone(t *testing.T) {
	for stage, left := range map[messages.APIVerb][]string{messages.VerbPatch: {"0s patch d/a"}, messages.VerbDelete: {"0s patch d/a", "0s delete d/a"}} {
		c := newCluster(t)
		c.runs("a", 0)
		c.tainted("k")
		c.refuse = func(r *request) error {
			if r.Verb == stage {
				c.untainted() // while the request is under way
			}
			return nil
		}
		c.until(60)
		require.Equal(t, left, c.writes)
	}
	c := newCluster(t)
	c.runs("a", 0)
	c.tainted("k")
	require.NoError(t, c.queue.step(c.now))
	require.Len(t, c.queue.waiting, 1)
	c.untainted()
	c.until(60)
	require.Empty(t, c.writes, "it was not made")
}

func TestAnotherPodOfThatNameIsNotTouched(t *testing.T) {
	for _, answer := range []error{nil, fmt.Errorf("%w: uid", errReplaced)} {
		c := newCluster(t)
		c.runs("a", 0)
		c.tainted("k")
		c.refuse = func(r *request) error {
			if r.UID != "uid of a" {
				return nil
			}
			return answer
		}
		next := func(p *corev1.Pod) { p.UID = "another" }
		require.NoError(t, c.queue.step(c.now))
		for _, s := range c.queue.due(c.now) { // it is replaced while the request is under way
			c.runs("a", 9, next)
			c.queue.done(s, c.take(&s.request), c.now)
		}
		c.until(60)
		require.Equal(t, []string{"9s patch d/a", "9s delete d/a"}, c.writes)
	}
}

func TestAFailedRequestIsMadeAgain(t *testing.T) {
	c := newCluster(t)
	c.runs("a", 0)
	c.tainted("k")
	left := 4
	c.refuse = func(r *request) error {
		if left == 0 {
			return nil
		}
		left--
		return apierrors.NewConflict(corev1.Resource("pods"), "a", errors.New("the object has been modified"))
	}
	c.until(1)
	require.Equal(t, []string{"150ms patch d/a", "150ms delete d/a"}, c.writes)
	require.Equal(t, []string{"EvictionFailed", "EvictionFailed", "EvictionFailed", "EvictionFailed", "Evicted", "PodDeletionRequested"}, evictions(c.kinds))
}

func evictions(kinds []string) []string {
	for i, k := range kinds {
		if short := map[string]string{"PodEvictionFailed": "EvictionFailed", "PodEvicted": "Evicted"}[k]; short != "" {
			kinds[i] = short
		}
	}
	return kinds
}

func throttled(seconds int32) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests,
		Details: &metav1.StatusDetails{RetryAfterSeconds: seconds},
	}}
}

// TestAServerThatAsksForAPauseGetsIt, for all requests, and fewer at the same time after it.
func TestAServerThatAsksForAPauseGetsIt(t *testing.T) {
	c := newCluster(t)
	for i := range 200 {
		c.runs(fmt.Sprintf("p%03d", i), 0)
	}
	c.tainted("k")
	asked := 0
	c.refuse = func(*request) error {
		if asked++; c.now.Before(start.Add(3 * time.Second)) {
			return throttled(3)
		}
		return nil
	}
	c.until(2)
	require.Equal(t, first, asked)
	require.Equal(t, first/2, c.queue.window.Size(), "one overload counts once")
	c.until(4)
	require.Len(t, c.writes, 400)
	require.NotContains(t, c.kinds, "PodEvictionFailed", "no machine hears of it")
}

// violated is the answer of the Eviction API where a budget does not allow an eviction.
func violated() *apierrors.StatusError {
	e := throttled(0)
	e.ErrStatus.Message = "Cannot evict pod as it would violate the pod's disruption budget."
	e.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: "The disruption budget b needs 2 healthy pods and has 2 currently"}}
	return e
}

func TestABudgetIsAskedAgainUntilItAllows(t *testing.T) {
	c := newCluster(t, config.Override{Field: "podEvictionsHonourBudgets", Value: true, Source: "test"})
	c.runs("a", 0)
	c.tainted("k")
	blocked := violated()
	c.refuse = func(r *request) error {
		require.Equal(t, messages.VerbEvict, r.Verb)
		if c.now.Before(start.Add(12 * time.Second)) {
			return blocked
		}
		return nil
	}
	c.until(60)
	require.Equal(t, []string{"15s evict d/a"}, c.writes)
	require.Equal(t, []string{"EvictionBlocked", "Evicted"}, []string{c.kinds[0][3:], c.kinds[1][3:]})
	require.Equal(t, []*messages.PodEvictionBlocked{{
		Pod: "d/a", Node: "n1", By: "taint", Error: blocked.ErrStatus.Message, Detail: blocked.ErrStatus.Details.Causes[0].Message,
	}}, c.blocked, "told once, with the budget and what it lacks")
	require.Equal(t, first, c.queue.window.Size(), "a budget says nothing of the load of the server")
}

// TestWhatABudgetHoldsBackDelaysNoOther, whatever its priority: it is asked for again after all others.
func TestWhatABudgetHoldsBackDelaysNoOther(t *testing.T) {
	c := newCluster(t, config.Override{Field: "podEvictionsHonourBudgets", Value: true, Source: "test"})
	high := int32(1000)
	for i := range 3 {
		c.runs(fmt.Sprintf("held%d", i), 0, func(p *corev1.Pod) { p.Spec.Priority = &high })
		c.runs(fmt.Sprintf("free%d", i), 5)
	}
	c.tainted("k")
	var after []string
	c.refuse = func(r *request) error {
		held := strings.Contains(string(r.Pod), "held")
		if c.now.After(start) {
			after = append(after, strings.TrimRight(string(r.Pod), "012"))
		}
		if held {
			return violated()
		}
		return nil
	}
	c.until(6)
	require.Equal(t, []string{"d/free", "d/free", "d/free", "d/held", "d/held", "d/held"}, after)
	c.untainted()
	c.until(7)
	require.Empty(t, c.queue.decider.refused)
}

// TestManyThatBudgetsHoldBackDoNotBusyTheServer: those that were refused are asked for again a hundred in a second, however many they are.
func TestManyThatBudgetsHoldBackDoNotBusyTheServer(t *testing.T) {
	c := newCluster(t, config.Override{Field: "podEvictionsHonourBudgets", Value: true, Source: "test"})
	const pods = 1000
	for i := range pods {
		c.runs(fmt.Sprintf("p%04d", i), 0)
	}
	c.tainted("k")
	asked := map[messages.PodName]int{}
	total := 0
	c.refuse = func(r *request) error {
		asked[r.Pod]++
		total++
		return violated()
	}
	c.until(60)
	require.LessOrEqual(t, total, pods+60*mostAgain+pods/2, "the first answers know of few others")
	for name, n := range asked {
		require.GreaterOrEqual(t, n, 4, name)
	}
}

func TestSettingsThatKnowNoExactDeadlinesAreRefused(t *testing.T) {
	s, problems := config.Resolve("kubernetes", nil)
	require.Empty(t, problems)
	require.ErrorContains(t, errors.Join(Validate(&s)...), "exactPodDeadlines: it must be true with --attach, as in profile leeward")
}

var first = new(writing.NewWindow()).Size()
