package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// toleratingUnhealthy is a policy that leaves a cluster where the application is unhealthy for so many seconds.
func toleratingUnhealthy(seconds int32, mode api.PurgeMode) *api.PropagationSpec {
	spec := duplicated()
	spec.Failover = &api.FailoverBehavior{Application: &api.ApplicationFailover{
		DecisionConditions: api.DecisionConditions{TolerationSeconds: &seconds}, PurgeMode: mode, GracePeriodSeconds: new(int32(60)),
	}}
	return spec
}

var (
	unhealthy = report("m1", api.Unhealthy, 0, 1)
	well      = report("m1", api.Healthy, 2, 1)
)

// failed is the fact that a task for an unhealthy application was written.
func failed(at, deadline time.Time, task api.GracefulEvictionTask) *messages.EvictionStarted {
	task.FromCluster, task.Replicas, task.CreationTimestamp = "m1", new(int32(2)), &metav1.Time{Time: at}
	task.Reason, task.Producer = api.EvictionReasonApplicationFailure, api.ProducerApplicationFailover
	return &messages.EvictionStarted{
		Binding: name, Cluster: "m1", Task: task, Grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure, Deadline: deadline},
	}
}

func TestAnApplicationIsEvictedAfterItsTolerationExactly(t *testing.T) {
	b := placed(t, settings(), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
	start := b.Now()
	b.tell(unhealthy)
	require.Equal(t, counting("m1", messages.Grounds{Reason: api.EvictionReasonApplicationFailure, Deadline: start.Add(30 * time.Second)}), b.Facts()[1])
	b.advance(1100 * time.Millisecond)
	b.tell(report("m1", api.Unhealthy, 1, 1)).WakesIn(28900 * time.Millisecond)
	b.advance(28900*time.Millisecond - 1).Quiet()
	b.advance(1).Recorded(failed(b.Now(), b.Now(), api.GracefulEvictionTask{
		PurgeMode: api.PurgeGracefully, GracePeriodSeconds: new(int32(60)),
	})).Told(governor).WakesIn(time.Minute)
}

func TestKarmadaCountsWholeSecondsFromEachLook(t *testing.T) {
	b := placed(t, settings(karmadasTimers), toleratingUnhealthy(5, api.PurgeGracefully), "m1:2", "m2:2")
	b.tell(unhealthy).WakesIn(5 * time.Second)
	b.advance(1100 * time.Millisecond)
	b.tell(report("m1", api.Unhealthy, 1, 1)).WakesIn(4 * time.Second)
	require.Contains(t, kinds(b.advance(4*time.Second)), "EvictionStarted")
}

func TestZeroSecondsActImmediatelyOrInKarmadaAtTheNextEvent(t *testing.T) {
	b := placed(t, settings(), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
	require.Contains(t, kinds(b.tell(unhealthy)), "EvictionStarted")

	b = placed(t, settings(karmadasTimers), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
	require.NotContains(t, kinds(b.tell(unhealthy)), "EvictionStarted")
	b.Sleeps()
	b.advance(time.Hour).Quiet()
	require.Contains(t, kinds(b.tell(report("m1", api.Unhealthy, 1, 1))), "EvictionStarted")
}

func TestWithoutSecondsTheTolerationIsFiveMinutes(t *testing.T) {
	spec := toleratingUnhealthy(0, api.PurgeGracefully)
	spec.Failover.Application.DecisionConditions.TolerationSeconds = nil
	b := placed(t, settings(), spec, "m1:2", "m2:2")
	b.tell(unhealthy).WakesIn(5 * time.Minute)
}

func TestAnApplicationThatRecoversInTimeStays(t *testing.T) {
	for state, recovered := range map[string]*messages.CopyReported{"healthy": well, "unknown": report("m1", api.Unknown, 0, 1)} {
		t.Run(state, func(t *testing.T) {
			b := placed(t, settings(), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
			b.tell(unhealthy)
			b.approach(30 * time.Second)
			require.Contains(t, b.tell(recovered).Facts(), messages.Fact(uncounted("m1", notUnhealthy)))
			b.Sleeps()
			b.tell(unhealthy).WakesIn(30 * time.Second)
		})
	}
}

func TestEachPurgeModeHasItsTask(t *testing.T) {
	for c, p := range map[string]struct {
		mode api.PurgeMode
		want api.GracefulEvictionTask
	}{
		"no mode is gracefully":         {"", api.GracefulEvictionTask{PurgeMode: api.PurgeGracefully, GracePeriodSeconds: new(int32(60))}},
		"never waits for a person":      {api.PurgeNever, api.GracefulEvictionTask{PurgeMode: api.PurgeNever, SuppressDeletion: new(true)}},
		"directly keeps no copy at all": {api.PurgeDirectly, api.GracefulEvictionTask{PurgeMode: api.PurgeDirectly}},
	} {
		t.Run(c, func(t *testing.T) {
			b := placed(t, settings(), toleratingUnhealthy(0, p.mode), "m1:2", "m2:2")
			n := b.tell(unhealthy)
			require.Equal(t, failed(b.Now(), b.Now(), p.want), n.Facts()[1])
			require.Equal(t, p.mode == api.PurgeDirectly, len(actorstest.MailTo(n.Mail(), memberAt("m1"))) > 0)
		})
	}
}

func TestNeverEndsWhenAPersonLetsTheCopyGo(t *testing.T) {
	b := placed(t, settings(), toleratingUnhealthy(0, api.PurgeNever), "m1:2", "m2:2")
	b.tell(unhealthy)
	task := b.Facts()[1].(*messages.EvictionStarted).Task
	b.tell(b.place("m2:2", "m3:2"))
	b.tell(report("m3", api.Healthy, 2, 3))
	b.advance(24 * time.Hour).Quiet()

	task.SuppressDeletion = new(false)
	edited := &messages.BindingApplied{Managed: true, Status: &api.BindingStatus{}, Spec: &api.BindingSpec{
		Clusters: targets("m2:2", "m3:2"), GracefulEvictionTasks: []api.GracefulEvictionTask{task}, Placement: &api.Placement{}, Replicas: 2,
	}}
	b.tell(edited).Recorded(ended("m1", messages.EndedUnsuppressed, 24*time.Hour))
	require.Contains(t, actorstest.MailTo(b.Mail(), memberAt("m1")), messages.Message(removal))
}

func TestGracefullyNeedsItsFeature(t *testing.T) {
	gateOff := settings(func(s *messages.Settings) { s.GracefulEviction = false })
	b := placed(t, gateOff, toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
	n := b.tell(unhealthy)
	require.Equal(t, "NoGracefulEviction", n.Facts()[1].(*messages.EvictionBlocked).Reason)
	b.tell(report("m1", api.Unhealthy, 1, 1))
	require.Equal(t, []string{"HealthChanged"}, kinds(b.Network), "said once")
	require.Contains(t, kinds(b.tell(&messages.SettingsChanged{Settings: settings()})), "EvictionStarted")

	b = placed(t, gateOff, toleratingUnhealthy(0, ""), "m1:2", "m2:2")
	require.Contains(t, kinds(b.tell(unhealthy)), "EvictionBlocked", "no mode is gracefully")

	b = placed(t, gateOff, toleratingUnhealthy(0, api.PurgeDirectly), "m1:2", "m2:2")
	require.Contains(t, kinds(b.tell(unhealthy)), "EvictionStarted", "other modes do not")
}

func TestTheSoonestReasonToLeaveCounts(t *testing.T) {
	spec := toleratingUnhealthy(60, api.PurgeGracefully)
	spec.Placement.ClusterTolerations = append(spec.Placement.ClusterTolerations, tolerates("down", 30), tolerates("late", 90))
	b := placed(t, settings(), spec, "m1:2", "m2:2")
	b.tell(unhealthy, tainted("m1", b.Now(), "late")).WakesIn(time.Minute)
	b.tell(tainted("m1", b.Now(), "down")).WakesIn(30 * time.Second)
	b.tell(well)
	b.advance(30*time.Second).Told(governor, wish("m1", b.Now()))
}

func TestFailoversOfApplicationsLookForADestinationToo(t *testing.T) {
	b := placed(t, settings(destinationFirst), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
	start := b.Now()
	b.tell(unhealthy)
	b.advance(30 * time.Second).Recorded()
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	b.tell(b.holdBack("m1"))
	b.advance(time.Minute)
	b.tell(report("m1", api.Unhealthy, 1, 1))
	b.tell(b.replace("m1", "m2:2", "m3:2"))
	fact := actorstest.FactsOf[*messages.EvictionStarted](b.Facts())[0]
	require.Equal(t, start.Add(30*time.Second), fact.Grounds.Deadline, "a deadline that has passed stays where it was")
}

func TestClusterResourceBindingsNameTheirOwnProducer(t *testing.T) {
	s := &subject{Driver: actorstest.Drive(t, clusterScoped()), t: t}
	s.tell(workload(2), claim("p", toleratingUnhealthy(0, api.PurgeNever)))
	s.tell(s.place("m1:2", "m2:2"))
	facts := actorstest.FactsOf[*messages.EvictionStarted](s.tell(unhealthy).Facts())
	require.Equal(t, api.ProducerClusterApplicationFailover, facts[0].Task.Producer)
}
