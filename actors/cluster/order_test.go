package cluster_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
)

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	var first *actorstest.Outcome
	ways := 0
	actorstest.EveryWay(func(choose actorstest.Choose) {
		f := newFleet(t, nil, legacy)
		f.create("down", rule("down:NoExecute", when("Ready", "NotIn", "True"), when("Ready", "In", "True")))
		f.create("calm", rule("down:NoExecute", nil, when("Maintenance", "In", "True")))
		f.tell(&messages.BindingPlaced{Binding: "old"})
		f.Advance(time.Second)
		arrivals := actorstest.Interleave(choose,
			[]messages.Message{report("Ready", "False"), report("Disk", "False"), edit("theirs:NoExecute")},
			[]messages.Message{stale(-time.Hour), &messages.ContactRestored{}},
			[]messages.Message{&messages.BindingPlaced{Binding: "new"}},
			[]messages.Message{&messages.BindingLeft{Binding: "old"}},
		)
		f.Post(self, arrivals...)
		got := f.Advance(0).Outcome()
		delete(got.Last, bindingAt("old")) // whether it still hears depends on when it leaves
		if first == nil {
			first = &got
		}
		require.Equal(t, *first, got)
		ways++
	})
	require.Equal(t, 420, ways)
}

func TestWhoseTurnItIsDoesNotMatter(t *testing.T) {
	var first *actorstest.Outcome
	actorstest.EveryWay(func(choose actorstest.Choose) {
		started := false
		f := newFleet(t, func(n int) int {
			if !started {
				return 0
			}
			return choose(n)
		}, nil)
		f.create("down", rule("down:NoExecute", when("Ready", "NotIn", "True"), when("Ready", "In", "True")))
		f.create("calm", rule("down:NoExecute", nil, when("Maintenance", "In", "True")))
		f.tell(&messages.BindingPlaced{Binding: "web"})
		started = true
		f.Post(self, report("Ready", "False"), report("Maintenance", "True"), report("Maintenance", "False"))
		f.Post(policyAt("calm"), &messages.PolicyApplied{Spec: rule("down:NoExecute", nil, when("Maintenance", "In", "Unknown"))})
		got := f.Advance(0).Outcome()
		if first == nil {
			first = &got
		}
		require.Equal(t, *first, got)
		require.Len(t, actorstest.FactsOf[*messages.TaintAdded](f.Facts()), 2)
	})
}
