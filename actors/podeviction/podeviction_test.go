package podeviction_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/apiclient"
	"leeward/actors/podeviction"
	"leeward/messages"
)

const (
	self   messages.PodName    = "d/web"
	client messages.ClientName = "taint-eviction-controller"
	node   messages.NodeName   = "n1"
)

var (
	podAt    = messages.Address{Kind: messages.KindPodEviction, Name: string(self)}
	clientAt = messages.Address{Kind: messages.KindAPIClient, Name: string(client)}

	kubernetes = podeviction.Rules{Client: client}
	leeward    = podeviction.Rules{
		Exact: true, Match: messages.MatchMinimum, UntilDone: true, SparesFinished: true, NamesTaint: true, Client: client,
	}
)

// fleet is one pod with a client that has no limit.
type fleet struct {
	*actorstest.Network
	t *testing.T
	// deleted are the seconds at which the pod was deleted, all facts what was recorded since the start.
	deleted []float64
	all     []messages.Fact
}

func newFleet(t *testing.T, r podeviction.Rules) *fleet {
	f := &fleet{Network: actorstest.NewNetwork(t, nil), t: t}
	actorstest.Join(f.Network, podAt, podeviction.New(self, r))
	actorstest.Join(f.Network, clientAt, apiclient.New(apiclient.Limits{}))
	return f
}

// tell tells the eviction, at the present instant.
func (f *fleet) tell(ms ...messages.Message) {
	f.Post(podAt, ms...)
	f.run(0)
}

// run lets time pass, to this many seconds since the start.
func (f *fleet) until(seconds float64) {
	f.run(actorstest.Start.Add(time.Duration(seconds * float64(time.Second))).Sub(f.Now()))
}

func (f *fleet) run(by time.Duration) {
	const step = 250 * time.Millisecond
	for {
		d := min(by, step)
		f.Advance(d)
		f.all = append(f.all, f.Facts()...)
		for range actorstest.FactsOf[*messages.PodDeletionRequested](f.Facts()) {
			f.deleted = append(f.deleted, f.Now().Sub(actorstest.Start).Seconds())
		}
		if by -= d; by <= 0 {
			return
		}
	}
}

// kinds are the kinds of all facts so far.
func (f *fleet) kinds() (kinds []string) {
	for _, fact := range f.all {
		kinds = append(kinds, strings.TrimPrefix(fact.Kind(), "Pod"))
	}
	return kinds
}

func tainted(keys ...string) *messages.NodeTaintsSeen {
	m := &messages.NodeTaintsSeen{Node: node}
	for _, k := range keys {
		key, value, _ := strings.Cut(k, "=")
		m.Taints = append(m.Taints, corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffectNoExecute})
	}
	return m
}

// tolerates is a toleration of a key: for so many seconds, or without a limit.
func tolerates(key string, seconds ...int64) corev1.Toleration {
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	if key, value, is := strings.Cut(key, "="); is {
		t.Key, t.Value, t.Operator = key, value, corev1.TolerationOpEqual
	}
	if len(seconds) > 0 {
		t.TolerationSeconds = &seconds[0]
	}
	return t
}

func pod(tolerations ...corev1.Toleration) *messages.PodStored {
	return like(func(*corev1.Pod) {}, tolerations...)
}

func unbound(tolerations ...corev1.Toleration) *messages.PodStored {
	return like(func(p *corev1.Pod) { p.Spec.NodeName = "" }, tolerations...)
}

func like(change func(*corev1.Pod), tolerations ...corev1.Toleration) *messages.PodStored {
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "web", UID: "u1"},
		Spec:       corev1.PodSpec{NodeName: string(node), Tolerations: tolerations},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	change(object)
	return messages.NewPodStored(object)
}

// event is what the eviction hears at a second.
type event struct {
	at float64
	m  messages.Message
}

// eviction is a row of the table: when a pod is deleted in Kubernetes 1.37.1, and when its documents promise it, in seconds from the first
// taint.
type eviction struct {
	name             string
	pod              *messages.PodStored
	events           []event
	seen, documented []float64
}

// under is when the pod is deleted under some rules.
func (c *eviction) under(t *testing.T, r podeviction.Rules) []float64 {
	f := newFleet(t, r)
	f.tell(c.pod)
	for _, e := range c.events {
		f.until(e.at)
		f.tell(e.m)
	}
	f.until(20)
	return f.deleted
}

func at(seconds ...float64) []float64 { return seconds }

func evictions() []eviction {
	aged := tainted("t1")
	aged.Taints[0].TimeAdded = &metav1.Time{Time: actorstest.Start.Add(-time.Hour)}
	finished := like(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	mirror := like(func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} })
	ending := like(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: actorstest.Start} })
	both := pod(tolerates("t1", 2), tolerates("t2", 6))
	var never []float64
	return []eviction{
		{"a shorter toleration of a second taint", pod(tolerates("t1", 6), tolerates("t2", 1)), []event{{0, tainted("t1")}, {2, tainted("t1", "t2")}}, at(6), at(3)},
		{"the timed taint goes", pod(tolerates("t1", 2), tolerates("t2")), []event{{0, tainted("t1", "t2")}, {1, tainted("t2")}}, never, never},
		{"the taint of the shorter toleration goes", both, []event{{0, tainted("t1", "t2")}, {1, tainted("t2")}}, at(2), at(6)},
		{"the seconds are shortened", pod(tolerates("t1", 6)), []event{{0, tainted("t1")}, {2, pod(tolerates("t1", 1))}}, at(6), at(2)},
		{"the seconds are lengthened", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {2, pod(tolerates("t1", 7))}}, at(3), at(7)},
		{"the seconds are removed", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {1, pod(tolerates("t1"))}}, never, never},
		{"the taint goes and comes back", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {1, tainted()}, {2, tainted("t1")}}, at(5), at(5)},
		{"the taint is an hour old", pod(tolerates("t1", 3)), []event{{0, aged}}, at(3), at(0)},
		{"negative seconds", pod(tolerates("t1", -5)), []event{{0, tainted("t1")}}, at(0), at(0)},
		{"no seconds", pod(tolerates("t1", 0)), []event{{0, tainted("t1")}}, at(0), at(0)},
		{"the value changes", pod(tolerates("t1=a")), []event{{0, tainted("t1=a")}, {2, tainted("t1=b")}}, at(2), at(2)},
		{"an untolerated taint comes", pod(tolerates("t1", 6)), []event{{0, tainted("t1")}, {2, tainted("t1", "t2")}}, at(2), at(2)},
		{"a pod that has finished", finished, []event{{0, tainted("t1")}}, at(0), never},
		{"a mirror pod", mirror, []event{{0, tainted("t1")}}, at(0), never},
		{"a pod that is being deleted", ending, []event{{0, tainted("t1")}}, at(0), never},
		{"a pod that is deleted meanwhile", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {1, &messages.PodForgotten{}}}, never, never},
		{"everything tolerated first", pod(tolerates(""), tolerates("t1", 2)), []event{{0, tainted("t1")}}, never, at(2)},
		{"everything tolerated last", pod(tolerates("t1", 2), tolerates("")), []event{{0, tainted("t1")}}, at(2), at(2)},
		{"a swap of taints keeps the clock", pod(tolerates("t1", 4), tolerates("t2", 2)), []event{{0, tainted("t1")}, {1, tainted("t2")}}, at(4), at(3)},
		{"another taint for a pod that was evicted", pod(), []event{{0, tainted("t1")}, {2, tainted("t1", "t2")}}, at(0, 2), at(0)},
		{"a taint that goes and comes back for a pod that was evicted", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {4, tainted()}, {5, tainted("t1")}}, at(3, 8), at(3)},
		{"a node that is deleted", pod(tolerates("t1", 3)), []event{{0, tainted("t1")}, {1, &messages.NodeTaintsSeen{Node: node, Gone: true}}}, at(3), at(3)},
		{"the toleration is removed", pod(tolerates("t1", 9)), []event{{0, tainted("t1")}, {2, pod()}}, at(2), at(2)},
		{"the toleration is for another taint", pod(tolerates("t2")), []event{{0, tainted("t1")}}, at(0), at(0)},
		{"it is bound to a tainted node", unbound(), []event{{0, tainted("t1")}, {2, pod()}}, at(2), at(2)},
		{"it is bound to a tainted node, and tolerates that for a time", unbound(tolerates("t1", 3)), []event{{0, tainted("t1")}, {2, pod(tolerates("t1", 3))}}, at(5), at(3)},
		{"a taint for a time comes beside one without an end, and goes", pod(tolerates("t1"), tolerates("t2", 4)), []event{{0, tainted()}, {1, tainted("t1")}, {2, tainted("t1", "t2")}, {3, tainted("t1")}}, never, never},
		{"two taints, and the first of their times counts", pod(tolerates("t1", 2), tolerates("t2", 8)), []event{{0, tainted("t1", "t2")}}, at(2), at(2)},
		{"another node's taints", pod(), []event{{0, &messages.NodeTaintsSeen{Node: "n2", Taints: tainted("t1").Taints}}}, never, never},
	}
}

func TestTheTableOfEvictions(t *testing.T) {
	for _, c := range evictions() {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.seen, c.under(t, kubernetes), "kubernetes")
			require.Equal(t, c.documented, c.under(t, leeward), "leeward")
		})
	}
}

// TestEachCureIsARuleOfItsOwn: beside the timers of Kubernetes, each changes the rows that it is about, and no other.
func TestEachCureIsARuleOfItsOwn(t *testing.T) {
	for _, cure := range []struct {
		name  string
		rules podeviction.Rules
		cured map[string][]float64
	}{
		{"exact deadlines", podeviction.Rules{Exact: true, Client: client}, map[string][]float64{
			"a shorter toleration of a second taint": at(3), "the taint of the shorter toleration goes": at(6), "the seconds are shortened": at(2),
			"the seconds are lengthened": at(7), "the taint is an hour old": at(0), "a swap of taints keeps the clock": at(3),
			"another taint for a pod that was evicted": at(0), "a taint that goes and comes back for a pod that was evicted": at(3),
			"it is bound to a tainted node, and tolerates that for a time": at(3),
		}},
		{"the shortest toleration", podeviction.Rules{Match: messages.MatchMinimum, Client: client}, map[string][]float64{
			"everything tolerated first": at(2),
		}},
		{"finished pods are spared", podeviction.Rules{SparesFinished: true, Client: client}, map[string][]float64{
			"a pod that has finished": nil, "a mirror pod": nil, "a pod that is being deleted": nil,
		}},
		{"tried until it is done", podeviction.Rules{UntilDone: true, Client: client}, nil},
		{"the taint is named", podeviction.Rules{NamesTaint: true, Client: client}, nil},
	} {
		t.Run(cure.name, func(t *testing.T) {
			cured := map[string][]float64{}
			for _, c := range evictions() {
				if got := c.under(t, cure.rules); !slices.Equal(got, c.seen) {
					cured[c.name] = got
				}
			}
			require.Len(t, cured, len(cure.cured), "%v", cured)
			for row, want := range cure.cured {
				got, changed := cured[row]
				require.True(t, changed, row)
				require.Equal(t, want, got, row)
			}
		})
	}
}

// TestAPodThatFinishesMeanwhileIsSpared, whatever the timers, and so is one that is tried again and again.
func TestAPodThatFinishesMeanwhileIsSpared(t *testing.T) {
	spares := podeviction.Rules{SparesFinished: true, UntilDone: true, Client: client}
	f := newFleet(t, spares)
	f.tell(pod(tolerates("t1", 3)), tainted("t1"))
	f.until(1)
	f.tell(like(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, tolerates("t1", 3)))
	f.until(9)
	require.Equal(t, []string{"EvictionScheduled", "EvictionCancelled"}, f.kinds())
	f.Sleeps()

	f = newFleet(t, spares)
	f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbGet, Error: "busy"})
	f.tell(pod(), tainted("t1"))
	f.tell(like(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }))
	require.Equal(t, []string{"EvictionFailed", "EvictionCancelled"}, f.kinds())
	f.Sleeps()
}

// TestAnExactEvictionThatWasGivenUpBeginsAgainWhenSomethingChanges, where it is not tried until it is done.
func TestAnExactEvictionThatWasGivenUpBeginsAgainWhenSomethingChanges(t *testing.T) {
	f := newFleet(t, podeviction.Rules{Exact: true, Client: client})
	f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbGet, Error: "busy"})
	f.tell(pod(), tainted("t1"))
	f.until(5)
	require.Len(t, actorstest.FactsOf[*messages.PodEvictionFailed](f.all), 5)
	f.Sleeps()
	f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbGet})
	f.until(8)
	require.Empty(t, f.deleted)
	f.tell(tainted("t1", "t2"))
	require.Equal(t, at(8), f.deleted)
}

// TestTheConditionOfAnEvictedPodNamesTheTaint where that is the rule.
func TestTheConditionOfAnEvictedPodNamesTheTaint(t *testing.T) {
	for message, r := range map[string]podeviction.Rules{
		"Taint manager: deleting due to NoExecute taint": kubernetes,
		"deleted because of the taint t1=disk:NoExecute": {NamesTaint: true, Client: client},
	} {
		d := actorstest.Drive(t, podeviction.New(self, r))
		d.Tell(pod(), tainted("t1=disk"))
		d.Tell(&messages.RequestServed{Verb: messages.VerbGet, Attempt: 1})
		d.Tell(&messages.RequestServed{Verb: messages.VerbPatch, Attempt: 1})
		marked := actorstest.MailTo(d.Mail(), messages.Address{Kind: messages.KindAPIServer})
		require.Equal(t, []messages.Message{
			&messages.MarkDisrupted{Pod: self, UID: "u1", Reason: "DeletionByTaintManager", Message: message},
		}, marked)
	}
}

// TestAnEvictionNamesItsTaintAndToleration, at each of its steps.
func TestAnEvictionNamesItsTaintAndToleration(t *testing.T) {
	for _, r := range []podeviction.Rules{kubernetes, leeward} {
		f := newFleet(t, r)
		f.tell(pod(tolerates("t2"), tolerates("t1", 3)), tainted("t2", "t1"))
		taint := corev1.Taint{Key: "t1", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: f.Now()}}
		toleration, deadline := tolerates("t1", 3), f.Now().Add(3*time.Second)
		f.Recorded(&messages.PodEvictionScheduled{Pod: self, Node: node, Deadline: deadline, Taint: taint, Toleration: toleration})
		f.until(3)
		f.Recorded(
			&messages.PodEvicted{Pod: self, Node: node, Deadline: deadline, Taint: taint, Toleration: &toleration},
			&messages.PodDeletionRequested{Pod: self, Node: node, GracePeriodSeconds: 30},
		)
		f.Sleeps()
	}
}

func TestAFinishedPodIsDeletedWithoutGrace(t *testing.T) {
	f := newFleet(t, kubernetes)
	f.tell(like(func(p *corev1.Pod) {
		p.Status.Phase, p.Spec.TerminationGracePeriodSeconds = corev1.PodFailed, new(int64)
		*p.Spec.TerminationGracePeriodSeconds = 20
	}), tainted("t1"))
	require.Zero(t, actorstest.FactsOf[*messages.PodDeletionRequested](f.all)[0].GracePeriodSeconds)
}

// TestARestartCountsFromTheTaintOrAgain: a new machine hears what is stored, 2 s after the taint came.
func TestARestartCountsFromTheTaintOrAgain(t *testing.T) {
	seen := tainted("t1")
	seen.Taints[0].TimeAdded = &metav1.Time{Time: actorstest.Start}
	for _, c := range []struct {
		rules podeviction.Rules
		want  float64
	}{{kubernetes, 7}, {leeward, 5}} {
		f := newFleet(t, c.rules)
		f.until(2)
		f.tell(pod(tolerates("t1", 5)), seen)
		f.until(10)
		require.Equal(t, []float64{c.want}, f.deleted)
	}
}

// TestAFailedEvictionIsTriedAgain: Kubernetes gives up after five tries, 10 ms apart; Leeward goes on until it is done.
func TestAFailedEvictionIsTriedAgain(t *testing.T) {
	refuse := func(f *fleet, why string) {
		f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbDelete, Error: why})
	}
	f := newFleet(t, kubernetes)
	refuse(f, "etcd is down")
	f.tell(pod(), tainted("t1"))
	f.until(1)
	refuse(f, "")
	f.until(60)
	failed := actorstest.FactsOf[*messages.PodEvictionFailed](f.all)
	require.Len(t, failed, 5)
	for i, fact := range failed[:4] {
		require.Equal(t, actorstest.Start.Add(time.Duration(i+1)*10*time.Millisecond), fact.Retry)
	}
	require.Equal(t, &messages.PodEvictionFailed{Pod: self, Node: node, Verb: messages.VerbDelete, Error: "etcd is down", Tries: 5}, failed[4])
	require.Len(t, actorstest.FactsOf[*messages.PodEvicted](f.all), 1, "the condition is given once")
	require.Empty(t, f.deleted)
	f.Sleeps()

	for _, r := range []podeviction.Rules{leeward, {UntilDone: true, Client: client}} {
		f = newFleet(t, r)
		refuse(f, "etcd is down")
		f.tell(pod(), tainted("t1"))
		f.until(100)
		failed = actorstest.FactsOf[*messages.PodEvictionFailed](f.all)
		require.Equal(t, 30*time.Second, failed[len(failed)-1].Retry.Sub(failed[len(failed)-2].Retry), "the pause is bounded")
		refuse(f, "")
		f.until(140)
		require.Len(t, f.deleted, 1)
		f.Sleeps()
	}
}

// TestAnEvictionThatIsRefusedIsTakenBack where nothing asks for it any more; Kubernetes does not.
func TestAnEvictionThatIsRefusedIsTakenBack(t *testing.T) {
	for _, c := range []struct {
		rules podeviction.Rules
		last  string
		times int
	}{
		{leeward, "EvictionCancelled", 0},
		{podeviction.Rules{Exact: true, Client: client}, "EvictionCancelled", 0},
		{podeviction.Rules{UntilDone: true, Client: client}, "EvictionCancelled", 0},
		{kubernetes, "DeletionRequested", 1},
	} {
		f := newFleet(t, c.rules)
		f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbGet, Error: "busy"})
		f.tell(pod(), tainted("t1"))
		f.tell(tainted())
		f.Post(clientAt, &messages.RequestsRefused{Verb: messages.VerbGet})
		f.until(5)
		require.Equal(t, c.last, f.kinds()[len(f.kinds())-1])
		require.Len(t, f.deleted, c.times)
	}
}

// TestLateAnswersAreVoid: they are about an eviction that was taken back, or about another pod of that name.
func TestLateAnswersAreVoid(t *testing.T) {
	asks := func(verb messages.APIVerb, attempt int) *messages.RequestAsked {
		return &messages.RequestAsked{
			Pod: self, Verb: verb, Attempt: attempt, UID: "u1", Reason: "DeletionByTaintManager", Message: "deleted because of the taint t1:NoExecute",
		}
	}
	for name, between := range map[string][]messages.ToPodEviction{
		"taken back":  {tainted()},
		"another pod": {&messages.PodForgotten{}},
	} {
		t.Run(name, func(t *testing.T) {
			d := actorstest.Drive(t, podeviction.New(self, leeward))
			d.Tell(pod(), tainted("t1")).Told(clientAt, asks(messages.VerbGet, 1))
			d.Tell(between...).Told(clientAt, &messages.RequestWithdrawn{Pod: self, Attempt: 1})
			d.Tell(pod(), tainted("t1")).Told(clientAt, asks(messages.VerbGet, 2))
			d.Tell(&messages.RequestServed{Verb: messages.VerbGet, Attempt: 1}).Quiet()
			d.Tell(&messages.RequestServed{Verb: messages.VerbGet, Attempt: 2}).
				Told(clientAt, asks(messages.VerbPatch, 2))
		})
	}
}

// TestKubernetesWithdrawsNoRequest: its eviction goes on without the taint, and asks for a pod that is gone.
func TestKubernetesWithdrawsNoRequest(t *testing.T) {
	for _, m := range []messages.ToPodEviction{tainted(), &messages.PodForgotten{}} {
		d := actorstest.Drive(t, podeviction.New(self, kubernetes))
		d.Tell(pod(), tainted("t1"))
		d.Tell(m).Quiet()
	}
}

// TestAPodOfTheSameNameIsAnother: what was due for the first is not for the second, which is evicted for itself.
func TestAPodOfTheSameNameIsAnother(t *testing.T) {
	for _, r := range []podeviction.Rules{kubernetes, leeward} {
		f := newFleet(t, r)
		f.tell(pod(), tainted("t1"))
		f.until(1)
		f.tell(like(func(p *corev1.Pod) { p.UID = "u2" }, tolerates("t1", 3)))
		f.until(9)
		require.Len(t, f.deleted, 2)
		require.Len(t, actorstest.FactsOf[*messages.PodEvicted](f.all), 2)
	}
}

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	for _, r := range []podeviction.Rules{
		kubernetes, leeward,
		{Exact: true, Client: client}, {Match: messages.MatchMinimum, Client: client}, {UntilDone: true, SparesFinished: true, Client: client},
	} {
		var first []messages.Fact
		ways := 0
		actorstest.EveryWay(func(choose actorstest.Choose) {
			f := newFleet(t, r)
			f.tell(pod(tolerates("t1", 6)), tainted("t1"))
			f.until(2)
			f.tell(actorstest.Interleave(choose,
				[]messages.Message{tainted("t1", "t2"), tainted("t2"), tainted("t3")},
				[]messages.Message{pod(tolerates("t2", 3)), pod(tolerates("t3", 2))},
			)...)
			f.until(12)
			if ways++; first == nil {
				first = f.all
			}
			require.Equal(t, first, f.all)
		})
		require.Equal(t, 10, ways)
	}
}

// TestOneClientEvictsTheThousandPodsOfANode as the controller of Kubernetes does with its usual limits: all are read, then all marked,
// and then all deleted. Measured: the first deletion after 98.7 s, the last after 148.7 s.
func TestOneClientEvictsTheThousandPodsOfANode(t *testing.T) {
	n := actorstest.NewNetwork(t, nil)
	actorstest.Join(n, clientAt, apiclient.New(apiclient.Limits{QPS: 20, Burst: 30}))
	for i := range 1000 {
		name := messages.NamePod("d", fmt.Sprintf("web-%03d", i))
		at := messages.Address{Kind: messages.KindPodEviction, Name: string(name)}
		actorstest.Join(n, at, podeviction.New(name, kubernetes))
		n.Post(at, pod(), tainted("t1"))
	}
	n.Advance(0)
	n.Advance(98650 * time.Millisecond)
	require.Len(t, actorstest.FactsOf[*messages.PodEvicted](n.Facts()), 1000)
	require.Empty(t, actorstest.FactsOf[*messages.PodDeletionRequested](n.Facts()))
	deleted := actorstest.FactsOf[*messages.PodDeletionRequested](n.Advance(50 * time.Millisecond).Facts())
	require.Len(t, deleted, 1)
	deleted = append(deleted, actorstest.FactsOf[*messages.PodDeletionRequested](n.Advance(49900*time.Millisecond).Facts())...)
	require.Len(t, deleted, 999)
	deleted = append(deleted, actorstest.FactsOf[*messages.PodDeletionRequested](n.Advance(50*time.Millisecond).Facts())...)
	require.Len(t, deleted, 1000)
	require.True(t, slices.IsSortedFunc(deleted, func(a, b *messages.PodDeletionRequested) int { return strings.Compare(string(a.Pod), string(b.Pod)) }))
	n.Advance(time.Minute).Sleeps()
}
