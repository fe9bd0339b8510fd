package member_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/actors/actorstest"
	"leeward/actors/member"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	web   = messages.Address{Kind: messages.KindBinding, Name: "web"}
	shop  = messages.Address{Kind: messages.KindBinding, Name: "shop"}
	home  = messages.Address{Kind: messages.KindCluster, Name: "m1"}
	lease = messages.Settings{ClusterLeaseDuration: 40 * time.Second, ClusterLeaseRenewIntervalFraction: 0.25}
)

type driver = actorstest.Driver[messages.ToMember]

// drive returns a member whose copies take so long to start.
func drive(t *testing.T, startup time.Duration) *driver {
	t.Helper()
	d := actorstest.Drive(t, discreet{member.New("m1", lease, 1)})
	d.Tell(behave(startup, startup)).Quiet()
	return d
}

// discreet is a member that does not record how many replicas serve: outage_test.go is about that.
type discreet struct{ *member.Member }

func (d discreet) Receive(now time.Time, m messages.ToMember, out *actors.Outbox) {
	var all actors.Outbox
	d.Member.Receive(now, m, &all)
	for _, f := range all.Facts() {
		if f.Kind() != "AvailabilityChanged" {
			out.Record(f)
		}
	}
	for _, mail := range all.Mail() {
		if b, ok := mail.Message.(messages.ToBinding); ok {
			out.TellBinding(messages.BindingName(mail.To.Name), b)
			continue
		}
		out.TellCluster(messages.ClusterName(mail.To.Name), mail.Message.(messages.ToCluster))
	}
	at, _ := all.Alarm()
	out.WakeAt(at)
}

func behave(least, most time.Duration) *messages.MemberConfigured {
	return &messages.MemberConfigured{Behaviour: messages.MemberBehaviour{StartupMin: least, StartupMax: most, Health: api.Healthy}}
}

// run asks for a copy; the placement is the number of the wish.
func run(b messages.BindingName, replicas int32, placement int64) *messages.RunCopy {
	return &messages.RunCopy{Binding: b, Replicas: replicas, Placement: placement}
}

func remove(b messages.BindingName) *messages.RemoveCopy { return &messages.RemoveCopy{Binding: b} }

func healthy(ready int32, placement int64) *messages.CopyReported {
	return &messages.CopyReported{Cluster: "m1", Health: api.Healthy, Ready: ready, ForPlacement: placement}
}

func unhealthy(placement int64) *messages.CopyReported {
	return &messages.CopyReported{Cluster: "m1", Health: api.Unhealthy, ForPlacement: placement}
}

func started(b messages.BindingName, replicas int32) *messages.CopyStarted {
	return &messages.CopyStarted{Binding: b, Cluster: "m1", Replicas: replicas}
}

func scaled(b messages.BindingName, before, replicas int32) *messages.CopyScaled {
	return &messages.CopyScaled{Binding: b, Cluster: "m1", Before: before, Replicas: replicas}
}

func stopped(b messages.BindingName) *messages.CopyStopped {
	return &messages.CopyStopped{Binding: b, Cluster: "m1"}
}

var removed = &messages.CopyRemoved{Cluster: "m1"}

func TestACopyServesImmediatelyWithoutAStartup(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1)).Recorded(started("web", 2)).Told(web, healthy(2, 1)).Sleeps()
}

func TestACopyIsUnhealthyUntilItServes(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1)).Recorded(started("web", 2)).Told(web, unhealthy(0)).WakesIn(5 * time.Second)
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Recorded().Told(web, healthy(2, 1)).Sleeps()
}

func asIs(b messages.BindingName, placement int64) *messages.RunCopy {
	r := run(b, 9, placement)
	r.Adopt, r.AsIs = true, true
	return r
}

func TestACopyThatIsToStayAsItIsIsReported(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(5 * time.Second)
	d.Tell(asIs("web", 4)).Recorded().Told(web, healthy(2, 4)).Sleeps()
}

func TestACopyThatStartsAndIsToStayAsItIsStartsOn(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Tell(asIs("web", 4)).Recorded().Told(web, unhealthy(0)).WakesIn(5 * time.Second)
	d.Advance(5*time.Second).Told(web, healthy(2, 4))
}

func TestScalingUpKeepsTheOldReportUntilTheNewReplicasServe(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(5 * time.Second)
	d.Tell(run("web", 4, 2)).Recorded(scaled("web", 2, 4)).Told(web)
	d.Tell(run("web", 4, 2)).Recorded().Told(web, healthy(2, 1))
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Told(web, healthy(4, 2))
}

func TestScalingDownShowsImmediately(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 4, 1))
	d.Tell(run("web", 1, 2)).Recorded(scaled("web", 4, 1)).Told(web, healthy(1, 2))
}

func TestScalingDownDuringAStartupDoesNotEndIt(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 4, 1))
	d.Advance(time.Second)
	d.Tell(run("web", 2, 2)).Recorded(scaled("web", 4, 2)).Told(web, unhealthy(0)).WakesIn(4 * time.Second)
	d.Advance(4*time.Second).Told(web, healthy(2, 2))

	d.Tell(run("web", 6, 3))
	d.Tell(run("web", 5, 4)).Told(web, healthy(2, 2))
	d.Advance(5*time.Second).Told(web, healthy(5, 4))
}

func TestScalingBackToWhatServesEndsTheStartup(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(5 * time.Second)
	d.Tell(run("web", 4, 2))
	d.Tell(run("web", 2, 3)).Recorded(scaled("web", 4, 2)).Told(web, healthy(2, 3))
	d.QuietFor(time.Minute)
}

func TestALaterStartupOvertakesAnEarlierOne(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(time.Second)
	d.Tell(run("web", 4, 2))
	d.Advance(time.Second)
	d.Tell(run("web", 2, 3))
	d.Advance(time.Second)
	d.Tell(run("web", 4, 4))
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Told(web, healthy(4, 4))
	d.QuietFor(time.Minute)
}

func TestAnotherPlacementOfTheSameSizeIsServedImmediately(t *testing.T) {
	d := drive(t, time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(time.Second)
	d.Tell(run("web", 2, 2)).Recorded().Told(web, healthy(2, 2))
}

// revised asks for the same with another version of the pod template.
func revised(r *messages.RunCopy, revision int32) *messages.RunCopy {
	r.Revision = revision
	return r
}

func runs(r *messages.CopyReported, revision int32) *messages.CopyReported {
	r.Revision = revision
	return r
}

func updated(b messages.BindingName, revision int32) *messages.CopyUpdated {
	return &messages.CopyUpdated{Binding: b, Cluster: "m1", Revision: revision}
}

func TestOldReplicasServeWhileAnEditedTemplateRollsOut(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(5 * time.Second)
	d.Tell(revised(run("web", 2, 2), 2)).Recorded(updated("web", 2)).Told(web)
	d.Tell(force("web", api.Healthy)).Told(web, healthy(2, 1))
	d.Tell(revised(run("web", 2, 3), 2)).Recorded().Told(web, healthy(2, 1))
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Recorded().Told(web, runs(healthy(2, 3), 2)).Sleeps()
}

func TestAnEditDuringAStartupBeginsAgain(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Advance(4 * time.Second)
	d.Tell(revised(run("web", 3, 2), 2)).Recorded(scaled("web", 2, 3), updated("web", 2)).Told(web)
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Told(web, runs(healthy(3, 2), 2))
}

func TestScalingDownDoesNotEndARollout(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 3, 1))
	d.Advance(5 * time.Second)
	d.Tell(revised(run("web", 3, 2), 2))
	d.Tell(revised(run("web", 2, 3), 2)).Recorded(scaled("web", 3, 2)).Told(web, healthy(3, 1))
	d.Advance(5*time.Second).Told(web, runs(healthy(2, 3), 2))
}

func TestWhoDoesNotKnowTheRevisionRollsNothingBack(t *testing.T) {
	d := drive(t, 0)
	d.Tell(revised(run("web", 2, 1), 2)).Recorded(started("web", 2)).Told(web, runs(healthy(2, 1), 2))
	d.Tell(run("web", 2, 2)).Recorded().Told(web, runs(healthy(2, 2), 2))
}

func TestARemovedCopyIsGone(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Tell(remove("web")).Recorded(stopped("web")).Told(web, removed)
	d.Tell(remove("web")).Recorded().Told(web, removed)
	d.Tell(run("shop", 3, 2)).Recorded(scaled("shop", 1, 3)).Told(shop, healthy(3, 2))
	d.Tell(run("web", 2, 2)).Recorded(started("web", 2)).Told(web, healthy(2, 2))
}

func TestAPreservedCopyIsNotManaged(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	leave := remove("web")
	leave.Preserve = true
	d.Tell(leave).Recorded(&messages.CopyPreserved{Binding: "web", Cluster: "m1"}).Told(web, removed)
	d.Tell(leave).Recorded().Told(web, removed)
	d.Tell(force("", api.Unknown)).Told(web)
}

func TestAPreservedCopyIsTakenOverByItsNextLife(t *testing.T) {
	leave := remove("web")
	leave.Preserve = true
	adopted := &messages.CopyAdopted{Binding: "web", Cluster: "m1", Replicas: 2}
	for name, c := range map[string]struct {
		early time.Duration // how long it is preserved
		next  *messages.RunCopy
		facts []messages.Fact
		told  []messages.Message
		later []messages.Message
	}{
		"it serves immediately":                    {time.Hour, run("web", 2, 1), []messages.Fact{adopted}, []messages.Message{healthy(2, 1)}, nil},
		"it is scaled from what it runs":           {time.Hour, run("web", 3, 1), []messages.Fact{adopted, scaled("web", 2, 3)}, nil, []messages.Message{healthy(3, 1)}},
		"its versions are counted again":           {time.Hour, revised(run("web", 2, 1), 1), []messages.Fact{adopted}, []messages.Message{runs(healthy(2, 1), 1)}, nil},
		"it goes on with what it has yet to start": {time.Second, run("web", 2, 1), []messages.Fact{adopted}, []messages.Message{unhealthy(0)}, []messages.Message{healthy(2, 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, 5*time.Second)
			d.Tell(revised(run("web", 2, 7), 3), run("shop", 1, 1))
			d.Tell(leave)
			d.Advance(c.early).Told(web)
			d.Tell(c.next).Recorded(c.facts...).Told(web, c.told...)
			d.Advance(5*time.Second).Told(web, c.later...)
			d.Tell(remove("web")).Recorded(stopped("web")).Told(web, removed)
			d.Tell(run("web", 2, 2)).Recorded(started("web", 2))
		})
	}
}

func TestTheStartupOfARemovedCopyCountsForNothing(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Advance(time.Second)
	d.Tell(remove("web"), remove("shop"), run("web", 2, 2))
	d.QuietFor(5*time.Second - 1)
	d.Advance(1).Told(web, healthy(2, 2)).Told(shop)
}

func TestAdoptedCopiesServeAlready(t *testing.T) {
	adopt := run("web", 2, 1)
	adopt.Adopt = true
	d := drive(t, time.Hour)
	d.Tell(adopt).Recorded(&messages.CopyAdopted{Binding: "web", Cluster: "m1", Replicas: 2, Health: api.Healthy, Ready: 2}).Told(web, healthy(2, 1)).Sleeps()
	d.Tell(adopt).Recorded().Told(web, healthy(2, 1))
	d.Tell(run("web", 3, 2)).Recorded(scaled("web", 2, 3)).WakesIn(time.Hour)
}

func TestStartupsOfOneInstantEndInOrderOfTheirNames(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, time.Second)
		d.Tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToMember](run("web", 1, 1), run("shop", 1, 1), run("api", 1, 1))...)...)
		var order []string
		for _, m := range d.Advance(time.Second).Mail() {
			order = append(order, m.To.Name)
		}
		require.Equal(t, []string{"api", "shop", "web"}, order)
	})
}

func TestStartupTimesFollowFromTheSeedWithinTheirBounds(t *testing.T) {
	startup := func(seed uint64, b messages.BindingName) time.Duration {
		d := actorstest.Drive(t, member.New("m1", lease, seed))
		d.Tell(behave(2*time.Second, 9*time.Second), run(b, 2, 1))
		for by := range 9000 {
			if len(d.Advance(time.Millisecond).Mail()) > 0 {
				return time.Duration(by+1) * time.Millisecond
			}
		}
		return 0
	}
	seen := map[time.Duration]bool{}
	for i := range 10 {
		b := messages.BindingName(fmt.Sprintf("b%d", i))
		took := startup(7, b)
		require.GreaterOrEqual(t, took, 2*time.Second)
		require.LessOrEqual(t, took, 9*time.Second)
		require.Equal(t, took, startup(7, b))
		seen[took] = true
	}
	require.Greater(t, len(seen), 5, "they are spread")
	require.NotEqual(t, startup(7, "b0"), startup(8, "b0"))
}

func force(b messages.BindingName, h api.ResourceHealth) *messages.HealthForced {
	return &messages.HealthForced{Binding: b, Health: h}
}

func TestHealthIsForcedForOneOrForAll(t *testing.T) {
	report := &messages.CopyReported{Cluster: "m1", Health: api.Unhealthy, ForPlacement: 1}
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Tell(force("web", api.Unhealthy)).Recorded().Told(web, report).Told(shop)
	d.Tell(force("", api.Unknown)).
		Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1}).
		Told(shop, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1})
	d.Tell(force("", api.Healthy)).Told(web, healthy(2, 1)).Told(shop, healthy(1, 1))
}

func TestForcedHealthIsOfCopiesToComeToo(t *testing.T) {
	d := drive(t, time.Second)
	d.Tell(force("web", api.Unhealthy)).Quiet()
	d.Tell(run("web", 2, 1))
	d.Advance(time.Second).Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unhealthy, ForPlacement: 1})
}

func TestAnotherBehaviourShowsImmediatelyWhereItIsAboutHealth(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1))
	d.Tell(behave(time.Second, time.Second)).Quiet()
	d.Tell(&messages.MemberConfigured{Behaviour: messages.MemberBehaviour{Health: api.Unhealthy}}).
		Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unhealthy, ForPlacement: 1})
	d.Tell(&messages.MemberConfigured{}).Told(web, healthy(2, 1))
}

var (
	silence = &messages.OutagesSet{Outages: messages.Outages{Network: true}}
	voice   = &messages.OutagesSet{}
)

// restarted says that the engine went and came back in one instant.
func restarted(d *driver) *messages.EngineRestarted { return &messages.EngineRestarted{Gone: d.Now()} }

func TestASilentMemberLastRenewedItsLeaseAtAMultipleOfTheInterval(t *testing.T) {
	d := drive(t, 0)
	d.Advance(73 * time.Second)
	stale := &messages.ContactLost{At: d.Now(), RenewedAt: actorstest.Start.Add(70 * time.Second)}
	d.Tell(silence).Recorded().Told(home, stale)
	d.Tell(silence).Quiet()
	d.Tell(restarted(d)).Told(home, stale)
	d.Tell(voice).Told(home, &messages.ContactRestored{})
	d.Tell(voice, restarted(d)).Quiet()

	d.Tell(&messages.SettingsChanged{})
	d.Tell(silence).Told(home, &messages.ContactLost{At: d.Now(), RenewedAt: d.Now()})
}

func TestASilenceMaySayWhenTheLeaseWasRenewed(t *testing.T) {
	d := drive(t, 0)
	d.Advance(73 * time.Second)
	heard := d.Now().Add(-4 * time.Second)
	d.Tell(&messages.OutagesSet{Outages: messages.Outages{Network: true}, RenewedAt: heard}).Told(home, &messages.ContactLost{At: d.Now(), RenewedAt: heard})
}

func TestAMemberSaysAgainThatItIsBackWhereNoProbeMayHaveFoundIt(t *testing.T) {
	d := drive(t, 0)
	d.Tell(&messages.SettingsChanged{Settings: messages.Settings{ClusterStatusUpdateFrequency: 10 * time.Second}})
	d.Tell(restarted(d)).Quiet()
	d.Tell(silence, voice)
	d.Advance(9 * time.Second)
	gone := restarted(d)
	d.Tell(gone).Recorded().Told(home, &messages.ContactRestored{})
	d.Advance(time.Second)
	d.Tell(restarted(d)).Quiet()
	d.Tell(gone).Told(home, &messages.ContactRestored{})
}

func TestASilentMemberGoesOnButReportsNothing(t *testing.T) {
	d := drive(t, 5*time.Second)
	d.Tell(run("web", 2, 1))
	d.Tell(silence)
	d.QuietFor(time.Minute)
	d.Tell(force("web", api.Unknown)).Quiet()
	d.Tell(voice).Told(web, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1})
}

func TestAMemberThatIsBackDoesWhatItMissed(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Tell(silence)
	d.Tell(remove("web"), run("shop", 3, 2), run("api", 1, 1)).Quiet()
	d.Tell(voice).
		Recorded(stopped("web"), scaled("shop", 1, 3), started("api", 1)).
		Told(home, &messages.ContactRestored{}).
		Told(web, healthy(2, 1), removed).
		Told(shop, healthy(1, 1), healthy(3, 2))
}

func TestAMemberThatNeverComesBackGivesItsCopiesUp(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Tell(silence)
	d.Tell(remove("web"), run("shop", 3, 2))
	d.Tell(&messages.ClusterDismissed{}).Recorded().Told(web, removed).Told(shop)
	d.Tell(&messages.ClusterDismissed{}).Quiet()
}

func TestAMemberThatIsBackFindsTheWishesOfToday(t *testing.T) {
	d := drive(t, 0)
	d.Tell(run("shop", 1, 1))
	d.Tell(silence)
	d.Tell(run("web", 2, 1), run("shop", 9, 2), remove("web"), run("shop", 2, 3))
	d.Tell(voice).Recorded(scaled("shop", 1, 2)).Told(web, removed).Told(shop, healthy(1, 1), healthy(2, 3))
}

func TestAStrangeMessageIsABrokenInvariant(t *testing.T) {
	require.PanicsWithValue(t, "member m1: unknown message <nil>", func() {
		member.New("m1", lease, 1).Receive(actorstest.Start, nil, &actors.Outbox{})
	})
}

func TestACopySaysOfItselfWhatItIsTold(t *testing.T) {
	says := healthy(2, 1)
	says.Status = `{"step":7}`
	d := drive(t, 0)
	d.Tell(run("web", 2, 1), run("shop", 1, 1))
	d.Tell(&messages.StatusForced{Binding: "web", Status: says.Status}).Recorded().Told(web, says).Told(shop)
}

func TestAMemberAsksWhetherAnOldCopyIsToGo(t *testing.T) {
	d := drive(t, 0)
	d.Tell(&messages.RunCopy{Binding: "web", Replicas: 2, Placement: 1})
	ask := &messages.RemoveCopy{Binding: "web", Ask: true}
	d.Tell(&messages.OutagesSet{Outages: messages.Outages{Network: true}})
	d.Tell(ask, &messages.RemoveCopy{Binding: "shop", Ask: true}).Told(web)
	told := actorstest.MailTo(d.Tell(&messages.OutagesSet{}).Told(shop, &messages.CopyRemoved{Cluster: "m1"}).Mail(), web)
	require.True(t, told[len(told)-1].(*messages.CopyReported).Kept)
	kept := healthy(2, 1)
	kept.Kept = true
	d.Tell(restarted(d)).Told(web, kept)
	d.Tell(ask).Told(web, kept)
	d.Tell(&messages.RunCopy{Binding: "web", Replicas: 2, Placement: 2}).Told(web, healthy(2, 2))
	d.Tell(restarted(d)).Told(web)
	d.Tell(ask).Told(web, &messages.CopyRemoved{Cluster: "m1"})
}

func TestACopyThatRanBeforeIsAsItWasReported(t *testing.T) {
	report := &messages.CopyReported{Cluster: "m1", Health: api.Unhealthy, ForPlacement: 1}
	for name, c := range map[string]struct {
		found messages.CopyFound
		now   *messages.CopyReported
		later []messages.Message
	}{
		"it is well":                    {messages.CopyFound{Health: api.Healthy, Ready: 3}, healthy(3, 1), nil},
		"its replicas were not counted": {messages.CopyFound{Health: api.Healthy}, healthy(3, 1), nil},
		"replicas start":                {messages.CopyFound{Health: api.Healthy, Ready: 1}, healthy(1, 1), []messages.Message{healthy(3, 1)}},
		"it starts":                     {messages.CopyFound{Health: api.Unhealthy, Starting: true}, unhealthy(0), []messages.Message{healthy(3, 1)}},
		"it is Unhealthy, and stays so": {messages.CopyFound{Health: api.Unhealthy}, report, nil},
		"it is Unknown, and stays so":   {messages.CopyFound{Health: api.Unknown}, &messages.CopyReported{Cluster: "m1", Health: api.Unknown, ForPlacement: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			adopt := run("web", 3, 1)
			adopt.Adopt, adopt.Found = true, c.found
			d := drive(t, 5*time.Second)
			d.Tell(adopt).Told(web, c.now)
			d.Advance(time.Minute).Told(web, c.later...)
		})
	}
}
