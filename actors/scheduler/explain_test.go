package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/rules/placement"
	"leeward/actors/scheduler"
	"leeward/messages"
)

// explained tells a scheduler of a fleet of three clusters and of bindings, and explains web.
func explained(t *testing.T, told ...messages.ToScheduler) (*scheduler.Explanation, *actorstest.Network) {
	t.Helper()
	s := scheduler.New(settings(func(s *messages.Settings) { s.ZeroReplicasNeedNoCluster = true }), 1)
	d := actorstest.Drive[messages.ToScheduler](t, s)
	d.Tell(cluster("m1", "9"), cluster("m2", "2"), cluster("m3", "9", "down")).Quiet()
	n := d.Tell(told...)
	x := s.Explain(d.Now(), "web")
	require.Equal(t, x, s.Explain(d.Now(), "web"), "it changes nothing")
	return x, n
}

func TestAnExplanationIsOfWhatIsDecided(t *testing.T) {
	x, n := explained(t, ask("web", 4, aggregated()))
	require.Equal(t, decided(t, n, "web").Targets, x.Decision.Targets)
	require.Equal(t, x.Decision, x.Plan.Decision)
	require.True(t, x.Placed)
	require.Empty(t, x.Calls, "it has its place")
	require.Equal(t, targets("m1:4"), x.Targets)
	require.Contains(t, x.Plan.Terms[0].Clusters[2].Refused, "untolerated taint {down:NoExecute}")
}

func TestAnExplanationOfWhatMustLeaveDoesWithoutThat(t *testing.T) {
	x, n := explained(t, leaving(again(ask("web", 2, aggregated()), "m3:2"), "m3"))
	require.Equal(t, decided(t, n, "web").Targets, x.Targets, "it was evicted in that instant")
	x, n = explained(t, leaving(again(ask("web", 20, aggregated()), "m3:20"), "m3"))
	require.Equal(t, []messages.ClusterName{"m3"}, x.Without)
	held := decided(t, n, "web")
	require.Equal(t, &messages.Obstacle{Reason: x.Decision.Reason, Message: x.Decision.Message, Rejections: x.Decision.Rejections}, held.Obstacle)
	require.Equal(t, "cluster(s) was being drained or evicted from", x.Plan.Terms[0].Clusters[2].Refused)
}

func TestAnExplanationOfWhatIsNotPlaced(t *testing.T) {
	x, _ := explained(t, ask("other", 1, nil))
	require.Nil(t, x, "there is none of it")
	suspended := ask("web", 1, nil)
	suspended.Suspended = true
	x, _ = explained(t, suspended)
	require.True(t, x.Suspended)
	require.Equal(t, placement.Explanation{}, x.Plan)
	x, _ = explained(t, ask("web", 0, aggregated()))
	require.True(t, x.ZeroReplicas)
}
