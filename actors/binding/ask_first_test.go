package binding_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// unhealthyWish is a request for a permit to leave m1 for the application's health.
func unhealthyWish(since time.Time) *messages.RequestEviction {
	w := wish("m1", since)
	w.Unlimited = true
	return w
}

func TestWhileUsersHoldAnyEvictionAllAskFirst(t *testing.T) {
	b := placed(t, settings(destinationFirst, unlimited), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
	b.tell(&messages.HoldsAnnounced{Held: true}).Quiet()
	b.tell(unhealthy)
	due := b.Now().Add(30 * time.Second)
	b.advance(30*time.Second).Told(governor, unhealthyWish(due))
	until := due.Add(time.Hour)
	held := &messages.EvictionDelayed{Cluster: "m1", Reason: "Held", Message: "evictions of this workload are held: migration", Until: until}
	b.tell(held).Recorded(&messages.EvictionBlocked{
		Binding: name, Cluster: "m1", Reason: held.Reason, Message: held.Message, Until: until,
		Grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure, Deadline: due},
	})
	require.Empty(t, b.asked.Leaving)
	b.tell(permit("m1"))
	require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
}

func TestWhoRecoversWhileHeldTakesItsRequestBack(t *testing.T) {
	b := placed(t, settings(destinationFirst, unlimited), toleratingUnhealthy(30, api.PurgeGracefully), "m1:2", "m2:2")
	b.tell(&messages.HoldsAnnounced{Held: true}, unhealthy)
	b.advance(30 * time.Second)
	b.tell(well).Told(governor, &messages.WithdrawRequest{Binding: name, Cluster: "m1"})
	b.tell(permit("m1")).Quiet()
}

func TestABindingThatIsHeldAsksAlsoWhereNothingLimits(t *testing.T) {
	b := placed(t, settings(destinationFirst, unlimited), duplicated(), "m1:2", "m2:2")
	b.tell(&messages.HoldsAnnounced{Held: true})
	b.tell(tainted("m1", b.Now(), "down")).Told(governor, wish("m1", b.Now()))
	b.tell(permit("m1"), &messages.HoldsAnnounced{})
	n := b.tell(tainted("m2", b.Now(), "down"))
	require.Empty(t, actorstest.MailTo(n.Mail(), governor))
	require.Equal(t, []messages.ClusterName{"m1", "m2"}, b.asked.Leaving)
}

func TestWhatWasNotLimitedIsForAnotherReason(t *testing.T) {
	t.Run("while it waits for a destination", func(t *testing.T) {
		b := placed(t, settings(destinationFirst), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
		b.tell(unhealthy)
		require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving, "who leaves for its health needs no permit")
		b.advance(time.Second)
		b.tell(tainted("m1", b.Now(), "down"))
		b.tell(well).Told(governor, wish("m1", b.Now()))
		require.Empty(t, b.asked.Leaving, "for a taint it needs a permit")
	})
	t.Run("while it is held", func(t *testing.T) {
		b := placed(t, settings(destinationFirst), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
		due := b.Now()
		b.tell(&messages.HoldsAnnounced{Held: true})
		b.tell(unhealthy).Told(governor, unhealthyWish(due))
		b.advance(time.Second)
		b.tell(tainted("m1", b.Now(), "down"))
		b.tell(well).Told(governor, &messages.WithdrawRequest{Binding: name, Cluster: "m1"}, wish("m1", due.Add(time.Second)))
	})
}

// A copy that waits to leave for its health recovers in the instant in which its cluster is tainted: whichever is heard first, it
// asks for the permit that its taint needs, and the scheduler is asked once it has that.
func TestARecoveryAndATaintInOneInstantAskForOnePermit(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := placed(t, settings(destinationFirst), toleratingUnhealthy(0, api.PurgeGracefully), "m1:2", "m2:2")
		b.tell(unhealthy)
		b.tell(b.holdBack("m1"))
		b.advance(time.Second)
		n := b.tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToBinding](tainted("m1", b.Now(), "down"), well)...)...)
		n.Told(governor, wish("m1", b.Now()))
		require.Empty(t, slices.Concat(b.asked.Leaving, b.asked.Seeking))
		b.tell(permit("m1"))
		require.Equal(t, []messages.ClusterName{"m1"}, b.asked.Leaving)
	})
}
