package attach

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/shadow"
)

// entry is a part of managedFields.
func entry(manager string, at time.Time, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: at}, FieldsV1: metav1.NewFieldsV1(fields)}
}

// marked is a pod that was marked by a field manager at an instant; without one, it is not known by which.
func marked(by string, at time.Time, message string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "a", UID: "u1"}, Spec: corev1.PodSpec{NodeName: "n1"}}
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: corev1.ConditionTrue},
		{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: byTaintManager, Message: message, LastTransitionTime: metav1.Time{Time: at}},
	}
	if by != "" {
		p.ManagedFields = []metav1.ManagedFieldsEntry{
			entry("kubelet", at.Add(time.Hour), `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{}}}}`), entry(by, at, ofMark),
		}
	}
	return p
}

const theirWords = "Taint manager: deleting due to NoExecute taint"

func TestAMarkSaysWhoWroteIt(t *testing.T) {
	for _, c := range []struct{ by, message, want string }{
		{"kube-controller-manager", theirWords, "kube-controller-manager"},
		{"leewardd", theirWords, "leewardd"},
		{"", theirWords, unknown},
		{"", "deleted because of the taint k:NoExecute", "leewardd"},
		{"other", "deleted because of the taint k:NoExecute", "other"},
	} {
		p := marked(c.by, start, c.message)
		lean := leanPod(p)
		require.Equal(t, c.want, markOf(p).by)
		require.Equal(t, c.want, markOf(lean).by)
		require.Equal(t, lean, leanPod(lean), "client-go may do it twice")
		require.Len(t, lean.Status.Conditions, 1)
	}
	p := marked("kube-controller-manager", start, theirWords)
	p.Status.Conditions[1].Status = corev1.ConditionFalse
	require.Nil(t, markOf(p))
	require.Empty(t, leanPod(p).ManagedFields)
	throttled := marked("kube-controller-manager", start, theirWords)
	throttled.ManagedFields[1].Time = &metav1.Time{Time: start.Add(150 * time.Second)}
	require.Equal(t, start.Add(150*time.Second), markOf(leanPod(throttled)).at, "it counts from when it was written")
	require.NotNil(t, rivalOf(throttled, start.Add(time.Minute)))
}

func TestATaintWithoutATimeCountsFromWhenTaintsWereWrittenLast(t *testing.T) {
	added := metav1.Time{Time: start}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{
		{Key: "with", Effect: corev1.TaintEffectNoExecute, TimeAdded: &added}, {Key: "without", Effect: corev1.TaintEffectNoExecute},
		{Key: "other", Effect: corev1.TaintEffectNoSchedule},
	}}}
	require.Nil(t, noExecute(n)[1].TimeAdded, "it is not known")
	n.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("kubectl-taint", start.Add(time.Minute), `{"f:spec":{"f:taints":{}}}`), entry("kubelet", start.Add(time.Hour), `{"f:status":{}}`),
		entry("older", start.Add(time.Second), `{"f:spec":{"f:taints":{}}}`),
	}
	lean := leanNode(n)
	require.Len(t, lean.Spec.Taints, 2)
	require.Equal(t, start, lean.Spec.Taints[0].TimeAdded.Time)
	require.Equal(t, start.Add(time.Minute), lean.Spec.Taints[1].TimeAdded.Time)
	require.Equal(t, lean, leanNode(lean), "client-go may do it twice")
	require.Nil(t, n.Spec.Taints[1].TimeAdded, "the object of others is not changed")
}

func TestTheFlagOfTheControllerManagerTells(t *testing.T) {
	for _, c := range []struct {
		words []string
		runs  bool
	}{
		{[]string{"kube-controller-manager"}, true},
		{[]string{"/usr/bin/kube-controller-manager", "--controllers=*,bootstrapsigner,tokencleaner"}, true},
		{[]string{"kube-controller-manager", "--controllers=*,-taint-eviction-controller"}, false},
		{[]string{"kube-controller-manager", "--controllers", "-taint-eviction-controller,*"}, false},
		{[]string{"kube-controller-manager", "--controllers=deployment"}, false},
		{[]string{"kube-controller-manager", "--controllers=deployment,taint-eviction-controller"}, true},
		{[]string{"kube-controller-manager", "--controllers"}, true},
	} {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager-cp1"}}
		p.Spec.Containers = []corev1.Container{{Name: "side", Command: []string{"sh"}}, {Name: "c", Command: c.words}}
		p = leanPod(p)
		require.Equal(t, c.runs, rivalOf(p, start) != nil, c.words)
		p.Namespace = "default"
		require.Nil(t, rivalOf(p, start), "a pod of a user of that name is none")
	}
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager-cp1"}}
	require.Nil(t, rivalOf(p, start), "its command does not say")
}

func TestARivalIsWhoMarkedAPodLately(t *testing.T) {
	require.EqualError(t, rivalOf(marked("kube-controller-manager", start, theirWords), start.Add(500*time.Millisecond)),
		"another controller evicts pods for NoExecute taints here: kube-controller-manager (it marked pod d/a at 2026-01-01T12:00:00Z; Leeward acts when none was marked for 2m0s); "+
			"start the kube-controller-manager with --controllers=*,-taint-eviction-controller, then start leewardd again")
	require.Nil(t, rivalOf(marked("kube-controller-manager", start, theirWords), start.Add(time.Second)), "that was before")
	require.Nil(t, rivalOf(marked("leewardd", start, theirWords), start))
	require.NotNil(t, rivalOf(marked("", start, theirWords), start))
}

// observer compares evictions.
type observer struct {
	*comparing
	told []*shadow.Comparison
}

func newObserver() *observer {
	o := &observer{}
	o.comparing = newComparing(func(c *shadow.Comparison) { o.told = append(o.told, c) })
	return o
}

func (o *observer) hears(at time.Time, f messages.Fact, p *corev1.Pod) {
	o.hear(at, f, p, journal.Tell(time.Time{}, f))
	o.judge(at)
}

func TestEvictionsAreCompared(t *testing.T) {
	plain := func() *corev1.Pod { p := marked("", start, ""); p.Status.Conditions = nil; return p }
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	scheduled := &messages.PodEvictionScheduled{Pod: "d/a", Node: "n1", Deadline: at(300)}
	evicted := &messages.PodEvicted{Pod: "d/a", Node: "n1"}
	cancelled := &messages.PodEvictionCancelled{Pod: "d/a", Node: "n1"}
	theirs := func(seconds float64) *corev1.Pod { return marked("kube-controller-manager", at(seconds), theirWords) }
	for name, c := range map[string]struct {
		play func(*observer)
		want []shadow.Verdict
	}{
		"both in time":                  {func(o *observer) { o.hears(at(1), evicted, plain()); o.hides(theirs(2), at(2)); o.judge(at(2)) }, []shadow.Verdict{shadow.Agreed}},
		"the other later":               {func(o *observer) { o.hears(at(1), evicted, plain()); o.hides(theirs(9), at(9)); o.judge(at(9)) }, []shadow.Verdict{shadow.Later}},
		"the other before the deadline": {func(o *observer) { o.hears(at(1), scheduled, plain()); o.hides(theirs(9), at(9)); o.judge(at(9)) }, []shadow.Verdict{shadow.Earlier}},
		"the other alone":               {func(o *observer) { o.hides(theirs(9), at(9)); o.judge(at(9)); o.judge(at(14)) }, []shadow.Verdict{shadow.Unasked}},
		"the other first, and the taint is heard of late": {func(o *observer) { o.hides(theirs(9), at(9)); o.judge(at(9)); o.hears(at(10), evicted, plain()) }, []shadow.Verdict{shadow.Agreed}},
		"the other after it was cancelled": {func(o *observer) {
			o.hears(at(1), scheduled, plain())
			o.hears(at(2), cancelled, plain())
			o.hides(theirs(9), at(9))
			o.judge(at(14))
		}, []shadow.Verdict{shadow.Unasked}},
		"the other never":   {func(o *observer) { o.hears(at(1), evicted, plain()); o.judge(at(600)); o.judge(at(601)) }, []shadow.Verdict{shadow.Never}},
		"deleted by a user": {func(o *observer) { o.hears(at(1), evicted, plain()); o.gone(plain()); o.judge(at(9999)) }, nil},
		"once": {func(o *observer) {
			o.hears(at(1), evicted, plain())
			o.hides(theirs(2), at(2))
			o.judge(at(2))
			o.hides(theirs(2), at(3))
			o.judge(at(99))
		}, []shadow.Verdict{shadow.Agreed}},
		"marked before the start": {func(o *observer) {
			o.began(theirs(0))
			o.hides(theirs(0), at(1))
			o.hears(at(2), evicted, plain())
			o.judge(at(9999))
		}, nil},
		"another pod of that name": {func(o *observer) {
			o.hears(at(1), evicted, plain())
			o.gone(plain())
			p := theirs(9)
			p.UID = "u2"
			o.hides(p, at(9))
			o.judge(at(14))
		}, []shadow.Verdict{shadow.Unasked}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newObserver()
			c.play(o)
			var got []shadow.Verdict
			for _, told := range o.told {
				got = append(got, told.Verdict)
				require.Equal(t, "Pod d/a", told.Workload)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestTheOthersEvictionIsKeptFromTheMachines, and a deletion by users is not.
func TestTheOthersEvictionIsKeptFromTheMachines(t *testing.T) {
	o := newObserver()
	p := marked("kube-controller-manager", start, theirWords)
	p.DeletionTimestamp = &metav1.Time{Time: start}
	seen := o.hides(p, start)
	require.Nil(t, seen.DeletionTimestamp)
	require.Empty(t, seen.Status.Conditions)
	require.NotNil(t, p.DeletionTimestamp, "the object of others is not changed")
	p.Status.Conditions = nil
	require.Equal(t, p, o.hides(p, start))
}

func TestComparisonsAreBounded(t *testing.T) {
	o := newObserver()
	for i := range mostCompared {
		o.open[messages.PodName(strconv.Itoa(i))] = &comparison{pod: &corev1.Pod{}, until: start.Add(time.Hour)}
	}
	o.hides(marked("kube-controller-manager", start, theirWords), start)
	require.LessOrEqual(t, len(o.open), mostCompared)
	require.Nil(t, o.open["d/a"])
}

func TestAWorkloadIsWhatControlsAPod(t *testing.T) {
	p := marked("", start, "")
	require.Equal(t, "Pod d/a", workloadOf(p))
	p.OwnerReferences = []metav1.OwnerReference{{Kind: "X", Name: "x"}, {Kind: "ReplicaSet", Name: "web-1", Controller: ptr.To(true)}}
	require.Equal(t, "ReplicaSet d/web-1", workloadOf(p))
}
