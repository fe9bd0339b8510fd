package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// told are the facts of an instant.
type told struct {
	after time.Duration
	facts []messages.Fact
}

// hear has a monitor hear of instants, one after the other.
func hear(m *invariant.Monitor, objects *store.Store, history []told) {
	for _, h := range history {
		var news []journal.Entry
		for _, f := range h.facts {
			news = append(news, journal.Entry{At: start.Add(h.after), Fact: f})
		}
		m.Settled(start.Add(h.after), objects, news)
	}
}

// permits lets bindings of priority 0 leave m1.
func permits(bindings ...messages.BindingName) *messages.EvictionsPermitted {
	f := &messages.EvictionsPermitted{}
	for _, b := range bindings {
		f.Permits = append(f.Permits, messages.Permit{Binding: b, Cluster: "m1"})
	}
	return f
}

func breaker(state string) *messages.BreakerChanged { return &messages.BreakerChanged{State: state} }

func set(field, to string) *messages.SettingChanged {
	return &messages.SettingChanged{Field: field, To: to}
}

// fleet has four bindings on m1 in eu, of three clusters of which so many are down.
func fleet(down int) *store.Store {
	s := store.New(1)
	for i, name := range []string{"m1", "m2", "m3"} {
		status := metav1.ConditionTrue
		if i < down {
			status = metav1.ConditionFalse
		}
		c := &api.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: "cluster.karmada.io/v1alpha1", Kind: "Cluster"}}
		c.Name, c.Spec.Region = name, "eu"
		c.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: status}}
		s.Put(c)
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		b := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}}
		b.Namespace, b.Name, b.Spec.Clusters = "d", name, []api.TargetCluster{{Name: "m1"}}
		s.Put(b)
	}
	return s
}

func TestPermitsKeepToTheLimits(t *testing.T) {
	const s, m = time.Second, time.Minute
	one := func(after time.Duration, facts ...messages.Fact) told { return told{after, facts} }
	half := messages.Settings{FleetBreakerShare: 0.5, BreakerMinimum: 2, BreakerWindow: 10 * m, BreakerTrials: 1}
	region, priority := half, half
	region.FleetBreakerShare, region.RegionBreakerShare = 0, 0.5
	priority.FleetBreakerShare, priority.PriorityBreakerShare = 0, 0.5
	eu, zero := &messages.BreakerChanged{Region: "eu", State: "Open"}, &messages.BreakerChanged{Priority: new(int32), State: "Open"}
	void := &messages.ScheduleFailed{Binding: "d/d", Cleared: true, Before: []api.TargetCluster{{Name: "m2"}, {Name: "m3"}}}
	moved := &messages.Scheduled{Binding: "d/e", Before: void.Before, Clusters: []api.TargetCluster{{Name: "us-1"}, {Name: "us-2"}}}
	urgent := permits("a", "b", "c")
	for i := range urgent.Permits {
		urgent.Permits[i].Priority = 5
	}
	edited := []messages.Fact{urgent}
	for _, b := range []messages.BindingName{"d/a", "d/b", "d/c", "d/d"} {
		edited = append(edited, &messages.BindingUpdated{Binding: b})
	}
	most := priority
	most.PriorityBreakerShare = 0.75
	back := &messages.EvictionsPermitted{Returned: []messages.Permit{{Binding: "b", Cluster: "m1"}}}
	rate := 0.1
	slow := &messages.GovernorChanged{State: "Cooldown", EvictionsPerSecond: &rate}
	for name, c := range map[string]struct {
		settings messages.Settings
		down     int
		history  []told
		broken   bool
	}{
		"a rate":                                    {messages.Settings{FleetEvictionRate: 1}, 0, []told{one(0, permits("a")), one(s, permits("b"))}, false},
		"too soon":                                  {messages.Settings{FleetEvictionRate: 1}, 0, []told{one(0, permits("a")), one(s-1, permits("b"))}, true},
		"too soon after a restart":                  {messages.Settings{ClusterEvictionRate: 1}, 0, []told{one(0, permits("a"), &messages.Restarted{}, permits("b"))}, true},
		"too soon in a region":                      {messages.Settings{RegionEvictionRate: 1}, 0, []told{one(0, permits("a", "b"))}, true},
		"a burst":                                   {messages.Settings{FleetEvictionRate: 1, EvictionBurst: 2}, 0, []told{one(0, permits("a", "b"))}, false},
		"more than a burst":                         {messages.Settings{FleetEvictionRate: 1, EvictionBurst: 2}, 0, []told{one(0, permits("a", "b", "c"))}, true},
		"another rate counts again":                 {messages.Settings{FleetEvictionRate: 1}, 0, []told{one(0, permits("a")), one(1, set("fleetEvictionRate", "2"), permits("b"))}, false},
		"the rate of a state":                       {messages.Settings{}, 0, []told{one(0, slow, permits("a")), one(10*s, permits("b"))}, false},
		"faster than its state":                     {messages.Settings{FleetEvictionRate: 1}, 0, []told{one(0, slow, permits("a")), one(9*s, permits("b"))}, true},
		"a pause":                                   {messages.Settings{}, 0, []told{one(0, &messages.HoldPlaced{}, permits("a"))}, true},
		"a pause that begins later":                 {messages.Settings{}, 0, []told{one(0, permits("a"), &messages.HoldPlaced{})}, false},
		"a pause that is over":                      {messages.Settings{}, 0, []told{one(0, &messages.HoldPlaced{}, &messages.HoldEnded{}, permits("a"))}, false},
		"a cluster that is held":                    {messages.Settings{}, 0, []told{one(0, &messages.HoldPlaced{HoldScope: messages.HoldScope{Cluster: "m1"}}, permits("a"))}, true},
		"a binding that is held":                    {messages.Settings{}, 0, []told{one(0, &messages.HoldPlaced{HoldScope: messages.HoldScope{Binding: "a"}}, permits("b", "a"))}, true},
		"a blackout":                                {messages.Settings{BlackoutThreshold: 1}, 3, []told{one(0, permits("a"))}, true},
		"no blackout":                               {messages.Settings{BlackoutThreshold: 1}, 2, []told{one(0, permits("a"))}, false},
		"a blackout that begins later":              {messages.Settings{BlackoutThreshold: 1}, 3, []told{one(0, permits("a"), &messages.ConditionChanged{Cluster: "m1", Type: "Ready"})}, false},
		"a small fleet that fails":                  {messages.Settings{UnhealthyClusterThreshold: 0.5, LargeFleetSize: 10}, 3, []told{one(0, permits("a"))}, true},
		"half of the fleet":                         {half, 0, []told{one(0, permits("a", "b"), breaker("Open"))}, false},
		"more than half of it":                      {half, 0, []told{one(0, permits("a", "b", "c"))}, true},
		"more than half of a region":                {region, 0, []told{one(0, permits("a", "b", "c"))}, true},
		"more than half of a priority":              {priority, 0, []told{one(0, permits("a")), one(m, permits("b", "c"))}, true},
		"more than half, in time":                   {half, 0, []told{one(0, permits("a", "b")), one(10*m, permits("c"))}, false},
		"more than half, of fewer since":            {half, 0, []told{one(0, permits("a", "b", "c"), void)}, false},
		"more than half, with one that came back":   {half, 0, []told{one(0, permits("a")), one(s, permits("b"), breaker("Open"), breaker("Closed"), back), one(2*s, permits("b")), one(3*s, permits("c"))}, true},
		"an open breaker of which all came back":    {half, 0, []told{one(0, permits("b"), breaker("Open"), back)}, true},
		"an open breaker of which some just left":   {half, 0, []told{one(0, permits("a")), one(10*m, permits("b"), breaker("Open"), back)}, false},
		"an open breaker of which all left":         {half, 0, []told{one(0, permits("a")), one(11*m, permits("b"), breaker("Open"), back)}, true},
		"an open breaker of which some came back":   {half, 0, []told{one(0, permits("a", "b"), breaker("Open"), back)}, false},
		"half, with one that came back":             {half, 0, []told{one(0, permits("a")), one(s, permits("b"), breaker("Open"), breaker("Closed"), back), one(2*s, permits("b"))}, false},
		"more than half, of which others moved on":  {region, 0, []told{one(0, permits("a", "b", "c"), moved)}, false},
		"most of a priority that they had":          {most, 0, []told{one(0, edited...)}, false},
		"most of a priority that none has":          {most, 0, []told{one(0, urgent)}, true},
		"an open breaker":                           {half, 0, []told{one(0, breaker("Open"), permits("a"))}, true},
		"that of a region":                          {region, 0, []told{one(0, eu, permits("a"))}, true},
		"that of a priority":                        {priority, 0, []told{one(0, zero, permits("a"))}, true},
		"one on trial":                              {half, 0, []told{one(0, breaker("HalfOpen"), permits("a"))}, false},
		"two on trial":                              {half, 0, []told{one(0, breaker("HalfOpen"), permits("a", "b"))}, true},
		"one on trial, and another after a restart": {half, 0, []told{one(0, breaker("HalfOpen"), permits("a"), &messages.Restarted{}, permits("a"))}, false},
		"a breaker that closes counts again":        {half, 0, []told{one(0, permits("a", "b"), breaker("Open"), breaker("HalfOpen"), permits("c"), breaker("Closed"), permits("d"))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			monitor, objects := invariant.New(c.settings, nil), fleet(c.down)
			hear(monitor, objects, c.history)
			names := map[invariant.Name]bool{}
			for _, v := range monitor.Violations() {
				names[v.Invariant] = true
			}
			require.Equal(t, c.broken, names[invariant.LimitsKept], "%v", monitor.Violations())
		})
	}
}

func TestCopiesThatComeInBetweenCount(t *testing.T) {
	half := messages.Settings{FleetBreakerShare: 0.5, BreakerMinimum: 1, BreakerWindow: 10 * time.Minute}
	for name, news := range map[string][]messages.Fact{
		"more copies of a binding": {&messages.Scheduled{Binding: "d/d", Before: []api.TargetCluster{{Name: "m1"}}, Clusters: make([]api.TargetCluster, 5)}},
		"an eviction is withdrawn": {&messages.EvictionWithdrawn{Binding: "d/d"}},
		"of another priority":      {&messages.BindingUpdated{Binding: "d/d"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, objects := invariant.New(half, nil), fleet(0)
			hear(m, objects, []told{{0, []messages.Fact{permits("a")}}})
			d := objects.Binding("d/d")
			more := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: "work.karmada.io/v1alpha2", Kind: "ResourceBinding"}, ObjectMeta: *d.Meta, Spec: *d.Spec}
			more.Spec.Clusters = []api.TargetCluster{{Name: "m1"}, {Name: "m2"}, {Name: "m3"}, {Name: "m4"}, {Name: "m5"}}
			objects.Put(more)
			hear(m, objects, []told{{1, append(news, permits("b"))}})
			objects.Put(fleet(0).Get(api.KeyOf(more)))
			hear(m, objects, []told{{2, []messages.Fact{permits("c")}}, {3, []messages.Fact{permits("d")}}})
			require.Zero(t, m.Counters()[invariant.LimitsKept], "there were eight when the second left")
		})
	}
}
