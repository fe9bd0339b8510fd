package binding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// reconnecting is a policy of divided replicas that says who stays when a cluster comes back.
func reconnecting(s api.ReconnectStrategy) *api.PropagationSpec {
	p := divided()
	p.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{Reconnect: s}}
	return p
}

// cutOff returns a binding that ran on m1:2 m2:2, and whose m2 is cut off and was evicted from for m1.
func cutOff(t *testing.T, policy *api.PropagationSpec) *subject {
	t.Helper()
	b := drive(t, settings(destinationFirst, reportedHealth))
	b.tell(workload(4), claim("default/p", policy))
	b.tell(b.place("m1:2", "m2:2"))
	b.tell(report("m1", api.Healthy, 2, 1), report("m2", api.Healthy, 2, 2))
	b.tell(tainted("m2", b.Now(), "silent"), permit("m2"))
	b.tell(b.replace("m2", "m1:4")).Told(memberAt("m2"), &messages.RemoveCopy{Binding: name, Ask: true})
	return b
}

// back is a report of an old copy whose cluster is back.
func back(h api.ResourceHealth, ready int32) *messages.CopyReported {
	r := report("m2", h, ready, 2)
	r.Kept = true
	return r
}

func TestAnOldCopyIsKeptUntilItIsJudged(t *testing.T) {
	b := cutOff(t, reconnecting(api.ReconnectKeepOriginal))
	adopt := run(2, 4)
	adopt.Adopt = true
	b.tell(back(api.Healthy, 2)).Recorded(&messages.OriginalKept{Binding: name, Cluster: "m2"}).Told(memberAt("m2"), adopt)
	require.True(t, b.asked.Home.Shares[1].Kept)
	require.False(t, b.asked.Home.ToGroup, "nothing else returns by itself")
	b.tell(m2Able)
	require.True(t, b.asked.Home.Shares[1].Due, "at once where there is no failback window")
	n := b.tell(b.comeBack(nil, "m1:2", "m2:2")).Told(memberAt("m2")).Told(memberAt("m1"), run(2, 5))
	require.Contains(t, kinds(n), "ScaleDownEnded")
}

func TestAnOldCopyOnAClusterThatWasChosenAgainIsThatOfATarget(t *testing.T) {
	for name, replicas := range map[string]string{"with more replicas": "m2:4", "with as many as before": "m2:2"} {
		t.Run(name, func(t *testing.T) {
			b := cutOff(t, reconnecting(api.ReconnectKeepOriginal))
			b.tell(report("m1", api.Healthy, 4, 3))
			b.tell(tainted("m1", b.Now(), "silent"), permit("m1"))
			b.tell(b.replace("m1", replicas)).Told(memberAt("m2"))
			n := b.tell(back(api.Healthy, 2)).Told(memberAt("m2"), run(targets(replicas)[0].Replicas, 4))
			require.NotContains(t, kinds(n), "OriginalKept")
		})
	}
}

// m2 was purged directly, so that m3 waits for its copy to go; that of m4, which was evicted from before, must go, too.
func TestWhatWaitsForAnOldCopyToGoStartsWhenItIsKept(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		policy := reconnecting(api.ReconnectKeepOriginal)
		policy.Failover.Cluster.PurgeMode = api.PurgeDirectly
		b := drive(t, settings(destinationFirst, reportedHealth))
		b.tell(workload(4), claim("default/p", policy))
		b.tell(b.place("m1:1", "m2:2", "m4:1"))
		b.tell(report("m1", api.Healthy, 1, 1), report("m2", api.Healthy, 2, 2), report("m4", api.Healthy, 1, 3))
		b.tell(tainted("m4", b.Now(), "silent"), permit("m4"))
		b.tell(b.replace("m4", "m1:2", "m2:2"))
		b.tell(tainted("m2", b.Now(), "silent"), permit("m2"))
		b.tell(b.replace("m2", "m1:2", "m3:2")).Told(memberAt("m3"))
		arrivals := actorstest.Interleave(choose, actorstest.Alone[messages.ToBinding](back(api.Healthy, 2), &messages.CopyRemoved{Cluster: "m4"})...)
		told := actorstest.MailTo(b.tell(arrivals...).Mail(), memberAt("m3"))
		require.Len(t, told, 1)
		require.Equal(t, int32(2), told[0].(*messages.RunCopy).Replicas)
	})
}

func TestAnOldCopyThatBecomesUnhealthyIsRemoved(t *testing.T) {
	b := cutOff(t, reconnecting(api.ReconnectKeepOriginal))
	b.tell(back(api.Healthy, 2))
	n := b.tell(report("m2", api.Unhealthy, 0, 4))
	require.Contains(t, n.Facts(), &messages.OriginalReleased{Binding: name, Cluster: "m2", Message: "it is Unhealthy"})
	require.False(t, b.asked.Home.Shares[1].Kept)
	b.tell(m2Able).Quiet()
}

func TestTheHealthierStays(t *testing.T) {
	for name, c := range map[string]struct {
		original, inPlace int32
		stays             bool
	}{"the original has more": {2, 3, true}, "a tie": {2, 4, true}, "the replacement has more": {1, 4, false}} {
		t.Run(name, func(t *testing.T) {
			b := cutOff(t, reconnecting(api.ReconnectKeepHealthiest))
			b.tell(report("m1", api.Healthy, c.inPlace, 3))
			b.tell(back(api.Healthy, c.original))
			b.tell(m2Able)
			require.Equal(t, c.stays, b.asked.Home.Shares[1].Due)
			require.Equal(t, c.stays, b.asked.Home.Shares[1].Kept)
		})
	}
}

func TestAnOldCopyGoesWhenHomeIsForgotten(t *testing.T) {
	b := cutOff(t, reconnecting(api.ReconnectKeepOriginal))
	b.tell(back(api.Healthy, 2))
	b.tell(workload(5)).Told(memberAt("m2"), removal)
}

func TestACopyThatAsksIsToldToGoWhenNoBindingJudges(t *testing.T) {
	b := cutOff(t, reconnecting(api.ReconnectKeepOriginal))
	b.tell(workload(5)).Told(memberAt("m2"), removal)
	b.tell(back(api.Healthy, 2)).Quiet() // it said so before it heard that
}

func TestAClusterThatComesBackInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		strategy api.ReconnectStrategy
		setting  func(*messages.Settings)
		health   api.ResourceHealth
		inPlace  int32
		back     bool
	}{
		"is as the setting says":                              {"", withdrawing, api.Healthy, 0, true},
		"is evicted by KeepReplacement":                       {api.ReconnectKeepReplacement, withdrawing, api.Healthy, 0, false},
		"is kept by KeepOriginal":                             {api.ReconnectKeepOriginal, destinationFirst, api.Healthy, 0, true},
		"is evicted by KeepOriginal if the copy is unhealthy": {api.ReconnectKeepOriginal, withdrawing, api.Unhealthy, 0, false},
		"is kept by KeepHealthiest while nothing is ready":    {api.ReconnectKeepHealthiest, withdrawing, api.Healthy, 0, true},
		"is evicted by KeepHealthiest where others have more": {api.ReconnectKeepHealthiest, withdrawing, api.Healthy, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := drive(t, settings(destinationFirst, c.setting))
			b.tell(workload(5), claim("default/p", reconnecting(c.strategy)))
			b.tell(b.place("m1:2", "m2:3"))
			b.tell(report("m2", c.health, 1, 2), tainted("m2", b.Now(), "silent"), permit("m2"))
			b.tell(b.replace("m2", "m1:5"))
			b.tell(report("m1", api.Healthy, 2+c.inPlace, 1))
			require.Equal(t, c.back, len(b.tell(healed("m2")).Facts()) > 0)
		})
	}
}
