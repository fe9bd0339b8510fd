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

// returning is a policy that lets workloads return after a minute.
func returning() *api.PropagationSpec {
	p := duplicated()
	p.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{
		Failback: &api.Failback{Mode: api.FailbackAutomatic, StabilizationSeconds: new(int32(60))},
	}}
	return p
}

var (
	possible   = &messages.ReturnJudged{Possible: true, Affinity: "home"}
	impossible = &messages.ReturnJudged{}
	dropped    = &messages.FailbackCancelled{Binding: name}
)

func planned(at time.Time) *messages.FailbackScheduled {
	return &messages.FailbackScheduled{Binding: name, Affinity: "home", At: at}
}

func TestAWorkloadAsksToReturnWhenHomeHasBeenAbleForLongEnough(t *testing.T) {
	b := placed(t, settings(), returning(), "m2:2")
	require.True(t, b.asked.Home.ToGroup)
	b.tell(possible).Recorded(planned(b.Now().Add(time.Minute)))
	b.tell(possible).Quiet()
	b.advance(time.Minute - 1).Quiet()
	b.advance(1)
	require.True(t, b.asked.Home.ReturnDue && b.asked.Home.MayReturn)
	b.advance(time.Hour).Quiet()
}

func TestAHomeThatFailsAgainIsNotReturnedTo(t *testing.T) {
	b := placed(t, settings(), returning(), "m2:2")
	b.tell(possible)
	b.advance(30 * time.Second)
	b.tell(impossible).Recorded(dropped)
	b.tell(impossible).Quiet()
	b.advance(time.Hour).Quiet()
	b.tell(possible).Recorded(planned(b.Now().Add(time.Minute)))
}

func TestAPolicyThatDoesNotSayReturnDoesNot(t *testing.T) {
	for name, f := range map[string]*api.ClusterFailover{
		"silent": {}, "never": {Failback: &api.Failback{Mode: api.FailbackNever}}, "no mode": {Failback: &api.Failback{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := duplicated()
			p.Failover = &api.FailoverBehavior{Cluster: f}
			b := placed(t, settings(), p, "m2:2")
			require.Nil(t, b.asked.Home)
			b.tell(possible).Quiet()
		})
	}
}

func TestTheOldCopyStaysUntilHomeServes(t *testing.T) {
	b := placed(t, settings(), returning(), "m2:2")
	b.tell(possible)
	b.advance(time.Minute)
	back := b.replace("m2", "m1:2")
	back.Move, back.Affinity = api.EvictionReasonFailback, "home"
	n := b.tell(back).Told(memberAt("m2")).Told(memberAt("m1"), run(2, 2))
	require.Equal(t, []string{"FailbackStarted", "EvictionStarted", "Scheduled"}, kinds(n))
	task := actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0].Task
	require.Equal(t, api.EvictionReasonFailback, task.Reason)
	b.tell(report("m2", api.Healthy, 2, 1), &messages.SettingsChanged{Settings: settings()}).Told(memberAt("m2"))
	b.tell(report("m1", api.Healthy, 2, 2)).Recorded(health("m1", api.Healthy, 2), ended("m2", messages.EndedHealthy, 0)).Told(memberAt("m2"), removal)
	require.False(t, b.asked.Home.Returning)
}

func TestAReturnIsTakenBackWhenHomeFailsBeforeItServes(t *testing.T) {
	b := placed(t, settings(destinationFirst, withdrawing), returning(), "m2:2")
	first := b.place("m2:2")
	first.Affinity = "abroad"
	b.tell(first)
	b.tell(possible)
	b.advance(time.Minute)
	back := b.replace("m2", "m1:2")
	back.Move, back.Affinity = api.EvictionReasonFailback, "home"
	b.tell(back)
	b.tell(tainted("m1", b.Now(), "down"))
	n := b.tell(permit("m1")).Told(memberAt("m1"), removal).Told(memberAt("m2"))
	require.Equal(t, targets("m2:2"), actorstest.FactsOf[*messages.EvictionWithdrawn](n.Facts())[0].Clusters)
	require.Equal(t, "abroad", b.asked.Affinity)
	require.False(t, b.asked.Home.Returning)
}

func TestARestartMovesNoReturn(t *testing.T) {
	b := drive(t, settings())
	m := stored(returning(), b.Now().Add(-time.Hour))
	m.Spec.GracefulEvictionTasks = nil
	m.Status.ReturnAt = &metav1.MicroTime{Time: b.Now().Add(20 * time.Second)}
	b.tell(m).WakesIn(20 * time.Second)
	require.True(t, b.asked.Home.MayReturn)
	b.advance(20 * time.Second)
	require.True(t, b.asked.Home.ReturnDue)
}
