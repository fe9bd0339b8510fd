package kubeapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
)

// The columns of Karmada's kinds are Karmada's, and more where failover needs more. Source: Karmada's printers and
// the additionalPrinterColumns of its CRDs.

var clusterColumns = []column{
	shown("Version", func(c *api.Cluster) any { return c.Status.KubernetesVersion }),
	shown("Mode", func(c *api.Cluster) any { return string(c.Spec.SyncMode) }),
	shown("Ready", func(c *api.Cluster) any { return statusOf(c.Status.Conditions, api.ConditionReady) }),
	ageColumn,
	wide(shown("Zones", func(c *api.Cluster) any { return orNone(strings.Join(c.Spec.Zones, ",")) })),
	wide(shown("Region", func(c *api.Cluster) any { return orNone(c.Spec.Region) })),
	wide(shown("Provider", func(c *api.Cluster) any { return orNone(c.Spec.Provider) })),
	wide(shown("API-Endpoint", func(c *api.Cluster) any { return orNone(c.Spec.APIEndpoint) })),
	wide(shown("Proxy-URL", func(c *api.Cluster) any { return orNone(c.Spec.ProxyURL) })),
	wide(shown("Taints", func(c *api.Cluster) any { return orNone(taintsOf(c.Spec.Taints)) })),
}

var taintPolicyColumns = []column{
	number(shown("Matched", func(p *api.ClusterTaintPolicy) any { return p.Status.MatchedClusters })),
	number(shown("Tainted", func(p *api.ClusterTaintPolicy) any { return p.Status.TaintedClusters })),
	shown("Report-Only", func(p *api.ClusterTaintPolicy) any { return p.Spec.ReportOnly }),
	ageColumn,
}

var customizationColumns = []column{
	shown("Target-API-Version", func(c *api.ResourceInterpreterCustomization) any { return c.Spec.Target.APIVersion }),
	shown("Target-Kind", func(c *api.ResourceInterpreterCustomization) any { return c.Spec.Target.Kind }),
	ageColumn,
}

var policyColumns = []column{
	policyColumn("Conflict-Resolution", func(s *api.PropagationSpec) any { return s.ConflictResolution }),
	number(policyColumn("Priority", func(s *api.PropagationSpec) any { return s.Priority })),
	ageColumn,
}

// policyColumn is a column of both kinds of propagation policies.
func policyColumn(name string, cell func(*api.PropagationSpec) any) column {
	return shown(name, func(o engine.Object) any {
		if p, ok := o.(*api.PropagationPolicy); ok {
			return cell(&p.Spec)
		}
		return cell(&o.(*api.ClusterPropagationPolicy).Spec)
	})
}

var bindingColumns = []column{
	bindingColumn("Scheduled", func(_ *api.BindingSpec, s *api.BindingStatus) any {
		return conditionIfAny(s, api.ConditionScheduled)
	}),
	bindingColumn("FullyApplied", func(_ *api.BindingSpec, s *api.BindingStatus) any {
		return conditionIfAny(s, api.ConditionFullyApplied)
	}),
	ageColumn,
	wide(bindingColumn("Clusters", func(s *api.BindingSpec, _ *api.BindingStatus) any { return orNone(placement(s)) })),
	wide(bindingColumn("Evictions", func(_ *api.BindingSpec, s *api.BindingStatus) any { return orNone(evictions(s)) })),
}

// bindingColumn is a column of both kinds of bindings.
func bindingColumn(name string, cell func(*api.BindingSpec, *api.BindingStatus) any) column {
	return shown(name, func(o engine.Object) any {
		if b, ok := o.(*api.ResourceBinding); ok {
			return cell(&b.Spec, &b.Status)
		}
		b := o.(*api.ClusterResourceBinding)
		return cell(&b.Spec, &b.Status)
	})
}

// conditionIfAny is the status of a condition, and empty before there is one, as a JSONPath has it.
func conditionIfAny(s *api.BindingStatus, kind string) any {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return string(c.Status)
		}
	}
	return ""
}

func placement(s *api.BindingSpec) string {
	return strings.Join(lists.Of(s.Clusters, func(c api.TargetCluster) string { return fmt.Sprintf("%s:%d", c.Name, c.Replicas) }), ",")
}

// evictions says of each eviction how far it is: "member1 Scheduled for 2026-01-01T12:05:00Z", "member2 Blocked (NoClusterFit)",
// "member3 Evicting".
func evictions(s *api.BindingStatus) string {
	words := make([]string, len(s.Evictions))
	for i, e := range s.Evictions {
		words[i] = e.Cluster + " " + string(e.State)
		switch e.State {
		case api.EvictionScheduled:
			words[i] += " for " + e.Deadline.UTC().Format(time.RFC3339)
		case api.EvictionBlocked:
			words[i] += " (" + e.Reason + ")"
		}
	}
	return strings.Join(words, ", ")
}

var workColumns = []column{
	shown("Workload-Kind", func(w *api.Work) any { return identifiers(w, func(i api.ResourceIdentifier) string { return i.Kind }) }),
	shown("Workload-Name", func(w *api.Work) any { return identifiers(w, func(i api.ResourceIdentifier) string { return i.Name }) }),
	shown("Applied", func(w *api.Work) any { return statusOf(w.Status.Conditions, api.ConditionApplied) }),
	ageColumn,
}

func identifiers(w *api.Work, word func(api.ResourceIdentifier) string) string {
	return orNone(strings.Join(lists.Of(w.Status.ManifestStatuses, func(s api.ManifestStatus) string { return word(s.Identifier) }), ","))
}

var quotaColumns = []column{
	shown("Overall", func(q *api.FederatedResourceQuota) any { return amounts(q.Spec.Overall) }),
	shown("Overall_Used", func(q *api.FederatedResourceQuota) any { return amounts(q.Status.OverallUsed) }),
	ageColumn,
}

func amounts(list corev1.ResourceList) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount := list[name]
		words = append(words, fmt.Sprintf("%s:%s", name, amount.String()))
	}
	return orNone(strings.Join(words, ","))
}

var governorColumns = []column{
	shown("State", func(g *api.Governor) any { return orNone(g.Status.State) }),
	shown("Evictions/s", func(g *api.Governor) any {
		if g.Status.EvictionsPerSecond == nil {
			return "<none>"
		}
		return fmt.Sprint(*g.Status.EvictionsPerSecond)
	}),
	ageColumn,
}

var budgetColumns = []column{
	number(budgetColumn("Healthy", func(s *api.EvictionBudgetStatus) any { return s.CurrentHealthy })),
	number(budgetColumn("Desired", func(s *api.EvictionBudgetStatus) any { return s.DesiredHealthy })),
	number(budgetColumn("Allowed", func(s *api.EvictionBudgetStatus) any { return s.DisruptionsAllowed })),
	number(budgetColumn("Waiting", func(s *api.EvictionBudgetStatus) any { return s.Waiting })),
	ageColumn,
}

// budgetColumn is a column of both kinds of budgets.
func budgetColumn(name string, cell func(*api.EvictionBudgetStatus) any) column {
	return shown(name, func(o engine.Object) any {
		if b, ok := o.(*api.EvictionBudget); ok {
			return cell(&b.Status)
		}
		return cell(&o.(*api.ClusterEvictionBudget).Status)
	})
}
