package scheduler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/scheduler"
	"leeward/messages"
)

var governor = messages.Address{Kind: messages.KindGovernor}

func breaking(s *messages.Settings) { s.FleetBreakerShare = 0.5 }

// counted is what the governor was told of clusters in a step, by name; and of priorities.
func counted(t *testing.T, n *actorstest.Network) (clusters map[messages.ClusterName]int, priorities map[int32]int) {
	t.Helper()
	told := actorstest.MailTo(n.Mail(), governor)
	require.Len(t, told, 1)
	clusters, priorities = map[messages.ClusterName]int{}, map[int32]int{}
	m := told[0].(*messages.CopiesCounted)
	for _, c := range m.Clusters {
		clusters[c.Cluster] = c.Copies
	}
	for _, p := range m.Priorities {
		priorities[p.Priority] = p.Copies
	}
	return clusters, priorities
}

// fleet is a scheduler whose governor knows that m1, m2 and m3 have nothing yet.
func fleet(t *testing.T) *driver {
	t.Helper()
	d := actorstest.Drive(t, scheduler.New(settings(breaking), 1))
	clusters, priorities := counted(t, d.Tell(cluster("m1", "9"), cluster("m2", "9"), cluster("m3", "9")))
	require.Empty(t, clusters)
	require.Empty(t, priorities)
	return d
}

func TestTheGovernorHearsWhatIsPlacedWhereThereIsABreaker(t *testing.T) {
	d := fleet(t)
	gold := ask("a", 1, everywhere())
	gold.Priority = 9
	clusters, priorities := counted(t, d.Tell(gold, ask("b", 1, everywhere())))
	require.Equal(t, map[messages.ClusterName]int{"m1": 2, "m2": 2, "m3": 2}, clusters)
	require.Equal(t, map[int32]int{0: 3, 9: 3}, priorities)

	n := d.Tell(leaving(again(gold, "m1:1", "m2:1", "m3:1"), "m3"))
	clusters, priorities = counted(t, n)
	require.Equal(t, map[messages.ClusterName]int{"m3": 1}, clusters, "only what changed")
	require.Equal(t, map[int32]int{9: 2}, priorities)

	clusters, _ = counted(t, d.Tell(&messages.BindingGone{Binding: "b"}))
	require.Equal(t, map[messages.ClusterName]int{"m1": 1, "m2": 1, "m3": 0}, clusters)
	d.Tell(&messages.BindingGone{Binding: "b"}).Quiet()

	elsewhere := again(gold, "m1:1", "m3:1")
	clusters, priorities = counted(t, d.Tell(elsewhere))
	require.Equal(t, map[messages.ClusterName]int{"m3": 1}, clusters, "m2 came back in its instant")
	require.Equal(t, map[int32]int{9: 3}, priorities)
}

func TestWhoMovesIsCountedWhereItIs(t *testing.T) {
	d := fleet(t)
	m := ask("a", 1, only("m1"))
	d.Tell(m)
	moves := edited(m.Placement, only("m2"), 1, "m1:1")
	moves.Binding = "a"
	clusters, _ := counted(t, d.Tell(moves))
	require.Equal(t, map[messages.ClusterName]int{"m1": 0, "m2": 1}, clusters)
}

func TestAnotherPriorityIsCountedThere(t *testing.T) {
	d := fleet(t)
	m := ask("a", 1, everywhere())
	d.Tell(m)
	m = again(m, "m1:1", "m2:1", "m3:1")
	m.Priority = 9
	_, priorities := counted(t, d.Tell(m))
	require.Equal(t, map[int32]int{0: 0, 9: 3}, priorities)
}

func TestCountingBeginsAndEndsWithTheSettings(t *testing.T) {
	d := drive(t, settings(), cluster("m1", "9"))
	require.Empty(t, actorstest.MailTo(d.Tell(ask("a", 1, everywhere())).Mail(), governor))
	clusters, _ := counted(t, d.Tell(&messages.SettingsChanged{Settings: settings(breaking)}))
	require.Equal(t, map[messages.ClusterName]int{"m1": 1}, clusters)
	require.Empty(t, actorstest.MailTo(d.Tell(&messages.SettingsChanged{Settings: settings()}).Mail(), governor))
	clusters, _ = counted(t, d.Tell(&messages.SettingsChanged{Settings: settings(breaking)}))
	require.Equal(t, map[messages.ClusterName]int{"m1": 1}, clusters, "anew")
	d.Tell(status("m1", "8")).Quiet()
}
