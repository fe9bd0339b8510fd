package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

// inTurn tries one cluster after the other, each a term of its own, with as few clusters as it takes.
func inTurn(clusters ...string) *api.Placement {
	p := aggregated()
	for _, c := range clusters {
		p.ClusterAffinities = append(p.ClusterAffinities, api.ClusterAffinityTerm{
			AffinityName: "on-" + c, ClusterAffinity: api.ClusterAffinity{ClusterNames: []string{c}},
		})
	}
	return p
}

// Source of these tests: Karmada's behaviour with clusterAffinities, whose starting term follows from what
// status.schedulerObservingAffinityName says, and since 1.19 from rescheduleTriggeredAt.
func TestTheSearchStartsAtTheTermInUse(t *testing.T) {
	at := actorstest.Start
	for name, c := range map[string]struct {
		observed     string
		rescheduleAt time.Time
		replicas     int32
		want         string
	}{
		"with none in use at the first":           {"", time.Time{}, 2, "on-m1"},
		"in use, it keeps what it has":            {"on-m2", time.Time{}, 2, "on-m2"},
		"from there the next ones in order":       {"on-m2", time.Time{}, 6, "on-m3"},
		"never back by itself":                    {"on-m3", time.Time{}, 2, "on-m3"},
		"a term that is gone is none":             {"on-m9", time.Time{}, 2, "on-m1"},
		"a reschedule starts at the first":        {"on-m3", at.Add(time.Second), 2, "on-m1"},
		"and goes on from there":                  {"on-m3", at.Add(time.Second), 4, "on-m2"},
		"one that was answered does not any more": {"on-m3", at.Add(-time.Second), 2, "on-m3"},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(), cluster("m1", "3"), cluster("m2", "5"), cluster("m3", "9"))
			m := ask("web", c.replicas, inTurn("m1", "m2", "m3"))
			m.Affinity, m.LastScheduled, m.RescheduleAt = c.observed, at, c.rescheduleAt
			require.Equal(t, c.want, decided(t, d.Tell(m), "web").Affinity)
		})
	}
}

func TestWhereAllTermsFailTheFirstErrorDecides(t *testing.T) {
	for name, c := range map[string]struct {
		first, second messages.ToScheduler
		observed      string
		reason        string
		cleared       bool
	}{
		"no cluster first: the result is void":       {cluster("m1", "9", "down"), cluster("m2", "1"), "", api.ReasonNoClusterFit, true},
		"no capacity first: the result stays":        {cluster("m1", "1"), cluster("m2", "9", "down"), "", api.ReasonUnschedulable, false},
		"the term in use is the first that is tried": {cluster("m1", "1"), cluster("m2", "9", "down"), "on-m2", api.ReasonNoClusterFit, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, settings(clearing), c.first, c.second, cluster("m3", "9"))
			m := ask("web", 4, inTurn("m1", "m2"))
			m.Targets, m.Affinity = targets("m3:4"), c.observed
			told := decided(t, d.Tell(m), "web")
			require.Equal(t, messages.PlacementFailed, told.Outcome)
			require.Equal(t, c.reason, told.Reason)
			require.Equal(t, c.cleared, told.Cleared)
		})
	}
}
