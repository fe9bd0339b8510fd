package top

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// seen is a picture some seconds later, of one cluster and of the evictions from it.
func seen(seconds int, state string, evictions ...string) *Picture {
	p := &Picture{At: began.Add(time.Duration(seconds) * time.Second), Clusters: []Cluster{{Name: "m1", State: state}}}
	for _, e := range evictions {
		p.Evictions = append(p.Evictions, Eviction{Workload: "shop/web", Cluster: "m1", State: e, Due: began.Add(5 * time.Minute)})
	}
	return p
}

func texts(lines []Line) (all []string) {
	for _, l := range lines {
		all = append(all, l.Text)
	}
	return all
}

func TestAHistoryTellsWhatIsOtherInEachPicture(t *testing.T) {
	h := &History{Of: "a fleet"}
	h.Append(seen(0, "Ready=True"))
	tainted := seen(1, "Ready=False", "eviction scheduled")
	tainted.Clusters[0].Taints = []string{"down:NoExecute"}
	h.Append(tainted)
	h.Append(seen(2, "Ready=True", "blocked"))
	h.Append(seen(3, "Ready=True"))
	more := seen(4, "Ready=True", "evicting")
	more.More.Evictions = 1
	h.Append(more)
	some := seen(5, "Ready=True")
	some.More.Evictions = 1
	h.Append(some)
	_, last := h.Bounds()
	require.Equal(t, []string{
		"m1 Ready=False", "m1 tainted down:NoExecute", "shop/web eviction scheduled from m1",
		"m1 Ready=True", "m1 untainted down:NoExecute", "shop/web blocked from m1",
		"shop/web no longer blocked from m1", "shop/web evicting from m1",
	}, texts(h.At(last).Told), "one that is no longer shown may go on where not all are")
	require.Equal(t, began.Add(4*time.Second), h.Step(last, -1))
	require.Equal(t, began, h.Step(last, -9))
	require.Equal(t, last, h.Step(last, 1))
	require.Equal(t, "Ready=False", h.At(began.Add(1500 * time.Millisecond)).Clusters[0].State)
}

func TestAHistoryIsBounded(t *testing.T) {
	h := &History{}
	for i := range 3 * mostSeen {
		h.Append(seen(i, fmt.Sprint(i)))
	}
	require.Equal(t, mostSeen, h.Changes())
	first, last := h.Bounds()
	require.Equal(t, (mostSeen-1)*time.Second, last.Sub(first))
	require.Len(t, h.At(last).Told, mostTold)
	require.Len(t, h.Spans(7), 7)
}

func TestALiveScreenCountsDownAndFollowsUntilItIsRewound(t *testing.T) {
	h := &History{Of: "a fleet"}
	h.Append(seen(0, "Ready=True"))
	s := Live(h, nil)
	require.NotNil(t, s.Init())
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	s.Update(Arrived{Picture: seen(60, "Ready=False", "eviction scheduled"), Now: now})
	require.Contains(t, text(s), "in 4m ")
	s.Update(second(now.Add(7 * time.Second)))
	require.Contains(t, text(s), "in 3m53s", "the clock goes on where nothing arrives")
	press(s, ",")
	s.Update(second(now.Add(8 * time.Second)))
	require.Contains(t, text(s), "rewound by 1m")
	s.Update(Arrived{Picture: seen(90, "Ready=False", "blocked"), Now: now.Add(30 * time.Second)})
	require.Contains(t, text(s), "rewound by 1m30s")
	press(s, "end")
	require.NotContains(t, text(s), "rewound")
	require.Nil(t, press(s, "space"), "what goes on is not played")
}

func TestADetailShowsAllOfWhyAndScrolls(t *testing.T) {
	s := sized(New(played(t, nginx)), 60, 8)
	press(s, ".", ".", ".", "enter")
	require.Contains(t, text(s), "WHY default/nginx-deployment from member2")
	require.Contains(t, text(s), "taint            cluster.karmada.io/not-ready:NoExecute")
	require.NotContains(t, text(s), "00:06:40")
	press(s, "pgdown", "down", "down")
	require.Contains(t, text(s), "deadline         00:06:40")
	press(s, "pgup", "pgup")
	require.NotContains(t, text(s), "00:06:40")
	press(s, "esc")
	require.Contains(t, text(s), "CLUSTER")
}
