package health_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/health"
	"leeward/messages"
	"leeward/messages/api"
)

type (
	reports = []health.Report
	targets = []health.Target
)

func TestPlacementIsKept(t *testing.T) {
	two := targets{{"m1", 2, 0, 1}, {"m2", 1, 0, 4}}
	for _, c := range []struct {
		name      string
		reports   reports
		targets   targets
		reported  string // why not, by HealthReported; empty if healthy
		placement string // why not, by HealthOfPlacement
		replicas  int64
	}{
		{"an empty result is healthy", reports{{"m1", api.Unhealthy, 0, 0, 1}}, nil, "", "", 0},
		{"all reported for what they run", reports{{"m1", api.Healthy, 2, 0, 1}, {"m2", api.Healthy, 1, 0, 4}}, two, "", "", 3},
		{"one is silent", reports{{"m2", api.Healthy, 1, 0, 4}}, two, "m1 reports nothing", "m1 reports nothing", 1},
		{"a report without health is silence", reports{{"m1", "", 2, 0, 1}, {"m2", api.Healthy, 1, 0, 4}}, two, "m1 reports nothing", "m1 reports nothing", 3},
		{"one is Unhealthy", reports{{"m1", api.Healthy, 2, 0, 1}, {"m2", api.Unhealthy, 0, 0, 4}}, two, "m2 reports Unhealthy", "m2 reports Unhealthy", 2},
		{"one is Unknown", reports{{"m1", api.Unknown, 2, 0, 1}, {"m2", api.Healthy, 1, 0, 4}}, two, "m1 reports Unknown", "m1 reports Unknown", 3},
		{"two lack: the first of the placement is told", reports{{"m2", api.Unhealthy, 0, 0, 4}}, two, "m1 reports nothing", "m1 reports nothing", 0},
		{"K3, measured b03: old health of a cluster whose share grew", reports{{"m2", api.Healthy, 2, 0, 1}}, targets{{"m2", 3, 0, 2}}, "", "m2 reports an earlier placement", 2},
		{"K3: the share grew and shrank again", reports{{"m2", api.Healthy, 2, 0, 1}}, targets{{"m2", 2, 0, 3}}, "", "m2 reports an earlier placement", 2},
		{"K3: the template was edited since", reports{{"m2", api.Healthy, 2, 2, 2}}, targets{{"m2", 2, 3, 3}}, "", "m2 runs revision 2, not 3", 0},
		{"K3: the template was edited for the first time", reports{{"m2", api.Healthy, 2, 0, 2}}, targets{{"m2", 2, 2, 3}}, "", "m2 runs revision 1, not 2", 0},
		{"Healthy, but not all replicas are ready", reports{{"m2", api.Healthy, 1, 0, 2}}, targets{{"m2", 3, 0, 2}}, "", "m2 has 1 of 3 replicas ready", 1},
		{"more are ready than are to run", reports{{"m2", api.Healthy, 5, 0, 2}}, targets{{"m2", 3, 0, 2}}, "", "", 3},
		{"what has no replicas", reports{{"m2", api.Healthy, 0, 0, 2}}, targets{{"m2", 0, 0, 2}}, "", "", 0},
		{"a cluster that was left does not matter", reports{{"old", api.Unhealthy, 0, 0, 1}, {"m2", api.Healthy, 1, 0, 4}}, two[1:], "", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := health.Of(c.reports, c.targets, messages.HealthReported)
			require.Equal(t, c.reported, v.Reason())
			require.Equal(t, c.reported == "", v.Healthy)
			require.Equal(t, c.replicas, v.Replicas)

			v = health.Of(c.reports, c.targets, messages.HealthOfPlacement)
			require.Equal(t, c.placement, v.Reason())
			require.Equal(t, c.placement == "", v.Healthy)
			require.Equal(t, c.replicas, v.Replicas)
		})
	}
}

// TestPlacementHolds checks on random reports: a placement is healthy if each of its targets does, the
// order of reports does not matter, and the stricter mode never finds more healthy.
func TestPlacementHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 5_000 {
		var rs reports
		var ts targets
		for _, c := range []messages.ClusterName{"m1", "m2", "m3"} {
			if r.IntN(3) > 0 {
				ts = append(ts, health.Target{Cluster: c, Replicas: r.Int32N(3), Revision: r.Int32N(2), Placement: r.Int64N(2)})
			}
			if r.IntN(4) > 0 {
				rs = append(rs, health.Report{Cluster: c, Health: []api.ResourceHealth{api.Healthy, api.Healthy, api.Unhealthy}[r.IntN(3)], ReadyReplicas: r.Int32N(3), Revision: r.Int32N(2), ForPlacement: r.Int64N(2)})
			}
		}
		for _, mode := range []string{messages.HealthReported, messages.HealthOfPlacement} {
			v := health.Of(rs, ts, mode)
			each, replicas := true, int64(0)
			for i := range ts {
				one := health.Of(rs, ts[i:i+1], mode)
				each, replicas = each && one.Healthy, replicas+one.Replicas
			}
			require.Equal(t, each, v.Healthy)
			require.Equal(t, replicas, v.Replicas)
			require.Equal(t, v.Healthy, v.Reason() == "")

			r.Shuffle(len(rs), func(i, j int) { rs[i], rs[j] = rs[j], rs[i] })
			require.Equal(t, v, health.Of(rs, ts, mode))
		}
		if health.Of(rs, ts, messages.HealthOfPlacement).Healthy {
			require.True(t, health.Of(rs, ts, messages.HealthReported).Healthy)
		}
	}
}

func TestJudgingAPlacementAllocatesNothing(t *testing.T) {
	rs, ts := reports{{"m1", api.Healthy, 2, 0, 1}}, targets{{"m1", 2, 0, 1}, {"m2", 1, 0, 4}}
	require.Zero(t, testing.AllocsPerRun(100, func() { health.Of(rs, ts, messages.HealthOfPlacement) }))
}
