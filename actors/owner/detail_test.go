package owner_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/actorstest"
	"leeward/actors/owner"
	"leeward/messages"
)

func TestWhatPodsOfEachKindSayOfTheirOwner(t *testing.T) {
	for _, c := range []struct {
		kind, version, controller string
		spec                      *messages.OwnerSpec
		labels                    []string
		peers                     bool
	}{
		{"ReplicaSet", "apps/v1", "web", pods(1), []string{"app"}, true},
		{"StatefulSet", "apps/v1", "web", pods(1), []string{"app", "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"}, true},
		{"DaemonSet", "apps/v1", "web", pods(0), []string{"app"}, false},
		{"Job", "batch/v1", "web", jobOf(1, 1, 0), []string{"app", "batch.kubernetes.io/job-name", "job-name"}, false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			pod := drive(t, c.kind, c.spec, node("n1")).created()[0]
			require.Equal(t, c.kind, pod.Controller.Kind)
			require.Equal(t, c.version, pod.Controller.APIVersion)
			require.Equal(t, c.controller, pod.Controller.Name)
			require.True(t, *pod.Controller.Controller)
			require.Len(t, pod.Labels, len(c.labels))
			for _, key := range c.labels {
				require.Contains(t, pod.Labels, key)
			}
			require.Equal(t, c.peers, pod.Peers != nil)
			require.Equal(t, "web", c.spec.Template.Labels["app"])
			require.Len(t, c.spec.Template.Labels, 1, "the template stays as it was")
		})
	}
}

func TestPodsWithoutLabels(t *testing.T) {
	bare := pods(1, func(s *messages.OwnerSpec) { s.Template.Labels = nil })
	require.Len(t, drive(t, "Deployment", bare).created()[0].Labels, 1)
}

func TestNamesAndUIDsDiffer(t *testing.T) {
	uids, names := map[any]bool{}, map[any]bool{}
	letters := map[byte]bool{}
	for seed := range uint64(3) {
		for _, local := range []string{"web", "db"} {
			o, err := owner.New("ReplicaSet", "default", local, seed, false)
			require.NoError(t, err)
			d := actorstest.Drive(t, o)
			for _, m := range d.Tell(&messages.OwnerApplied{Spec: pods(10)}).Mail() {
				pod := m.Message.(*messages.CreatePod)
				uids[pod.UID] = true
				suffix := pod.Pod[len(pod.Pod)-5:]
				names[suffix] = true
				for i := range len(suffix) - 1 {
					if suffix[i] != suffix[i+1] {
						letters[suffix[i]] = true
					}
				}
			}
		}
	}
	require.Len(t, uids, 60)
	require.Len(t, names, 60)
	require.Greater(t, len(letters), 15)

	uids = map[any]bool{}
	for _, pod := range drive(t, "StatefulSet", pods(3, func(s *messages.OwnerSpec) { s.Parallel = true })).created() {
		uids[pod.UID] = true
	}
	require.Len(t, uids, 3)
}

func TestAnEditThatKeepsTheTemplateKeepsItShared(t *testing.T) {
	d := drive(t, "Deployment", pods(1))
	first := d.created()[0]
	second := d.apply(pods(2)).created()[0]
	require.Same(t, first.Spec, second.Spec)
	third := d.apply(pods(2, percent(intstr.FromInt32(1), none), func(s *messages.OwnerSpec) { s.Template.Spec.Hostname = "other" })).created()[0]
	require.Equal(t, "other", third.Spec.Hostname)
	require.NotEqual(t, first.Controller.Name, third.Controller.Name)
}

// In whatever order an instant's messages come, the same is asked for.
func TestTheOrderOfMessagesDoesNotMatter(t *testing.T) {
	for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet", "Job"} {
		inputs := []messages.ToOwner{&messages.OwnerApplied{Spec: pods(2, func(s *messages.OwnerSpec) { s.Parallelism, s.Completions, s.Parallel = 2, 4, true })}}
		for _, name := range strings.Split("abcdefgh", "") {
			inputs = append(inputs, &messages.OwnedPodViewed{Pod: messages.PodName("default/web-" + name), UID: "1", Target: "n1"})
		}
		inputs = append(inputs, node("n1", taint("k", corev1.TaintEffectNoExecute)), node("n2"), node("n3"))
		for _, more := range [][]messages.ToOwner{nil, {&messages.OwnerDeleted{}}} {
			answers := func(seed uint64) any {
				rng := rand.New(rand.NewPCG(seed, 0))
				rng.Shuffle(len(inputs), func(i, j int) { inputs[i], inputs[j] = inputs[j], inputs[i] })
				o, err := owner.New(kind, "default", "web", 1, false)
				require.NoError(t, err)
				d := actorstest.Drive(t, o)
				d.Tell(append(inputs[:len(inputs):len(inputs)], more...)...)
				mail := d.Mail()
				require.NotEmpty(t, mail)
				return append(mail[:0:0], mail...)
			}
			want := answers(0)
			for seed := range uint64(20) {
				require.Equal(t, want, answers(seed+1), kind)
			}
		}
	}
}

func TestOfEqualPodsTheFirstByNameIsDeleted(t *testing.T) {
	d := drive(t, "ReplicaSet", pods(0),
		&messages.OwnedPodViewed{Pod: "default/web-b", UID: "b"}, &messages.OwnedPodViewed{Pod: "default/web-a", UID: "a"})
	d.Told(messages.Address{Kind: messages.KindAPIServer},
		&messages.DeletePod{Pod: "default/web-a", UID: "a", Cause: "scaled down"}, &messages.DeletePod{Pod: "default/web-b", UID: "b", Cause: "scaled down"})
}

func TestDaemonTolerationsReplaceThoseWithSeconds(t *testing.T) {
	seconds := int64(30)
	own := []corev1.Toleration{
		{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpEqual, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, Value: "v"},
	}
	spec := pods(0, func(s *messages.OwnerSpec) { s.Template.Spec.Tolerations = own })
	got := drive(t, "DaemonSet", spec, node("n1")).created()[0].Spec.Tolerations
	require.Len(t, got, 4+5)
	require.Nil(t, got[0].TolerationSeconds)
	require.Equal(t, own[1:], got[1:4])
	require.Equal(t, corev1.TaintNodeUnreachable, got[4].Key)
	require.NotNil(t, own[0].TolerationSeconds, "the template stays as it was")
}

func TestDaemonPodsKeepTheRestOfTheAffinity(t *testing.T) {
	affinity := &corev1.Affinity{
		PodAntiAffinity: &corev1.PodAntiAffinity{},
		NodeAffinity:    &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}},
	}
	got := drive(t, "DaemonSet", pods(0, func(s *messages.OwnerSpec) { s.Template.Spec.Affinity = affinity }), node("n1")).created()[0].Spec.Affinity
	require.NotNil(t, got.PodAntiAffinity)
	require.Len(t, got.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution, 1)
	require.NotNil(t, got.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	require.Nil(t, affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, "the template stays as it was")
}

func TestAnEditedDaemonSetLooksAtAllNodesAgain(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0, func(s *messages.OwnerSpec) { s.Template.Spec.NodeName = "n2" }), node("n1"), node("n2"))
	created := d.created()
	require.Len(t, created, 1)
	require.Equal(t, []string{"n2"}, created[0].Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values)
	require.Len(t, d.apply(pods(0)).names(), 1)
}

func TestADaemonPodFailsAgainLongAfter(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0, func(*messages.OwnerSpec) {}), node("n1"))
	name := d.names()[0]
	for range 2 {
		require.Len(t, d.becomes(name, on("n1"), failed).deleted("finished: it is created again"), 1)
		name = d.gone(name).names()[0]
		d.Advance(time.Hour)
	}
	require.Len(t, d.becomes(name, on("n1"), failed).deleted("finished: it is created again"), 1)
	name = d.gone(name).names()[0]
	d.becomes(name, on("n1"), failed).WakesIn(time.Second)

	d.Tell(&messages.NodeGone{Name: "n1"}).Sleeps()
	d.gone(name)
	d.Tell(node("n1"))
	name = d.names()[0]
	require.Len(t, d.becomes(name, on("n1"), failed).deleted("finished: it is created again"), 1, "another node of that name")
}

func TestASucceededDaemonPodIsReplacedWithoutABackoff(t *testing.T) {
	d := drive(t, "DaemonSet", pods(0), node("n1"))
	name := d.names()[0]
	for range 3 {
		require.Len(t, d.becomes(name, on("n1"), succeeded).deleted("finished: it is created again"), 1)
		name = d.gone(name).names()[0]
	}
}

func TestAJobThatIsCompleteDeletesTheRest(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 2, 6))
	names := d.names()
	d.becomes(names[0], succeeded).Quiet()
	require.Equal(t, []string{names[1]}, d.apply(jobOf(2, 1, 6)).deleted("the Job is complete"))
}

func TestAJobPodThatVanishesFailed(t *testing.T) {
	d := drive(t, "Job", jobOf(1, 1, 1))
	d.gone(d.names()[0]).WakesIn(10 * time.Second)
	d.Advance(10 * time.Second)
	d.gone(d.names()[0]).Sleeps()
}

func TestASuccessEndsTheBackoffOfAJob(t *testing.T) {
	d := drive(t, "Job", jobOf(1, 3, 6))
	d.becomes(d.names()[0], failed)
	d.Advance(10 * time.Second)
	name := d.becomes(d.names()[0], succeeded).names()[0]
	d.becomes(name, failed).WakesIn(10 * time.Second)
}

func TestTheBackoffOfAJobHasALimit(t *testing.T) {
	d := drive(t, "Job", jobOf(1, 1, 100))
	for _, seconds := range []time.Duration{10, 20, 40, 80, 160, 320, 600, 600} {
		d.becomes(d.names()[0], failed).WakesIn(seconds * time.Second)
		d.Advance(seconds * time.Second)
	}
}

func TestAJobThatNeedsNoMorePodsDoesNotWait(t *testing.T) {
	d := drive(t, "Job", jobOf(2, 4, 6))
	d.becomes(d.names()[0], failed).WakesIn(10 * time.Second)
	d.apply(jobOf(1, 4, 6)).Sleeps()
}

func TestWhichMachineGoesIsRandom(t *testing.T) {
	first := 0
	for seed := range uint64(40) {
		o, err := owner.New("MachineSet", "default", "web", seed, false)
		require.NoError(t, err)
		d := actorstest.Drive(t, o)
		d.Tell(&messages.OwnerApplied{Spec: machines(2)})
		a, b := d.Mail()[0].Message.(*messages.CreateNode).Node, d.Mail()[1].Message.(*messages.CreateNode).Node
		d.Tell(&messages.OwnerApplied{Spec: machines(1)})
		require.Len(t, d.Mail(), 1)
		if d.Mail()[0].Message.(*messages.DeleteNode).Node == min(a, b) {
			first++
		}
	}
	require.Greater(t, first, 8)
	require.Less(t, first, 32)
}
