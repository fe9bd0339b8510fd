package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// rescheduled is a decision that moves a binding by choice off one cluster.
func (s *subject) rescheduled(leaving messages.ClusterName, clusters ...string) *messages.PlacementDecided {
	p := s.place(clusters...)
	p.Move, p.Leaving, p.Trigger = api.EvictionReasonReschedule, []messages.ClusterName{leaving}, "placement changed"
	return p
}

// elsewhere is the policy of divided replicas with another placement.
func elsewhere(cluster string) *api.PropagationSpec {
	p := divided()
	p.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{cluster}}
	return p
}

// moving returns a binding of four replicas that an edit has moved from m1 to m2, where they start.
func moving(t *testing.T) (*subject, *actorstest.Network) {
	t.Helper()
	b := placed(t, settings(keepLastCopy), divided(), "m1:4")
	b.tell(report("m1", api.Healthy, 4, 1))
	b.tell(claim("default/p", elsewhere("m2")))
	return b, b.tell(b.rescheduled("m1", "m2:4"))
}

func TestAnEditIsAHandover(t *testing.T) {
	b, n := moving(t)
	started := actorstest.FactsOf[*messages.EvictionStarted](n.Told(memberAt("m1")).Told(memberAt("m2"), run(4, 2)).Facts())[0]
	require.Equal(t, messages.Grounds{Reason: api.EvictionReasonReschedule}, started.Grounds)
	require.Equal(t, api.GracefulEvictionTask{
		FromCluster: "m1", PurgeMode: api.PurgeGracefully, Replicas: new(int32(4)), Reason: "Reschedule", Producer: "Scheduler",
		Message: "placement changed", CreationTimestamp: started.Task.CreationTimestamp,
	}, started.Task)
	b.tell(report("m2", api.Healthy, 4, 2)).Told(memberAt("m1"), removal)
}

func TestAnEditThatIsRevertedWithdrawsTheHandover(t *testing.T) {
	b, _ := moving(t)
	b.advance(time.Minute)
	b.tell(claim("default/p", elsewhere("m1")))
	require.Empty(t, b.asked.Evicting, "it may go back there")
	n := b.tell(b.rescheduled("m2", "m1:4")).Told(memberAt("m1"))
	back := actorstest.FactsOf[*messages.EvictionWithdrawn](n.Facts())[0]
	require.Equal(t, messages.ClusterName("m1"), back.Cluster)
	require.Equal(t, targets("m1:4"), scheduled(t, n))
	require.Equal(t, []messages.ClusterName{"m2"}, b.asked.Evicting)
}

func TestWhatIsTakenBackInPartShrinksOnceOthersServe(t *testing.T) {
	b, _ := moving(t)
	b.tell(claim("default/p", divided()))
	p := b.place("m1:1", "m2:3")
	p.Move = api.EvictionReasonReschedule
	b.tell(p).Told(memberAt("m1")).Told(memberAt("m2"))
	b.tell(b.keep())
	b.tell(report("m2", api.Healthy, 4, 2)).Told(memberAt("m1"), run(1, 4)).Told(memberAt("m2"), run(3, 3))
}

// Nothing moves away from what the scheduler counts as targets: it calls that no move.
func TestWhatIsTakenBackWithoutAMoveRunsItsShareThenAndLater(t *testing.T) {
	b, _ := moving(t)
	b.tell(claim("default/p", divided()))
	b.tell(b.place("m1:4", "m2:4")).Told(memberAt("m1")).Told(memberAt("m2"))
	b.tell(b.place("m1:3", "m2:4")).Told(memberAt("m1"), run(3, 3)).Told(memberAt("m2"))
}

func TestWhatIsTakenBackInPartWithoutAMoveShrinksOnceOthersServe(t *testing.T) {
	b, _ := moving(t)
	b.tell(claim("default/p", divided()))
	n := b.tell(b.place("m1:1", "m2:4")).Told(memberAt("m1")).Told(memberAt("m2"))
	held := actorstest.FactsOf[*messages.ScaleDownBlocked](n.Facts())[0]
	require.Equal(t, targets("m1:4"), held.Clusters)
	require.Equal(t, api.EvictionReasonReschedule, held.Reason)
	b.tell(b.keep())
	b.tell(report("m2", api.Healthy, 4, 2)).Told(memberAt("m1"), run(1, 3)).Told(memberAt("m2"))
}

func TestAnEditThatChangesNothingLeavesTheHandoverAlone(t *testing.T) {
	b, _ := moving(t)
	b.tell(claim("default/p", elsewhere("m2"))).Quiet()
}

func TestSharesThatOnlyShrinkDoSoImmediately(t *testing.T) {
	b := placed(t, settings(), divided(), "m1:4", "m2:4")
	p := b.rescheduled("m2", "m1:2")
	b.tell(p).Told(memberAt("m1"), run(2, 3))
}

// What is due waits for a permit. It needs none where the scheduler moves it for another cause: that is why it goes.
func TestAMoveWithdrawsTheRequestForAPermit(t *testing.T) {
	b := placed(t, settings(destinationFirst), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down")).Told(governor, wish("m1", b.Now()))
	n := b.tell(b.rescheduled("m1", "m2:2")).Told(governor, unwish("m1"))
	require.Equal(t, messages.Grounds{Reason: api.EvictionReasonReschedule}, actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0].Grounds)
}

func TestWhatUsersHoldForItsHealthMovesByChoiceOnly(t *testing.T) {
	b := placed(t, settings(destinationFirst), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
	b.tell(&messages.HoldsAnnounced{Held: true})
	b.tell(report("m1", api.Unhealthy, 0, 1))
	n := b.tell(b.rescheduled("m1", "m2:2")).Told(governor, unwish("m1"))
	require.Equal(t, messages.Grounds{Reason: api.EvictionReasonReschedule}, actorstest.FactsOf[*messages.EvictionStarted](n.Facts())[0].Grounds)
}
