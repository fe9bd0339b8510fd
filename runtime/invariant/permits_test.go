package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/invariant"
	"leeward/runtime/store"
)

// starts is an eviction of d/b from m1.
func starts(reason string) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: "d/b", Cluster: "m1", Grounds: messages.Grounds{Reason: reason}}
}

func TestWhatLeavesHasAPermitOfItsInstant(t *testing.T) {
	taint, sick := api.EvictionReasonTaintUntolerated, api.EvictionReasonApplicationFailure
	back := &messages.EvictionsPermitted{Returned: []messages.Permit{{Binding: "d/b", Cluster: "m1"}}}
	pause, minute := &messages.HoldPlaced{Reason: "maintenance"}, time.Minute
	for name, c := range map[string]struct {
		unlimited bool
		history   []told
		broken    bool
	}{
		"it has one":                          {false, []told{{0, []messages.Fact{permits("d/b"), starts(taint)}}}, false},
		"it has none":                         {false, []told{{0, []messages.Fact{starts(taint)}}}, true},
		"it has that of another":              {false, []told{{0, []messages.Fact{permits("d/c"), starts(taint)}}}, true},
		"it has one of a minute ago":          {false, []told{{0, []messages.Fact{permits("d/b")}}, {minute, []messages.Fact{starts(taint)}}}, true},
		"it gave it back":                     {false, []told{{0, []messages.Fact{permits("d/b"), back, starts(taint)}}}, true},
		"it was given another":                {false, []told{{0, []messages.Fact{permits("d/b"), back, permits("d/b"), starts(taint)}}}, false},
		"nothing counts permits":              {true, []told{{0, []messages.Fact{starts(taint)}}}, false},
		"it is sick":                          {false, []told{{0, []messages.Fact{starts(sick)}}}, false},
		"it leaves by choice":                 {false, []told{{0, []messages.Fact{starts(api.EvictionReasonRebalance)}}}, false},
		"people released it":                  {false, []told{{0, []messages.Fact{released("d/b"), starts(taint)}}}, false},
		"people asked for another placement":  {false, []told{{0, []messages.Fact{&messages.RescheduleRequested{Binding: "d/b"}, starts(taint)}}}, false},
		"people changed what it is":           {false, []told{{0, []messages.Fact{&messages.BindingUpdated{Binding: "d/b"}, starts(taint)}}}, false},
		"evictions are paused":                {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{starts(taint)}}}, true},
		"evictions of the sick are paused":    {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{starts(sick)}}}, true},
		"the pause comes in the same instant": {true, []told{{0, []messages.Fact{starts(taint), pause}}}, false},
		"the pause is over":                   {true, []told{{0, []messages.Fact{pause}}, {minute, []messages.Fact{&messages.HoldEnded{}, starts(taint)}}}, false},
		"it is released in spite of a pause":  {true, []told{{0, []messages.Fact{pause, released("d/b")}}, {minute, []messages.Fact{starts(taint)}}}, false},
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
