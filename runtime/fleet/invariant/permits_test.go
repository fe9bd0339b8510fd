package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/store"
)

// starts is an eviction of d/b from m1.
func starts(reason string) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: "d/b", Cluster: "m1", Grounds: messages.Grounds{Reason: reason}}
}

func TestWhatLeavesHasAPermitOfItsInstant(t *testing.T) {
	taint, unhealthy := api.EvictionReasonTaintUntolerated, api.EvictionReasonApplicationFailure
	back := &messages.EvictionsPermitted{Returned: []messages.Permit{{Binding: "d/b", Cluster: "m1"}}}
	pause, minute := &messages.HoldPlaced{Reason: "maintenance"}, time.Minute
	for name, c := range map[string]struct {
		unlimited bool
		history   []told
		broken    bool
	}{
		"it has one":                            {false, []told{{0, []messages.Fact{permits("d/b"), starts(taint)}}}, false},
		"it has none":                           {false, []told{{0, []messages.Fact{starts(taint)}}}, true},
		"it has that of another":                {false, []told{{0, []messages.Fact{permits("d/c"), starts(taint)}}}, true},
		"it has one of a minute ago":            {false, []told{{0, []messages.Fact{permits("d/b")}}, {minute, []messages.Fact{starts(taint)}}}, true},
		"it gave it back":                       {false, []told{{0, []messages.Fact{permits("d/b"), back, starts(taint)}}}, true},
		"it was given another":                  {false, []told{{0, []messages.Fact{permits("d/b"), back, permits("d/b"), starts(taint)}}}, false},
		"nothing counts permits":                {true, []told{{0, []messages.Fact{starts(taint)}}}, false},
		"it is unhealthy":                       {false, []told{{0, []messages.Fact{starts(unhealthy)}}}, false},
		"it leaves by choice":                   {false, []told{{0, []messages.Fact{starts(api.EvictionReasonRebalance)}}}, false},
		"a user released it":                    {false, []told{{0, []messages.Fact{released("d/b"), starts(taint)}}}, false},
		"a user asked for another placement":    {false, []told{{0, []messages.Fact{&messages.RescheduleRequested{Binding: "d/b"}, starts(taint)}}}, false},
		"a user changed what it is":             {false, []told{{0, []messages.Fact{&messages.BindingUpdated{Binding: "d/b"}, starts(taint)}}}, false},
		"evictions are paused":                  {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{starts(taint)}}}, true},
		"evictions of the unhealthy are paused": {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{starts(unhealthy)}}}, true},
		"the pause comes in the same instant":   {true, []told{{0, []messages.Fact{starts(taint), pause}}}, false},
		"the pause is over":                     {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{&messages.HoldEnded{}, starts(taint)}}}, false},
		"it is released in spite of a pause":    {true, []told{{0, []messages.Fact{pause, released("d/b")}}, {minute, []messages.Fact{starts(taint)}}}, false},
		"its release is over": {true, []told{
			{0, []messages.Fact{pause, released("d/b")}},
			{minute, []messages.Fact{&messages.ReleaseEnded{HoldScope: messages.HoldScope{Binding: "d/b"}}, starts(taint)}},
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := messages.Settings{FleetEvictionRate: 100, EvictionBurst: 9}
			if c.unlimited {
				s = messages.Settings{}
			}
			m := invariant.New(s, nil)
			hear(m, store.New(1), c.history)
			require.Equal(t, c.broken, m.Counters()[invariant.PermitValid] > 0)
		})
	}
}

func released(b messages.BindingName) *messages.ReleaseGranted {
	return &messages.ReleaseGranted{HoldScope: messages.HoldScope{Binding: b}, Reason: "a customer waits"}
}

func TestEachPermitIsUsedOrGivenBack(t *testing.T) {
	taint := starts(api.EvictionReasonTaintUntolerated)
	back := &messages.EvictionsPermitted{Returned: []messages.Permit{{Binding: "d/b", Cluster: "m1"}}}
	for name, c := range map[string]struct {
		history []told
		broken  bool
	}{
		"it leaves":                                {[]told{{0, []messages.Fact{permits("d/b"), taint}}}, false},
		"it stays":                                 {[]told{{0, []messages.Fact{permits("d/b")}}}, true},
		"another leaves":                           {[]told{{0, []messages.Fact{permits("d/c"), taint}}}, true},
		"it leaves a minute later":                 {[]told{{0, []messages.Fact{permits("d/b")}}, {time.Minute, []messages.Fact{taint}}}, true},
		"it gives it back":                         {[]told{{0, []messages.Fact{permits("d/b"), back}}}, false},
		"it gives it back and is given it":         {[]told{{0, []messages.Fact{permits("d/b"), back, permits("d/b")}}}, true},
		"it gives it back a minute later":          {[]told{{0, []messages.Fact{permits("d/b")}}, {time.Minute, []messages.Fact{back}}}, true},
		"the engine dies meanwhile":                {[]told{{0, []messages.Fact{permits("d/b"), &messages.Crashed{}}}}, false},
		"the engine dies, and is back immediately": {[]told{{0, []messages.Fact{permits("d/b"), &messages.Crashed{}, &messages.Restarted{}}}}, false},
		"the engine died a minute before":          {[]told{{0, []messages.Fact{&messages.Crashed{}, &messages.Restarted{}}}, {time.Minute, []messages.Fact{permits("d/b")}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := invariant.New(messages.Settings{FleetEvictionRate: 100, EvictionBurst: 9}, nil)
			hear(m, store.New(1), c.history)
			require.Equal(t, c.broken, m.Counters()[invariant.PermitsSpent] > 0)
		})
	}
}

func TestEvictionsTakeTheTimeOfWorkers(t *testing.T) {
	leaves := func(bindings ...messages.BindingName) (facts []messages.Fact) {
		for _, b := range bindings {
			f := *starts(api.EvictionReasonTaintUntolerated)
			f.Binding = b
			facts = append(facts, &f)
		}
		return facts
	}
	const second = time.Second
	for name, c := range map[string]struct {
		workers int
		history []told
		broken  bool
	}{
		"two workers evict two together":                 {2, []told{{0, leaves("d/a", "d/b")}}, false},
		"two workers evict three together":               {2, []told{{0, leaves("d/a", "d/b", "d/c")}}, true},
		"a worker rests":                                 {1, []told{{0, leaves("d/a")}, {2 * second, leaves("d/b")}}, false},
		"a worker does not rest":                         {1, []told{{0, leaves("d/a")}, {2*second - 1, leaves("d/b")}}, true},
		"the first of two workers is free again":         {2, []told{{0, leaves("d/a")}, {second, leaves("d/b")}, {2 * second, leaves("d/c")}}, false},
		"neither of two workers is free":                 {2, []told{{0, leaves("d/a")}, {second, leaves("d/b")}, {2 * second, leaves("d/c", "d/d")}}, true},
		"those without a namespace have their own":       {1, []told{{0, leaves("d/a", "cluster-wide")}}, false},
		"there are no workers":                           {0, []told{{0, leaves("d/a", "d/b", "d/c")}}, false},
		"what a user releases needs none":                {1, []told{{0, append([]messages.Fact{released("d/b")}, leaves("d/a", "d/b")...)}}, false},
		"after a restart it is not known which are busy": {1, []told{{0, leaves("d/a")}, {second, append([]messages.Fact{&messages.Restarted{}}, leaves("d/b")...)}}, false},
		"what leaves for its health needs no worker":     {1, []told{{0, append(leaves("d/a"), starts(api.EvictionReasonApplicationFailure))}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := invariant.New(messages.Settings{EvictionWorkers: c.workers, ResourceEvictionRate: 0.5}, nil)
			hear(m, store.New(1), c.history)
			require.Equal(t, c.broken, m.Counters()[invariant.LimitsKept] > 0)
		})
	}
}
