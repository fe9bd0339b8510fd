package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// displaced is the word of a binding that runs on some clusters and had its home on m1 and m2.
func displaced(name messages.BindingName, p *api.Placement, clusters ...string) *messages.PlaceBinding {
	m := again(ask(name, 4, p), clusters...)
	m.Home = &messages.FailbackState{ToGroup: true, Shares: []messages.PreferredShare{
		{TargetCluster: targets("m1:2")[0]}, {TargetCluster: targets("m2:2")[0]},
	}}
	return m
}

// due asks for m2's share.
func due(m *messages.PlaceBinding) *messages.PlaceBinding {
	m.Home.Shares[1].Able, m.Home.Shares[1].Due = true, true
	return m
}

func judged(cluster messages.ClusterName, able bool) *messages.ReturnJudged {
	return &messages.ReturnJudged{Possible: able, Cluster: cluster}
}

func TestWhoseClusterIsBackHearsWhenItCanTakeItsShare(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9", "down"), cluster("m3", "9"))
	word := displaced("web", aggregated(), "m1:2", "m3:2")
	d.Tell(word).Told(bindingAt("web"), kept(word))
	d.Tell(cluster("m2", "1")).Quiet()
	d.Tell(status("m2", "2")).Told(bindingAt("web"), judged("m2", true))
	d.Tell(status("m2", "3")).Quiet()
	d.Tell(cluster("m2", "9", "down")).Told(bindingAt("web"), judged("m2", false))
}

func TestASurvivorIsJudgedByWhatItLacks(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "2"), cluster("m3", "9"))
	word := displaced("web", aggregated(), "m1:1", "m3:3")
	d.Tell(word).Told(bindingAt("web"), kept(word), judged("m1", true))
}

func TestASharesTurnHasCome(t *testing.T) {
	for name, c := range map[string]struct {
		now, want []string
		left      []messages.ClusterName
	}{
		"a substitute has an eviction": {[]string{"m1:2", "m3:2"}, []string{"m1:2", "m2:2"}, []messages.ClusterName{"m3"}},
		"another share waits":          {[]string{"m3:4"}, []string{"m2:2", "m3:2"}, nil},
		"a survivor shrinks":           {[]string{"m1:4"}, []string{"m1:2", "m2:2"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m1 := cluster("m1", "9")
			if name == "another share waits" {
				m1 = cluster("m1", "9", "down")
			}
			d := drive(t, settings(), m1, cluster("m2", "9"), cluster("m3", "9"))
			word := due(displaced("web", aggregated(), c.now...))
			d.Tell(word).Told(bindingAt("web"), kept(word), &messages.PlacementDecided{
				Request: word.Request, Outcome: messages.PlacementChosen, Targets: targets(c.want...), Leaving: c.left,
				Move: api.EvictionReasonFailback, Trigger: "failback", Reason: api.ReasonSuccess,
			})
			d.Tell(status("m2", "9")).Quiet()
		})
	}
}

func TestACopyReturnsWhole(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9"))
	p := &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: api.SpreadByCluster, MinGroups: 2, MaxGroups: 2}}}
	word := due(displaced("web", p, "m1:2", "m3:2"))
	word.Replicas = 2
	mail := d.Tell(word).Mail()
	require.Equal(t, targets("m1:2", "m2:2"), mail[len(mail)-1].Message.(*messages.PlacementDecided).Targets)
}

func TestAShareWaitsWhile(t *testing.T) {
	byRegion := func(m *messages.PlaceBinding) {
		m.Placement = aggregated()
		m.Placement.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: api.SpreadByRegion, MinGroups: 1, MaxGroups: 9}}
		m.Applied = m.Placement
	}
	for name, change := range map[string]func(*messages.PlaceBinding){
		"a cluster has an eviction":             func(m *messages.PlaceBinding) { m.Evicting = []messages.ClusterName{"m4"} },
		"the rest of a spread home is not able": byRegion,
		"the same, where labels are counted": func(m *messages.PlaceBinding) {
			byRegion(m)
			m.Placement.SpreadConstraints[0].SpreadByField, m.Placement.SpreadConstraints[0].SpreadByLabel = "", "rack"
		},
	} {
		t.Run(name, func(t *testing.T) {
			m2 := cluster("m2", "9")
			m2.View.Region = "eu"
			d := drive(t, settings(), cluster("m1", "9", "down"), m2, cluster("m3", "9"))
			word := due(displaced("web", aggregated(), "m3:4"))
			change(word)
			d.Tell(word).Told(bindingAt("web"), kept(word))
		})
	}
}

func TestASpreadHomeIsTakenBackAsAWhole(t *testing.T) {
	in := func(c *messages.ClusterViewed) *messages.ClusterViewed {
		c.View.Region = "eu"
		return c
	}
	d := drive(t, settings(), in(cluster("m1", "9")), in(cluster("m2", "9")), in(cluster("m3", "9")))
	p := aggregated()
	p.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: api.SpreadByRegion, MinGroups: 1, MaxGroups: 9}}
	word := due(displaced("web", p, "m3:4"))
	word.Home.Shares[0].Able, word.Home.Shares[0].Due = true, true
	mail := d.Tell(word).Mail()
	require.Equal(t, targets("m1:2", "m2:2"), mail[len(mail)-1].Message.(*messages.PlacementDecided).Targets)
}

func TestAShareOfTheFirstGroupReturnsAsAnyOther(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9"))
	p := aggregated()
	p.ClusterAffinities = []api.ClusterAffinityTerm{{AffinityName: "home"}}
	word := displaced("web", p, "m1:2", "m3:2")
	word.Affinity = "home"
	d.Tell(word).Told(bindingAt("web"), kept(word), judged("m2", true))
	require.False(t, word.Home.Shares[1].Able, "the binding's own word stays as it is")
}

func TestAShareThatIsKeptReturnsWithoutItsGroup(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9"))
	word := displaced("web", aggregated(), "m3:4")
	word.Home.ToGroup, word.Home.Shares[1].Kept = false, true
	d.Tell(word).Told(bindingAt("web"), kept(word), judged("m2", true))
}

func TestSharesCountAmongTheReturnsImmediately(t *testing.T) {
	d := drive(t, settings(oneAtATime), cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9"))
	first, second := due(displaced("a", aggregated(), "m1:4")), due(displaced("b", aggregated(), "m1:4"))
	d.Tell(first, second)
	require.Len(t, d.Mail(), 3, "both are answered, one returns")
	done := again(first, "m1:2", "m2:2")
	done.Home = nil
	require.Equal(t, api.EvictionReasonFailback, decided(t, d.Tell(done), "b").Move)
}

func TestAClusterThatIsGoneTakesNothingBack(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	word := displaced("web", aggregated(), "m1:4")
	d.Tell(word).Told(bindingAt("web"), kept(word))
}

func TestWhatRunsNowhereHasNoHomeToReturnTo(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9", "down"), cluster("m2", "2"))
	mail := d.Tell(due(displaced("web", aggregated()))).Mail()
	require.Len(t, mail, 2)
	require.Equal(t, messages.PlacementFailed, mail[0].Message.(*messages.PlacementDecided).Outcome)
	require.Equal(t, judged("m2", false), mail[1].Message)
	d.Tell(status("m2", "2")).Quiet()
}

func TestAShareDoesNotReturnToWhereItIsToleratedNoLonger(t *testing.T) {
	m2 := cluster("m2", "9", "failed")
	m2.View.Taints[0].TimeAdded = &metav1.Time{Time: actorstest.Start}
	d := drive(t, settings(), cluster("m1", "9"), m2, cluster("m3", "9"))
	p := aggregated()
	p.ClusterTolerations = []corev1.Toleration{{Key: "failed", TolerationSeconds: new(int64(30))}}
	word := displaced("web", p, "m1:2", "m3:2")
	d.Tell(word).Told(bindingAt("web"), kept(word), judged("m2", true))
	d.Advance(30 * time.Second)
	d.Tell(status("m1", "9")).Told(bindingAt("web"), judged("m2", false))
}
