package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func back(binding messages.BindingName) *messages.PermitReturned {
	return &messages.PermitReturned{Binding: binding, Cluster: "e1"}
}

func TestAPermitThatComesBackIsGivenToAnother(t *testing.T) {
	for name, s := range map[string]messages.Settings{
		"of the fleet":   {FleetEvictionRate: 1},
		"of a region":    {RegionEvictionRate: 1},
		"of a cluster":   {ClusterEvictionRate: 1},
		"of a burst":     {FleetEvictionRate: 1, EvictionBurst: 1},
		"of two limits":  {FleetEvictionRate: 1, ClusterEvictionRate: 1},
		"beside holders": {FleetEvictionRate: 1, EvictionBudgets: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, s)
			require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b")...)))
			require.Equal(t, []string{"b/e1"}, gone(d.Tell(back("a"))), "in the same instant")
			require.Empty(t, gone(d.Tell(back("a"))), "it has none to give back")
			d.Tell(from("e1", "a")...)
			d.QuietFor(time.Second - 1)
			require.Equal(t, []string{"a/e1"}, gone(d.Advance(1)), "one a second went")
		})
	}
}

func TestAPermitHoldsForItsInstant(t *testing.T) {
	d := drive(t, messages.Settings{FleetEvictionRate: 1})
	d.Tell(from("e1", "a")...)
	d.Advance(time.Second / 2)
	d.Tell(from("e1", "b")...)
	require.Empty(t, gone(d.Tell(back("a"))), "it was used")
}

func TestWhatComesBackIsOnRecordInOrder(t *testing.T) {
	d := drive(t, messages.Settings{FleetEvictionRate: 1, EvictionBurst: 2})
	d.Tell(from("e1", "a", "b")...)
	n := d.Tell(back("b"), back("a"))
	require.Equal(t, []*messages.EvictionsPermitted{{
		Permits:  []messages.Permit{},
		Returned: []messages.Permit{{Binding: "a", Cluster: "e1"}, {Binding: "b", Cluster: "e1"}},
		Counts:   []api.PermitCount{{}},
	}}, actorstest.FactsOf[*messages.EvictionsPermitted](n.Facts()))
}

func TestWhatComesBackCountsForNoBreaker(t *testing.T) {
	d := surveyed(t, breaks())
	d.Tell(from("e1", "a", "b", "c", "d")...)
	d.Tell(back("a"), back("b"), back("c"), back("d"))
	n := d.Tell(from("e1", "e", "f", "g", "h")...)
	require.Len(t, gone(n), 4)
	require.Empty(t, breakers(n), "four of ten go")
}

func TestABreakerThatOpenedForWhatComesBackCloses(t *testing.T) {
	d := opened(t, breaks())
	n := d.Tell(back("e"))
	require.Equal(t, []string{"Closed: the workloads it opened for have no target cluster and keep running", "Open: 5 of 10 copies evicted within 10m: no more evictions"}, breakerStates(n))
	require.Equal(t, []string{"f/e1"}, gone(n), "in its place")

	d = opened(t, breaks())
	d.Tell(&messages.WithdrawRequest{Binding: "f", Cluster: "e1"}).Quiet()
}

func TestWhatComesBackToABreakerIsOnRecord(t *testing.T) {
	d := surveyed(t, breaks())
	d.Tell(append(from("e2", "a"), from("e1", "a", "b")...)...)
	n := d.Tell(&messages.PermitReturned{Binding: "a", Cluster: "e2"}, back("a"))
	require.Equal(t, []*messages.EvictionsPermitted{{
		Permits:  []messages.Permit{},
		Returned: []messages.Permit{{Binding: "a", Cluster: "e1"}, {Binding: "a", Cluster: "e2"}},
		Counts:   []api.PermitCount{{Moved: []api.MovedCount{{From: metav1.MicroTime{Time: d.Now()}, Count: 1, Copies: 10}}}},
	}}, actorstest.FactsOf[*messages.EvictionsPermitted](n.Facts()))
}

func TestATrialThatComesBackIsGivenToAnother(t *testing.T) {
	d := opened(t, breaks())
	require.Equal(t, []string{"f/e1", "g/e1"}, gone(d.Advance(5*time.Minute)))
	require.Equal(t, []string{"h/e1"}, gone(d.Tell(back("f"))))
}
