package invariant_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
)

// serves says that the copy of a binding of namespace d on m1 has so many replicas that serve.
func serves(name messages.BindingName, ready int32) []messages.Fact {
	health := api.Healthy
	if ready == 0 {
		health = api.Unhealthy
	}
	return []messages.Fact{
		&messages.CopyStarted{Binding: "d/" + name, Cluster: "m1", Replicas: max(1, ready)},
		&messages.HealthChanged{Binding: "d/" + name, Cluster: "m1", Health: health, Ready: ready},
	}
}

// purged has a binding leave m1 directly.
func purged(name messages.BindingName) *messages.EvictionStarted {
	f := leaves(name, 1)
	f.Task.PurgeMode = api.PurgeDirectly
	return f
}

// Four bindings have one replica each on m1.
func TestEvictionsLeaveAsManyServingAsBudgetsWant(t *testing.T) {
	counts := messages.Settings{EvictionBudgets: true}
	available := func(n string) api.EvictionBudgetSpec {
		return api.EvictionBudgetSpec{MinAvailable: new(intstr.Parse(n))}
	}
	unavailable := func(n string) api.EvictionBudgetSpec {
		return api.EvictionBudgetSpec{MaxUnavailable: new(intstr.Parse(n))}
	}
	all := and(serves("a", 1), append(serves("b", 1), append(serves("c", 1), serves("d", 1)...)...)...)
	three := and(serves("a", 1), append(serves("b", 1), append(serves("c", 1), serves("d", 0)...)...)...)
	exceeded := &messages.BudgetExceeded{Budget: "d/budget", Binding: "d/a", Cluster: "m1", Reason: "fire"}
	unhealthy := &messages.HealthChanged{Binding: "d/b", Cluster: "m1", Health: api.Unhealthy}
	each := available("1")
	each.PerWorkload = true
	for name, c := range map[string]struct {
		settings messages.Settings
		spec     api.EvictionBudgetSpec
		before   []messages.Fact
		facts    []messages.Fact
		broken   bool
	}{
		"enough go on serving":                     {counts, available("3"), all, []messages.Fact{purged("a")}, false},
		"one too few do":                           {counts, available("4"), all, []messages.Fact{purged("a")}, true},
		"one too few after two":                    {counts, available("3"), all, []messages.Fact{purged("a"), purged("b")}, true},
		"one may be missing":                       {counts, unavailable("1"), all, []messages.Fact{purged("a")}, false},
		"two are":                                  {counts, unavailable("1"), three, []messages.Fact{purged("a")}, true},
		"half is a share":                          {counts, available("50%"), all, []messages.Fact{purged("a"), purged("b"), purged("c")}, true},
		"each by itself":                           {counts, each, all, []messages.Fact{purged("a")}, true},
		"what leaves gracefully takes none":        {counts, available("4"), all, []messages.Fact{leaves("a", 1)}, false},
		"what does not serve takes none":           {counts, available("4"), three, []messages.Fact{purged("d")}, false},
		"what became unhealthy after it counts":    {counts, available("3"), all, []messages.Fact{purged("a"), unhealthy}, false},
		"what became unhealthy before it does not": {counts, available("3"), and(all, unhealthy), []messages.Fact{purged("a")}, true},
		"a user has it exceeded":                   {counts, available("4"), all, []messages.Fact{exceeded, purged("a")}, false},
		"an edit of the instant":                   {counts, available("4"), all, []messages.Fact{&messages.BindingUpdated{Binding: "d/c"}, purged("a")}, false},
		"a cluster whose condition is news":        {counts, available("4"), all, []messages.Fact{&messages.ConditionChanged{Cluster: "m1", Type: "Ready"}, purged("a")}, false},
		"budgets that count for no workload":       {messages.Settings{}, available("4"), all, []messages.Fact{purged("a")}, false},
		"a budget that bounds nothing but how":     {counts, api.EvictionBudgetSpec{}, all, []messages.Fact{purged("a")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			monitor, objects := invariant.New(c.settings, nil), fleet(0)
			for _, b := range objects.Bindings() {
				b.Spec.Replicas = 1
				b.Spec.Placement = &api.Placement{ReplicaScheduling: &api.ReplicaSchedulingStrategy{ReplicaSchedulingType: api.Divided}}
			}
			g := &api.EvictionBudget{TypeMeta: metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"}, Spec: c.spec}
			g.Namespace, g.Name = "d", "budget"
			objects.Put(g)
			hear(monitor, objects, []told{{0, c.before}, {time.Minute, c.facts}})
			require.Equal(t, c.broken, monitor.Counters()[invariant.BudgetsKept] > 0, "%v", monitor.Violations())
		})
	}
}
