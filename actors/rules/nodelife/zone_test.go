package nodelife_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/node/topology"

	"leeward/actors/rules/nodelife"
)

func TestZonesOfNodes(t *testing.T) {
	const oldZone, oldRegion = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
	const zone, region = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
	seen := map[string]string{}
	for name, c := range map[string]struct {
		labels map[string]string
		want   nodelife.Zone
		text   string
	}{
		"no labels":                       {nil, nodelife.Zone{}, ""},
		"a zone":                          {map[string]string{zone: "a"}, nodelife.Zone{Name: "a"}, "a"},
		"a region":                        {map[string]string{region: "a"}, nodelife.Zone{Region: "a"}, "a/"},
		"both":                            {map[string]string{zone: "b", region: "a"}, nodelife.Zone{Region: "a", Name: "b"}, "a/b"},
		"the old labels win":              {map[string]string{zone: "b", oldZone: "c", region: "a", oldRegion: "d"}, nodelife.Zone{Region: "d", Name: "c"}, "d/c"},
		"an old label wins even if empty": {map[string]string{zone: "e", oldZone: "", region: "f"}, nodelife.Zone{Region: "f"}, "f/"},
	} {
		t.Run(name, func(t *testing.T) {
			got := nodelife.ZoneOf(c.labels)
			require.Equal(t, c.want, got)
			require.Equal(t, c.text, got.String())
			require.NotContains(t, seen, c.text, "two zones read the same")
			seen[c.text] = name
			upstream := topology.GetZoneKey(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: c.labels}})
			require.Equal(t, upstream == "", got == nodelife.Zone{})
			require.Contains(t, []string{"", c.want.Region + ":\x00:" + c.want.Name}, upstream)
		})
	}
	require.True(t, nodelife.Counted(map[string]string{zone: "a"}))
	require.False(t, nodelife.Counted(map[string]string{"node.kubernetes.io/exclude-disruption": "false"}))
}

func TestTheStateOfAZone(t *testing.T) {
	for name, c := range map[string]struct {
		ready, notReady int
		want            nodelife.State
	}{
		"nobody":                          {0, 0, nodelife.Normal},
		"all ready":                       {5, 0, nodelife.Normal},
		"one of one":                      {0, 1, nodelife.FullDisruption},
		"all of many":                     {0, 40, nodelife.FullDisruption},
		"two of three are not enough":     {1, 2, nodelife.Normal},
		"three of four":                   {1, 3, nodelife.PartialDisruption},
		"three of six are half":           {3, 3, nodelife.Normal},
		"eleven of twenty are 55 percent": {9, 11, nodelife.PartialDisruption},
		"54 of 100":                       {46, 54, nodelife.Normal},
		"55 of 100":                       {45, 55, nodelife.PartialDisruption},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, nodelife.StateOf(nodelife.Count{Ready: c.ready, NotReady: c.notReady}, 0.55))
		})
	}
	require.Equal(t, "PartialDisruption", nodelife.PartialDisruption.String())
}

var limits = nodelife.Limits{Rate: 2, SecondaryRate: 0.5, LargeCluster: 5, Threshold: 0.55}

func TestTheRateOfAZone(t *testing.T) {
	for name, c := range map[string]struct {
		state nodelife.State
		size  int
		want  float64
	}{
		"normal":                             {nodelife.Normal, 5, 2},
		"partial and small stops":            {nodelife.PartialDisruption, 5, 0},
		"partial and large slows down":       {nodelife.PartialDisruption, 6, 0.5},
		"full goes at the normal rate":       {nodelife.FullDisruption, 6, 2},
		"full and small at the normal, also": {nodelife.FullDisruption, 4, 2},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, limits.RateOf(c.state, c.size)) })
	}
}

// TestDisruption has the vectors that were probed on the real controller, and the changes between them.
func TestDisruption(t *testing.T) {
	a, b := nodelife.Zone{Name: "a"}, nodelife.Zone{Name: "b"}
	const initial, normal, partial, full = nodelife.Initial, nodelife.Normal, nodelife.PartialDisruption, nodelife.FullDisruption
	one := func(before nodelife.State, ready, not int) []nodelife.Seen {
		return []nodelife.Seen{{Zone: a, Before: before, Count: nodelife.Count{Ready: ready, NotReady: not}}}
	}
	two := func(before nodelife.State, ready, not int, beforeB nodelife.State, readyB, notB int) []nodelife.Seen {
		return []nodelife.Seen{
			{Zone: b, Before: beforeB, Count: nodelife.Count{Ready: readyB, NotReady: notB}},
			{Zone: a, Before: before, Count: nodelife.Count{Ready: ready, NotReady: not}},
		}
	}
	limited := func(z nodelife.Zone, s nodelife.State, rate float64) nodelife.ZoneState {
		return nodelife.ZoneState{Zone: z, State: s, Changed: true, Limited: true, Rate: rate}
	}
	for name, c := range map[string]struct {
		zones         []nodelife.Seen
		entered, left bool
		want          []nodelife.ZoneState
	}{
		"no zones": {nil, false, false, nil},
		"a new zone that is well": {
			one(initial, 3, 0), false, false, []nodelife.ZoneState{limited(a, normal, 2)},
		},
		"nothing new": {one(normal, 3, 1), false, false, []nodelife.ZoneState{{Zone: a, State: normal}}},
		"four of six": {one(normal, 2, 4), false, false, []nodelife.ZoneState{limited(a, partial, 0.5)}},
		"four of five": {
			one(normal, 1, 4), false, false, []nodelife.ZoneState{limited(a, partial, 0)},
		},
		"two of three": {one(normal, 1, 2), false, false, []nodelife.ZoneState{{Zone: a, State: normal}}},
		"the only zone is down": {
			one(normal, 0, 4), true, false, []nodelife.ZoneState{limited(a, full, 0)},
		},
		"the only node is down": {one(initial, 0, 1), true, false, []nodelife.ZoneState{limited(a, full, 0)}},
		"one of two zones is down": {
			two(normal, 0, 4, normal, 3, 0), false, false, []nodelife.ZoneState{limited(a, full, 2), {Zone: b, State: normal}},
		},
		"then the other": {
			two(full, 0, 4, normal, 0, 3), true, false,
			[]nodelife.ZoneState{{Zone: a, State: full, Limited: true}, limited(b, full, 0)},
		},
		"both still down": {two(full, 0, 4, full, 0, 3), false, false, []nodelife.ZoneState{{Zone: a, State: full}, {Zone: b, State: full}}},
		"the second is back": {
			two(full, 0, 4, full, 3, 0), false, true,
			[]nodelife.ZoneState{{Zone: a, State: full, Limited: true, Rate: 2}, limited(b, normal, 2)},
		},
		"back, and most of it not": {
			two(full, 0, 4, full, 1, 3), false, true,
			[]nodelife.ZoneState{{Zone: a, State: full, Limited: true, Rate: 2}, limited(b, partial, 0)},
		},
		"a zone that joins while all others are down": {
			two(full, 0, 4, initial, 1, 0), false, false,
			[]nodelife.ZoneState{{Zone: a, State: full}, limited(b, normal, 2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, nodelife.Disruption{Entered: c.entered, Left: c.left, Zones: c.want}, nodelife.Assess(c.zones, limits))
		})
	}
}

func TestTheLimiterOfAZone(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	take := func(l *nodelife.Limiter, seconds float64) bool {
		next, ok := l.Take(at(seconds))
		*l = next
		return ok
	}

	l := nodelife.NewLimiter(0.5)
	require.True(t, take(&l, 0), "the first bucket is full")
	require.False(t, take(&l, 1.9))
	require.True(t, take(&l, 2))
	require.True(t, take(&l, 60))
	require.False(t, take(&l, 61), "it holds one token only")

	l = nodelife.NewLimiter(0)
	require.True(t, take(&l, 0), "rate 0 lets one through")
	require.False(t, take(&l, 1e6))
	_, ever := l.FreeAt()
	require.False(t, ever)

	l = nodelife.NewLimiter(2).Swap(0, at(0), true)
	require.False(t, take(&l, 1e6), "a limiter that was switched off lets none through")

	l = l.Swap(2, at(10), true)
	require.False(t, take(&l, 10.4), "what was off begins empty")
	require.True(t, take(&l, 10.5))

	off := nodelife.NewLimiter(1).Swap(0, at(0), true)
	stuck := off.Swap(1, at(1), true)
	require.False(t, take(&stuck, 1e6), "a rate of 1 sticks at zero")
	free := off.Swap(1, at(1), false)
	require.True(t, take(&free, 2))

	l = nodelife.NewLimiter(2)
	require.True(t, take(&l, 0))
	same := l.Swap(2, at(0.1), true)
	require.Equal(t, l, same, "the same rate changes nothing")
	slow := l.Swap(0.5, at(1), true)
	require.True(t, take(&slow, 1), "there was a token, so the new bucket is full")
	slow = l.Swap(0.5, at(0.1), true)
	require.False(t, take(&slow, 2))
	require.True(t, take(&slow, 2.1))
}
