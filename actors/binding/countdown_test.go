package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

var fiveMinutes = tolerates("down", 300)

func TestATaintThatIsNotToleratedEvictsImmediately(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down")).Recorded().Told(governor, wish("m1", b.Now())).Sleeps()
}

func TestATolerationCountsFromTheTaint(t *testing.T) {
	b := placed(t, settings(), duplicated(fiveMinutes), "m1:2", "m2:2")
	b.advance(time.Hour)
	added := b.Now().Add(-time.Minute)
	b.tell(tainted("m1", added, "down")).
		Recorded(counting("m1", bearing(fiveMinutes, "down", added))).Told(governor).WakesIn(4 * time.Minute)
	b.advance(4*time.Minute - 1).Quiet()
	b.advance(1).Recorded().Told(governor, wish("m1", added.Add(5*time.Minute))).Sleeps()
}

func TestATolerationWithoutSecondsLastsForEver(t *testing.T) {
	b := placed(t, settings(), duplicated(tolerates("down", -1)), "m1:2")
	b.tell(tainted("m1", b.Now(), "down")).Quiet().Sleeps()
}

func TestATaintThatIsOlderThanTheTolerationEvictsImmediately(t *testing.T) {
	b := placed(t, settings(), duplicated(fiveMinutes), "m1:2")
	b.advance(time.Hour)
	added := b.Now().Add(-10 * time.Minute)
	b.tell(tainted("m1", added, "down")).Recorded().Told(governor, wish("m1", added.Add(5*time.Minute)))
}

func TestATaintWithoutATimeCountsFromNow(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.advance(time.Minute)
	m := tainted("m1", b.Now(), "down")
	m.Taints[0].TimeAdded = nil
	b.tell(m).Told(governor, wish("m1", b.Now()))
}

func TestAnEarlyRemovalStopsTheCountdown(t *testing.T) {
	b := placed(t, settings(), duplicated(fiveMinutes), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.approach(5 * time.Minute)
	b.tell(healed("m1")).Recorded(uncounted("m1", noTaintLeft)).Told(governor).Sleeps()
	b.advance(time.Hour).Quiet()
}

// A taint may get another cause while it counts. The last one is named.
func TestThePolicyThatAsksForATaintNowIsNamed(t *testing.T) {
	b := placed(t, settings(relisting), duplicated(fiveMinutes), "m1:2")
	added := b.Now()
	b.tell(tainted("m1", added, "down"))
	b.advance(time.Minute)
	adopted := tainted("m1", added, "down")
	adopted.News, adopted.Causes[0] = false, api.TaintCause{Key: "down", Effect: corev1.TaintEffectNoExecute, By: "policy", Policy: "heir"}
	counted := actorstest.FactsOf[*messages.EvictionScheduled](b.tell(adopted).WakesIn(4 * time.Minute).Facts())
	require.Len(t, counted, 1)
	require.Equal(t, "heir", counted[0].Grounds.Cause.Policy)
	b.advance(4*time.Minute).Told(governor, wish("m1", added.Add(5*time.Minute)))
	facts := actorstest.FactsOf[*messages.EvictionStarted](b.tell(permit("m1")).Facts())
	require.Equal(t, "heir", facts[0].Grounds.Cause.Policy)
}

func TestATaintThatComesBackCountsAgain(t *testing.T) {
	b := placed(t, settings(), duplicated(fiveMinutes), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.advance(4 * time.Minute)
	b.tell(healed("m1"))
	b.advance(time.Minute)
	b.tell(tainted("m1", b.Now(), "down")).
		Recorded(counting("m1", bearing(fiveMinutes, "down", b.Now()))).WakesIn(5 * time.Minute)
}

func TestARemovalTakesTheRequestBack(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(healed("m1")).Recorded(uncounted("m1", noTaintLeft)).Told(governor, unwish("m1"))
	b.tell(permit("m1")).Quiet()
}

func TestOfTwoTaintsTheFirstToRunOutCounts(t *testing.T) {
	long, short := tolerates("a", 300), tolerates("b", 60)
	b := placed(t, settings(), duplicated(long, short), "m1:2")
	start := b.Now()
	b.tell(tainted("m1", start, "a")).WakesIn(5 * time.Minute)
	b.tell(tainted("m1", start, "a", "b")).Recorded(counting("m1", bearing(short, "b", start))).WakesIn(time.Minute)
	b.tell(tainted("m1", start, "a")).Recorded(counting("m1", bearing(long, "a", start))).WakesIn(5 * time.Minute)
	b.tell(tainted("m1", start, "a", "c")).Recorded().Told(governor, wish("m1", start))
	b.tell(tainted("m1", start, "a")).
		Recorded(uncounted("m1", noLongerHolds), counting("m1", bearing(long, "a", start))).Told(governor, unwish("m1"))
}

func TestTheSameNewsTwiceIsQuiet(t *testing.T) {
	b := placed(t, settings(), duplicated(fiveMinutes), "m1:2", "m2:2")
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "other"))
	b.tell(tainted("m1", b.Now(), "down"), tainted("m2", b.Now(), "other")).Quiet()
}

func TestNewsOfAStrangeClusterIsQuiet(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2")
	b.tell(tainted("m9", b.Now(), "down"), permit("m9"), permit("m1")).Quiet()
}

func TestEachSwitchKeepsTaintsFromEvicting(t *testing.T) {
	for switched, off := range map[string]func(*messages.Settings){
		"Failover":                     func(s *messages.Settings) { s.Failover = false },
		"EnableTaintManager":           func(s *messages.Settings) { s.EnableTaintManager = false },
		"EnableNoExecuteTaintEviction": func(s *messages.Settings) { s.EnableNoExecuteTaintEviction = false },
	} {
		t.Run(switched, func(t *testing.T) {
			b := placed(t, settings(off), duplicated(), "m1:2")
			b.tell(tainted("m1", b.Now(), "down")).Quiet()
			b.tell(&messages.SettingsChanged{Settings: settings()}).Told(governor, wish("m1", b.Now()))
			b.tell(&messages.SettingsChanged{Settings: settings(off)}).Told(governor, unwish("m1"))
		})
	}
}

func TestTheFirstTolerationOrTheShortest(t *testing.T) {
	long, short := tolerates("down", 8), tolerates("down", 2)
	for match, want := range map[string]time.Duration{messages.MatchFirst: 8 * time.Second, messages.MatchMinimum: 2 * time.Second} {
		t.Run(match, func(t *testing.T) {
			b := placed(t, settings(func(s *messages.Settings) { s.TolerationMatch = match }), duplicated(long, short), "m1:2")
			b.tell(tainted("m1", b.Now(), "down")).WakesIn(want)
		})
	}
}

func TestNumericTolerationsNeedTheirSetting(t *testing.T) {
	below := corev1.Toleration{Key: "load", Operator: "Lt", Value: "9"}
	m := tainted("m1", actorstest.Start, "load")
	m.Taints[0].Value = "5"
	placed(t, settings(func(s *messages.Settings) { s.NumericTolerations = true }), duplicated(below), "m1:2").tell(m).Quiet()
	placed(t, settings(), duplicated(below), "m1:2").tell(m).Told(governor, wish("m1", actorstest.Start))
}

// policy has the binding's policy give other tolerations.
func policy(tolerations ...corev1.Toleration) *messages.ClaimMade {
	return claim("default/p", duplicated(tolerations...))
}

func TestEditedTolerationsCountImmediately(t *testing.T) {
	b := placed(t, settings(), duplicated(tolerates("down", 60)), "m1:2")
	start := b.Now()
	b.tell(tainted("m1", start, "down"))
	b.advance(3 * time.Second)
	longer, shorter := tolerates("down", 600), tolerates("down", 5)
	require.Contains(t, b.tell(policy(longer)).Facts(), messages.Fact(counting("m1", bearing(longer, "down", start))))
	b.WakesIn(597 * time.Second)
	b.tell(policy(shorter)).WakesIn(2 * time.Second)
	b.tell(policy(tolerates("down", 1))).Told(governor, wish("m1", start.Add(time.Second)))
	b.tell(policy(tolerates("down", -1))).Told(governor, unwish("m1")).Sleeps()
}

func TestAShortenedTolerationWaitsForTheReList(t *testing.T) {
	b := placed(t, settings(relisting), duplicated(tolerates("down", 60)), "m1:2")
	start := b.Now()
	b.tell(tainted("m1", start, "down")).WakesIn(time.Minute)
	b.advance(3 * time.Second)
	b.tell(policy(tolerates("down", 5))).WakesIn(7 * time.Second)
	b.tell(policy(tolerates("down", 5))).WakesIn(7 * time.Second)
	b.advance(7*time.Second).Told(governor, wish("m1", start.Add(10*time.Second)))
}

func TestALengthenedTolerationDoesNotWait(t *testing.T) {
	b := placed(t, settings(relisting), duplicated(tolerates("down", 60)), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(policy(tolerates("down", 90))).WakesIn(90 * time.Second)
	b.tell(policy(tolerates("down", 60))).WakesIn(60 * time.Second)
	b.tell(policy(tolerates("down", -1))).Sleeps()
}

func TestAShortenedTolerationDoesNotUndoADepartureThatIsDue(t *testing.T) {
	b := placed(t, settings(relisting), duplicated(tolerates("down", 12)), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.advance(13*time.Second).Told(governor, wish("m1", actorstest.Start.Add(12*time.Second)))
	b.tell(policy(tolerates("down", 5))).Told(governor)
	b.tell(permit("m1"))
	require.Contains(t, kinds(b.Network), "EvictionStarted")
}

func TestABindingThatComesToATaintedClusterWaitsForTheReList(t *testing.T) {
	b := placed(t, settings(relisting), duplicated(tolerates("down", 3)), "m1:2")
	b.advance(time.Minute + 8*time.Second)
	old := tainted("m1", actorstest.Start.Add(time.Minute), "down")
	old.News = false
	b.tell(old).Told(governor).WakesIn(2 * time.Second)
	b.advance(2*time.Second).Told(governor, wish("m1", actorstest.Start.Add(70*time.Second)))
}

func TestWithoutAnAppliedPlacementNothingIsEvictedAndItSaysSo(t *testing.T) {
	manifest := &messages.BindingApplied{Managed: true, Status: &api.BindingStatus{}, Spec: &api.BindingSpec{
		Clusters: targets("m1:2"), Placement: &api.Placement{ClusterTolerations: []corev1.Toleration{fiveMinutes}},
	}}
	b := drive(t, settings(fromAnnotation))
	b.tell(manifest)
	b.tell(tainted("m1", b.Now(), "down")).
		Recorded(&messages.EvictionBlocked{
			Binding: name, Cluster: "m1", Reason: "NoAppliedPlacement",
			Message: "the applied placement is not recorded, so its tolerations are not known",
		}).Told(governor).Sleeps()
	b.tell(tainted("m1", b.Now(), "down")).Quiet()

	b = drive(t, settings())
	b.tell(manifest)
	b.tell(tainted("m1", b.Now(), "down")).WakesIn(5 * time.Minute)
}

func TestTolerationsOfTheAnnotationCountOnceTheSchedulerAppliedThem(t *testing.T) {
	b := placed(t, settings(fromAnnotation), duplicated(tolerates("down", 60)), "m1:2")
	b.tell(tainted("m1", b.Now(), "down")).WakesIn(time.Minute)
	b.tell(policy(tolerates("down", 600))).WakesIn(time.Minute)
	b.tell(b.fail(false)).WakesIn(time.Minute)
	b.tell(policy(tolerates("down", 900)))
	b.tell(b.place("m1:2")).WakesIn(15 * time.Minute)
}

func TestADeadlineBeyondReckoningNeverComes(t *testing.T) {
	b := placed(t, settings(), duplicated(tolerates("down", 1<<62)), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.advance(1000 * time.Hour).Quiet()
}

func TestPriorityGoesWithTheRequest(t *testing.T) {
	spec := duplicated()
	spec.SchedulePriority = &api.SchedulePriority{Priority: 9}
	b := placed(t, settings(), spec, "m1:2")
	want := wish("m1", b.Now())
	want.Priority = 9
	b.tell(tainted("m1", b.Now(), "down")).Told(governor, want)
	require.Equal(t, int32(9), b.asked.Priority)
}
