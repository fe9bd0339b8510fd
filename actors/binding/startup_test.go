package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

func patient(s *messages.Settings) { s.ApplicationStartupGrace = 5 * time.Minute }

// starting is a binding on m1 and m2 whose copies have not said anything yet.
func starting(t *testing.T, s messages.Settings, policy *api.PropagationSpec) *subject {
	b := drive(t, s)
	b.tell(workload(2), claim("default/p", policy))
	b.tell(b.place("m1:2", "m2:2"))
	return b
}

func TestACopyThatStartsIsNotJudgedUntilItsGraceIsOver(t *testing.T) {
	for timers, change := range map[string]func(*messages.Settings){"exact": patient, "karmada's": karmadasTimers} {
		t.Run(timers, func(t *testing.T) {
			b := starting(t, settings(patient, change), toleratingUnhealthy(30, api.PurgeGracefully))
			b.tell(unhealthy).WakesIn(5*time.Minute + 30*time.Second)
			b.advance(time.Minute)
			b.tell(report("m1", api.Unhealthy, 1, 1)).WakesIn(4*time.Minute + 30*time.Second)
			require.Contains(t, kinds(b.advance(4*time.Minute+30*time.Second)), "EvictionStarted")
		})
	}
}

func TestACopyThatWasHealthyOnceHasNoGrace(t *testing.T) {
	b := starting(t, settings(patient), toleratingUnhealthy(30, api.PurgeGracefully))
	b.tell(unhealthy)
	b.tell(well).Sleeps()
	b.tell(unhealthy).WakesIn(30 * time.Second)
}

func TestAPolicySaysHowLongAStartTakes(t *testing.T) {
	policy := toleratingUnhealthy(30, api.PurgeGracefully)
	policy.Failover.Application.DecisionConditions.StartupSeconds = new(int32(10))
	b := starting(t, settings(patient), policy)
	b.tell(report("m1", api.Unknown, 0, 1))
	b.advance(4 * time.Second)
	b.tell(unhealthy).WakesIn(36 * time.Second)
}

func TestARestartKeepsTheGraceOfACopyThatStarts(t *testing.T) {
	b := drive(t, settings(patient))
	m := stored(toleratingUnhealthy(30, api.PurgeNever), b.Now())
	m.Spec.GracefulEvictionTasks = nil
	since := &metav1.MicroTime{Time: b.Now().Add(-time.Minute)}
	m.Status.AggregatedStatus = []api.AggregatedStatusItem{
		{ClusterName: "m2", Health: api.Unhealthy, UnhealthySince: since, StartingSince: since},
	}
	b.tell(m).WakesIn(4*time.Minute + 30*time.Second)
}
