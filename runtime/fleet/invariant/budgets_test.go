package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// leaves has a binding of namespace d leave m1 for a taint, with so many replicas.
func leaves(name messages.BindingName, replicas int32) *messages.EvictionStarted {
	k := task("m1", start)
	k.Replicas = &replicas
	return &messages.EvictionStarted{Binding: "d/" + name, Cluster: "m1", Task: k, Grounds: messages.Grounds{
		Reason: api.EvictionReasonTaintUntolerated, Taint: &corev1.Taint{Key: "down"},
	}}
}

func waits(reason string) *messages.EvictionBlocked {
	return &messages.EvictionBlocked{Binding: "d/b", Cluster: "m1", Reason: reason}
}

// Four bindings have one replica each.
func TestMovesKeepToBudgets(t *testing.T) {
	const m = time.Minute
	counts := messages.Settings{EvictionBudgets: true}
	one := func(after time.Duration, facts ...messages.Fact) told { return told{after, facts} }
	most := func(replicas string) api.EvictionBudgetSpec {
		return api.EvictionBudgetSpec{MaxMoved: &api.MaxMoved{Replicas: intstr.Parse(replicas), WindowSeconds: 60}}
	}
	each, urgent, unhealthy := most("1"), most("1"), leaves("b", 1)
	each.PerWorkload, urgent.Workloads.MinPriority = true, new(int32(1))
	unhealthy.Grounds.Reason = api.EvictionReasonApplicationFailure
	exceeded := &messages.BudgetExceeded{Budget: "d/budget", Binding: "d/b", Cluster: "m1", Reason: "fire"}
	edited := &messages.BindingUpdated{Binding: "d/c"}
	for name, c := range map[string]struct {
		settings messages.Settings
		spec     api.EvictionBudgetSpec
		history  []told
		broken   bool
	}{
		"as many as may":                        {counts, most("2"), []told{one(0, leaves("a", 1), leaves("b", 1))}, false},
		"one more":                              {counts, most("1"), []told{one(0, leaves("a", 1), leaves("b", 1))}, true},
		"replicas count, not workloads":         {counts, most("2"), []told{one(0, leaves("a", 3))}, true},
		"one more a second too soon":            {counts, most("1"), []told{one(0, leaves("a", 1)), one(m-1, leaves("b", 1))}, true},
		"one more when the window is over":      {counts, most("1"), []told{one(0, leaves("a", 1)), one(m, leaves("b", 1))}, false},
		"half of four":                          {counts, most("50%"), []told{one(0, leaves("a", 1), leaves("b", 1))}, false},
		"more than half of four":                {counts, most("50%"), []told{one(0, leaves("a", 1), leaves("b", 1), leaves("c", 1))}, true},
		"more than half, where there were more": {counts, most("50%"), []told{one(0, leaves("a", 1), leaves("b", 1), edited, leaves("c", 1))}, false},
		"more than half, of what gave some up":  {counts, most("50%"), []told{one(0, leaves("a", 1), leaves("b", 1), &messages.ReplicasReleased{Binding: "d/a", Cluster: "m1"}, leaves("c", 1))}, false},
		"each workload by itself":               {counts, each, []told{one(0, leaves("a", 1), leaves("b", 1))}, false},
		"one workload twice":                    {counts, each, []told{one(0, leaves("a", 1)), one(1, leaves("a", 1))}, true},
		"what an edit does without":             {counts, most("1"), []told{one(0, edited, leaves("c", 1), leaves("a", 1))}, false},
		"what is placed afresh":                 {counts, most("1"), []told{one(0, &messages.RescheduleRequested{Binding: "d/c"}, leaves("c", 1), leaves("a", 1))}, false},
		"a budget for others":                   {counts, urgent, []told{one(0, leaves("a", 1), leaves("b", 1))}, false},
		"what is unhealthy counts for none":     {counts, most("1"), []told{one(0, leaves("a", 1), unhealthy)}, false},
		"a user has it exceeded":                {counts, most("1"), []told{one(0, leaves("a", 1), exceeded, leaves("b", 1))}, false},
		"they had it exceeded before":           {counts, most("1"), []told{one(0, exceeded, leaves("b", 1)), one(1, leaves("b", 1))}, true},
		"one that waited for the budget":        {counts, most("1"), []told{one(0, leaves("a", 1), waits("BudgetSpent")), one(1, leaves("b", 1))}, true},
		"one that waited for a destination":     {counts, most("1"), []told{one(0, waits("NoDestination"), leaves("a", 1)), one(1, leaves("b", 1))}, true},
		"a restart forgets nothing":             {counts, most("1"), []told{one(0, leaves("a", 1)), one(1, &messages.Restarted{}, leaves("b", 1))}, true},
		"budgets that count no more":            {counts, most("1"), []told{one(0, set("evictionBudgets", "false"), leaves("a", 1), leaves("b", 1))}, false},
		"budgets that never did":                {messages.Settings{}, most("1"), []told{one(0, leaves("a", 1), leaves("b", 1))}, false},
	} {
		t.Run(name, func(t *testing.T) {
			monitor, objects := invariant.New(c.settings, nil), fleet(0)
			g := &api.EvictionBudget{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"}, Spec: c.spec}
			g.Namespace, g.Name = "d", "budget"
			objects.Put(g)
			hear(monitor, objects, c.history)
			require.Equal(t, c.broken, monitor.Counters()[invariant.BudgetsKept] > 0, "%v", monitor.Violations())
		})
	}
}
