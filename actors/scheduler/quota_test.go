package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func enforcing(s *messages.Settings) { s.FederatedQuotaEnforcement = true }
func keeping(s *messages.Settings)   { s.FailoverKeepsQuota = true }

// cpus is a quota of the namespace team.
func cpus(limit string) *messages.QuotaApplied {
	return &messages.QuotaApplied{Namespace: "team", Name: "cpus", Limits: corev1.ResourceList{"cpu": resource.MustParse(limit)}}
}

// roomy is a scheduler of two large clusters and a quota.
func roomy(t *testing.T, limit string, changes ...func(*messages.Settings)) *driver {
	t.Helper()
	return drive(t, settings(append(changes, enforcing)...), cluster("m1", "99"), cluster("m2", "50"), cpus(limit))
}

func requireRefused(t *testing.T, n *actorstest.Network, name messages.BindingName, why string) {
	t.Helper()
	told := decided(t, n, name)
	require.Equal(t, messages.PlacementFailed, told.Outcome)
	require.Equal(t, api.ReasonQuotaExceeded, told.Reason)
	require.Equal(t, "quota team/cpus: "+why, told.Message)
	require.False(t, told.Cleared, "the old result stays")
}

func TestAQuotaRefusesWhatExceedsIt(t *testing.T) {
	d := roomy(t, "5")
	first := ask("team/web", 3, anyOne())
	require.Equal(t, targets("m1:3"), decided(t, d.Tell(first), "team/web").Targets)
	requireRefused(t, d.Tell(ask("team/api", 3, anyOne())), "team/api", "3 more cpu asked for, 3 of 5 taken")
	require.Equal(t, targets("m1:2"), decided(t, d.Tell(ask("team/db", 2, anyOne())), "team/db").Targets)
	require.Equal(t, targets("m1:9"), decided(t, d.Tell(ask("shop/web", 9, anyOne())), "shop/web").Targets, "another namespace")
	require.Equal(t, targets("m1:9"), decided(t, d.Tell(ask("web", 9, anyOne())), "web").Targets, "no namespace at all")

	grows := again(first, "m1:3")
	grows.Replicas = 4
	requireRefused(t, d.Tell(grows), "team/web", "1 more cpu asked for, 5 of 5 taken")
}

func TestEveryCopyOfADuplicatedWorkloadIsCharged(t *testing.T) {
	requireRefused(t, roomy(t, "5").Tell(ask("team/web", 3, everywhere())), "team/web", "6 more cpu asked for, 0 of 5 taken")
}

func TestABindingThatIsRefusedTriesAgainWhenUsageFallsThoughNoCapacityIsCounted(t *testing.T) {
	d := roomy(t, "5", noReservation)
	web := ask("team/web", 3, anyOne())
	d.Tell(web)
	requireRefused(t, d.Tell(ask("team/api", 3, anyOne())), "team/api", "3 more cpu asked for, 3 of 5 taken")
	other := again(web, "m1:3")
	d.Tell(other).Told(bindingAt("team/api"))
	less := again(other, "m1:3")
	less.Replicas = 2
	require.Equal(t, messages.PlacementChosen, decided(t, d.Tell(less), "team/api").Outcome)
}

func TestABindingThatIsRefusedTriesAgainWhenThereIsCapacity(t *testing.T) {
	for name, relief := range map[string]messages.ToScheduler{
		"another ends":         &messages.BindingGone{Binding: "team/web"},
		"the quota grows":      cpus("6"),
		"the quota goes":       &messages.QuotaDeleted{Namespace: "team", Name: "cpus"},
		"the gate is shut off": &messages.SettingsChanged{Settings: settings()},
	} {
		t.Run(name, func(t *testing.T) {
			d := roomy(t, "5")
			d.Tell(ask("team/web", 3, anyOne()))
			d.Tell(ask("team/api", 3, anyOne()))
			told := decided(t, d.Tell(relief), "team/api")
			require.Equal(t, messages.PlacementChosen, told.Outcome)
			require.Equal(t, "quota or usage changed", told.Trigger)
			d.Tell(cpus("1"), &messages.QuotaDeleted{Namespace: "none", Name: "cpus"}).Quiet()
		})
	}
}

func TestOfSeveralQuotasEachCounts(t *testing.T) {
	d := roomy(t, "5")
	wide := cpus("9")
	wide.Name = "a-wide"
	d.Tell(wide).Quiet()
	requireRefused(t, d.Tell(ask("team/web", 6, anyOne())), "team/web", "6 more cpu asked for, 0 of 5 taken")
	told := decided(t, d.Tell(&messages.QuotaDeleted{Namespace: "team", Name: "cpus"}), "team/web")
	require.Equal(t, targets("m1:6"), told.Targets)
}

func TestEachOfSeveralQuotasIsEditedAndDeletedByItsName(t *testing.T) {
	named := func(name, limit string) *messages.QuotaApplied {
		q := cpus(limit)
		q.Name = name
		return q
	}
	d := roomy(t, "9")
	d.Tell(named("z", "1"), named("a", "9"), named("m", "3")).Quiet()
	for _, c := range []struct{ goes, limit string }{{"z", "1"}, {"m", "3"}, {"cpus", "9"}} {
		told := decided(t, d.Tell(ask("team/all", 10, anyOne())), "team/all")
		require.Equal(t, "quota team/a: 10 more cpu asked for, 0 of 9 taken", told.Message, "the first by name")
		d.Tell(&messages.BindingGone{Binding: "team/all"})
		web := messages.BindingName("team/web-" + c.goes)
		if c.limit != "9" {
			told = decided(t, d.Tell(ask(web, 4, anyOne())), web)
			require.Contains(t, told.Message, "0 of ")
		}
		d.Tell(&messages.BindingGone{Binding: web})
		d.Tell(&messages.QuotaDeleted{Namespace: "team", Name: c.goes}).Quiet()
	}
	d.Tell(named("z", "9"), named("m", "9"), named("cpus", "9")).Quiet()
	for _, name := range []string{"z", "a", "cpus", "m"} {
		d.Tell(named(name, "1")).Quiet()
		web := messages.BindingName("team/web-" + name)
		told := decided(t, d.Tell(ask(web, 2, anyOne())), web)
		require.Equal(t, "quota team/"+name+": 2 more cpu asked for, 0 of 1 taken", told.Message)
		d.Tell(&messages.BindingGone{Binding: web})
		d.Tell(&messages.QuotaDeleted{Namespace: "team", Name: name}).Quiet()
	}
	require.Equal(t, targets("m1:9"), decided(t, d.Tell(ask("team/web", 9, anyOne())), "team/web").Targets, "none is left")
}

func TestAQuotaThatComesLaterCountsWhatRuns(t *testing.T) {
	d := drive(t, settings(enforcing), cluster("m1", "99"))
	first := ask("team/web", 4, anyOne())
	d.Tell(first, ask("shop/web", 7, anyOne()))
	d.Tell(cpus("3")).Quiet()
	shrinks := again(first, "m1:4")
	shrinks.Replicas = 3
	require.Equal(t, targets("m1:3"), decided(t, d.Tell(shrinks), "team/web").Targets, "less is always allowed")
	requireRefused(t, d.Tell(ask("team/api", 1, anyOne())), "team/api", "1 more cpu asked for, 3 of 3 taken")
}

func TestAFullQuotaLetsAWorkloadMove(t *testing.T) {
	d := roomy(t, "3")
	first := ask("team/web", 3, anyOne())
	d.Tell(first)
	d.Tell(ask("team/api", 1, anyOne()))
	n := d.Tell(leaving(again(first, "m1:3"), "m1"))
	require.Equal(t, targets("m2:3"), decided(t, n, "team/web").Targets)
	require.Empty(t, actorstest.MailTo(n.Mail(), bindingAt("team/api")), "nothing became free")
}

func TestWhoWasEvictedGoesBeforeWhoWaits(t *testing.T) {
	d := roomy(t, "3", noReservation)
	first, waits := ask("team/web", 3, anyOne()), ask("team/api", 3, anyOne())
	d.Tell(first)
	d.Tell(waits)
	evicted := again(first)
	evicted.Evicting, evicted.Since = []messages.ClusterName{"m1"}, d.Now()
	n := d.Tell(evicted)
	require.Equal(t, targets("m2:3"), decided(t, n, "team/web").Targets)
	require.Empty(t, actorstest.MailTo(n.Mail(), bindingAt("team/api")), "it is told once")
}

func TestAQuotaMayHoldAnEviction(t *testing.T) {
	d := roomy(t, "3")
	first := ask("team/web", 3, anyOne())
	d.Tell(first)
	both := leaving(again(first, "m1:3"), "m1")
	both.Placement = everywhere()
	d.Tell(cluster("m3", "9"))
	told := decided(t, d.Tell(both), "team/web")
	require.Equal(t, messages.PlacementFailed, told.Outcome, "it may not spread either")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Held)
	require.Equal(t, api.ReasonQuotaExceeded, told.Obstacle.Reason)
	require.Equal(t, "quota team/cpus: 3 more cpu asked for, 3 of 3 taken", told.Obstacle.Message)
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(cpus("6")), "team/web").Leaving)
}

func TestReplicasThatRunMayMoveThoughMoreAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		placement *api.Placement
		limit     string
		before    []string
		after     []api.TargetCluster
	}{
		"divided":    {aggregated(), "2", []string{"m1:2"}, targets("m2:2")},
		"duplicated": {twoOfThree(), "4", []string{"m1:2", "m2:2"}, targets("m2:2", "m3:2")},
	} {
		t.Run(name, func(t *testing.T) {
			word := again(ask("team/web", 4, c.placement), c.before...)
			d := drive(t, settings(enforcing, keeping, inPart), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "1"), cpus(c.limit))
			requireRefused(t, d.Tell(word), "team/web", c.limit+" more cpu asked for, "+c.limit+" of "+c.limit+" taken")
			away := leaving(again(word, c.before...), "m1")
			told := decided(t, d.Tell(away), "team/web")
			require.Equal(t, c.after, told.Targets)
			require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
			require.Equal(t, api.ReasonQuotaExceeded, told.Reason)
			require.Equal(t, int32(2), told.Missing)
		})
	}
}

func TestReplicasThatNothingReplacesYetKeepTheirQuota(t *testing.T) {
	inPartOnly := func(changes ...func(*messages.Settings)) *driver {
		d := drive(t, settings(append(changes, enforcing, inPart)...), cluster("m1", "9", "down"), cluster("m2", "2"), cpus("3"))
		told := decided(t, d.Tell(leaving(again(ask("team/web", 3, aggregated()), "m1:3"), "m1")), "team/web")
		require.Equal(t, targets("m2:2"), told.Targets)
		return d
	}
	d := inPartOnly(keeping)
	requireRefused(t, d.Tell(ask("team/api", 1, &api.Placement{})), "team/api", "1 more cpu asked for, 3 of 3 taken")
	require.Equal(t, targets("m2:2", "m3:1"), decided(t, d.Tell(cluster("m3", "9")), "team/web").Targets)

	d = inPartOnly()
	require.Equal(t, targets("m2:1"), decided(t, d.Tell(ask("team/api", 1, &api.Placement{})), "team/api").Targets)
	requireRefused(t, d.Tell(cluster("m3", "9")), "team/web", "1 more cpu asked for, 3 of 3 taken")
}

// TestWhatIsNotWantedAnyMoreKeepsNoQuota: of three replicas that left one runs elsewhere, and two are wanted now.
func TestWhatIsNotWantedAnyMoreKeepsNoQuota(t *testing.T) {
	d := drive(t, settings(enforcing, inPart, keeping), cluster("m1", "9", "down"), cluster("m2", "1"), cpus("3"))
	told := decided(t, d.Tell(leaving(again(ask("team/web", 2, aggregated()), "m1:3"), "m1")), "team/web")
	require.Equal(t, targets("m2:1"), told.Targets)
	requireRefused(t, d.Tell(ask("team/api", 2, &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"m2"}}})), "team/api", "2 more cpu asked for, 2 of 3 taken")
}

func TestWhatNothingReplacesKeepsItsQuotaFromDecisionToDecision(t *testing.T) {
	d := drive(t, settings(enforcing, inPart, keeping), cluster("m1", "9", "down"), cluster("m2", "2"), cpus("4"))
	d.Tell(leaving(again(ask("team/web", 4, aggregated()), "m1:4"), "m1"))
	require.Equal(t, targets("m2:2", "m3:1"), decided(t, d.Tell(cluster("m3", "1")), "team/web").Targets)
	requireRefused(t, d.Tell(ask("team/api", 1, &api.Placement{})), "team/api", "2 more cpu asked for, 4 of 4 taken")
}

func TestWhatWasEvictedFirstHasItsQuotaBack(t *testing.T) {
	for unreplaced, want := range map[int32]messages.PlacementOutcome{3: messages.PlacementChosen, 0: messages.PlacementFailed} {
		d := roomy(t, "3", keeping)
		evicted := again(ask("team/web", 3, anyOne()))
		evicted.Evicting, evicted.Unreplaced = []messages.ClusterName{"m9"}, unreplaced
		n := d.Tell(evicted, ask("team/api", 1, anyOne()))
		require.Equal(t, want, decided(t, n, "team/web").Outcome, "%d keep their quota", unreplaced)
	}
}

// twoOfThree runs all replicas on each of two clusters.
func twoOfThree() *api.Placement {
	return &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}}}
}

func TestQuotasGiveWayInAnyOrderAlike(t *testing.T) {
	var first *actorstest.Outcome
	actorstest.EveryWay(func(choose actorstest.Choose) {
		d := drive(t, settings(enforcing), cluster("m1", "99"))
		d.Tell(ask("team/old", 2, anyOne()))
		n := d.Tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToScheduler](
			cpus("4"), ask("team/a", 2, anyOne()), ask("team/b", 2, anyOne()), &messages.BindingGone{Binding: "team/old"})...)...)
		got := n.Outcome()
		if first == nil {
			first = &got
		}
		require.Equal(t, *first, got)
	})
}

func TestASetIsChargedForAllItsComponents(t *testing.T) {
	d := roomy(t, "5")
	first := askSet("team/lab", 3)
	require.Equal(t, "m1", decided(t, d.Tell(first), "team/lab").Targets[0].Name)
	requireRefused(t, d.Tell(askSet("team/train", 1)), "team/train", "2 more cpu asked for, 4 of 5 taken")
	grows := askSet("team/lab", 5, "m1")
	grows.Request, grows.Targets[0].Components = 2, set(3).Targets
	requireRefused(t, d.Tell(grows), "team/lab", "2 more cpu asked for, 4 of 5 taken")
	shrinks := askSet("team/lab", 1, "m1")
	shrinks.Request = 3
	require.Equal(t, "m1", decided(t, d.Tell(shrinks), "team/train").Targets[0].Name)
}

func TestAFullQuotaStopsNoSetFromMoving(t *testing.T) {
	d := roomy(t, "4")
	told := decided(t, d.Tell(leaving(askSet("team/lab", 3, "m1"), "m1")), "team/lab")
	require.Equal(t, []messages.ClusterName{"m1"}, told.Leaving)
	require.Equal(t, "m2", told.Targets[0].Name)
	requireRefused(t, d.Tell(ask("team/web", 1, anyOne())), "team/web", "1 more cpu asked for, 4 of 4 taken")
}

func TestASetThatMovesKeepsNoQuotaForItsReplacement(t *testing.T) {
	d := roomy(t, "5", keeping)
	told := decided(t, d.Tell(leaving(askSet("team/lab", 3, "m1"), "m1")), "team/lab")
	require.Equal(t, "m2", told.Targets[0].Name)
	require.Equal(t, targets("m1:1"), decided(t, d.Tell(ask("team/web", 1, anyOne())), "team/web").Targets, "four of five are taken")
}

func TestASetWithoutAPlaceKeepsItsQuota(t *testing.T) {
	for name, c := range map[string]struct {
		unreplaced int32
		want       string
	}{
		"all of it, while nothing is in its place": {1, "2 more cpu asked for, 4 of 5 taken"},
		"none of it, once it is given up":          {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := roomy(t, "5", keeping)
			waits := askSet("team/lab", 3)
			waits.Evicting, waits.Unreplaced, waits.Suspended = []messages.ClusterName{"m1"}, c.unreplaced, true
			d.Tell(waits)
			n := d.Tell(ask("team/web", 2, anyOne()))
			if c.want == "" {
				require.Equal(t, targets("m1:2"), decided(t, n, "team/web").Targets)
				return
			}
			requireRefused(t, n, "team/web", c.want)
		})
	}
}

// TestASetKeepsItsQuotaDuringItsHandover: so does any workload.
func TestASetKeepsItsQuotaDuringItsHandover(t *testing.T) {
	d := roomy(t, "9", keeping, graceful)
	edit := askSet("team/lab", 3, "m1", "m2")
	edit.Placement = only("m2")
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, d.Tell(edit), "team/lab").Leaving)
	requireRefused(t, d.Tell(ask("team/web", 2, anyOne())), "team/web", "2 more cpu asked for, 8 of 9 taken")
	ended := &messages.TasksEnded{Binding: "team/lab", Request: 2, Targets: edit.Targets[1:]}
	require.Equal(t, targets("m1:2"), decided(t, d.Tell(ended), "team/web").Targets)
}

func TestWhatReturnsKeepsItsQuotaUntilItsHandoverEnds(t *testing.T) {
	home := &api.Placement{ClusterAffinities: []api.ClusterAffinityTerm{
		{AffinityName: "home", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m1"}}},
		{AffinityName: "abroad", ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{"m2", "m3"}}},
	}}
	d := roomy(t, "5", keeping)
	word := abroad("team/web", home, returnDue)
	word.Targets = targets("m2:2", "m3:2")
	told := d.Tell(cluster("m3", "9"), word).Mail()
	require.Equal(t, []messages.ClusterName{"m2", "m3"}, told[len(told)-1].Message.(*messages.PlacementDecided).Leaving)
	requireRefused(t, d.Tell(ask("team/api", 2, anyOne())), "team/api", "2 more cpu asked for, 4 of 5 taken")
}

func TestAnotherRefusalIsToldBesideTheSameHold(t *testing.T) {
	d := drive(t, settings(enforcing), cluster("m1", "9", "down"), cpus("3"))
	word := leaving(again(ask("team/web", 4, aggregated()), "m1:3"), "m1")
	requireRefused(t, d.Tell(word), "team/web", "1 more cpu asked for, 3 of 3 taken")
	d.Tell(cpus("3")).Quiet()
	n := d.Tell(cpus("2"))
	requireRefused(t, n, "team/web", "1 more cpu asked for, 3 of 2 taken")
	require.Equal(t, []messages.ClusterName{"m1"}, decided(t, n, "team/web").Held)
}
