package invariant_test

import (
	"testing"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

func TestWhatFailsBackReturnsToWhereItRan(t *testing.T) {
	ran := func(on ...string) *messages.FailbackTargetsChanged {
		f := &messages.FailbackTargetsChanged{Binding: "d/web"}
		for _, name := range on {
			f.Clusters = append(f.Clusters, api.TargetCluster{Name: name, Replicas: 1})
		}
		return f
	}
	returns := func(to ...string) *messages.FailbackStarted {
		return &messages.FailbackStarted{Binding: "d/web", Clusters: ran(to...).Clusters}
	}
	toM1 := &messages.ShareFailbackScheduled{Binding: "d/web", Cluster: "m1", At: start.Add(time.Minute)}
	written := func(b *api.ResourceBinding) {
		b.Status.Home = []api.PreferredShare{{TargetCluster: api.TargetCluster{Name: "m1", Replicas: 1}}}
	}
	changed := func(what string) *messages.BindingUpdated {
		return &messages.BindingUpdated{Binding: "d/web", Changed: []string{what}}
	}
	gone := &messages.BindingDeleted{Binding: "d/web"}
	judge(t, map[string]ruling{
		"it ran there":                         {situation{facts: []messages.Fact{ran("m1", "m2"), toM1}, next: []messages.Fact{returns("m1")}}, invariant.FailsBack, false},
		"it ran elsewhere":                     {situation{facts: []messages.Fact{ran("m2")}, next: []messages.Fact{returns("m1")}}, invariant.FailsBack, true},
		"one of two was not its own":           {situation{facts: []messages.Fact{ran("m1"), returns("m1", "m2")}}, invariant.FailsBack, true},
		"it never ran anywhere before":         {situation{facts: []messages.Fact{toM1}}, invariant.FailsBack, true},
		"it is there again":                    {situation{facts: []messages.Fact{ran("m1"), ran(), toM1}}, invariant.FailsBack, true},
		"it arrives in that instant":           {situation{facts: []messages.Fact{ran("m1"), toM1}, next: []messages.Fact{returns("m1"), ran()}}, invariant.FailsBack, false},
		"it was made again":                    {situation{facts: []messages.Fact{ran("m1")}, next: []messages.Fact{gone, toM1}}, invariant.FailsBack, true},
		"it was scaled since":                  {situation{facts: []messages.Fact{ran("m1"), changed("replicas")}, next: []messages.Fact{toM1}}, invariant.FailsBack, true},
		"its priority was edited since":        {situation{facts: []messages.Fact{ran("m1"), changed("schedulePriority")}, next: []messages.Fact{toM1}}, invariant.FailsBack, false},
		"a fresh placement was asked for":      {situation{facts: []messages.Fact{ran("m1"), &messages.RescheduleRequested{Binding: "d/web"}, toM1}}, invariant.FailsBack, true},
		"its object said so before all facts":  {situation{binding: written, facts: []messages.Fact{toM1}}, invariant.FailsBack, false},
		"its object says another cluster":      {situation{binding: written, facts: []messages.Fact{returns("m2")}}, invariant.FailsBack, true},
		"it returns to an earlier group":       {situation{facts: []messages.Fact{&messages.FailbackStarted{Binding: "d/web", Affinity: "first"}}}, invariant.FailsBack, false},
		"it returns neither there nor to some": {situation{facts: []messages.Fact{&messages.FailbackStarted{Binding: "d/web"}}}, invariant.FailsBack, true},
	})
}
