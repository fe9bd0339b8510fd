package explain

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/store"
)

// Binding is why a binding is where it is.
type Binding struct {
	Workload string `json:"workload"`
	// Policy is the propagation policy that has it; empty: none.
	Policy    string              `json:"policy,omitempty"`
	Replicas  int32               `json:"replicas"`
	Clusters  []api.TargetCluster `json:"clusters"`
	Available int32               `json:"available"`
	// Asks is what its placement asks for, a line each.
	Asks []string `json:"asks,omitempty"`
	// Placed is how it came to its clusters; nil: it was not placed since the start.
	Placed *Placed `json:"placed,omitempty"`
	// Now is what the scheduler would decide at the instant; nil: it knows no such binding.
	Now *Decision `json:"now,omitempty"`
	// UnderWay are evictions and handovers, Past those that are over.
	UnderWay []Move `json:"underWay"`
	Past     []Move `json:"past"`
}

// Placed is the last decision that changed the clusters.
type Placed struct {
	At      Seconds             `json:"atSeconds"`
	Trigger string              `json:"trigger,omitempty"`
	Before  []api.TargetCluster `json:"before,omitempty"`
	// Decision is nil where asking again does not come to the same, as where a failback was decided on.
	Decision *Decision `json:"decision,omitempty"`
}

// Decision is one decision of the scheduler, with what led to it.
type Decision struct {
	// Calls is what calls for a placement; empty: nothing does, and the targets stay.
	Calls string `json:"calls,omitempty"`
	// Without are clusters that must be evicted from.
	Without []messages.ClusterName `json:"without,omitempty"`
	// Note is set where the planner is not asked.
	Note string `json:"note,omitempty"`
	// Reason and Message say why the request is not met; empty: it is.
	Reason  string              `json:"reason,omitempty"`
	Message string              `json:"message,omitempty"`
	Targets []api.TargetCluster `json:"targets"`
	// Terms are the affinity terms that were tried.
	Terms []Term `json:"terms,omitempty"`
}

// Term is what one affinity term came to.
type Term struct {
	Name string `json:"name,omitempty"`
	// Result is why it did not do; empty: it did.
	Result string `json:"result,omitempty"`
	// ByCapacity is set where capacity counts.
	ByCapacity bool `json:"byCapacity"`
	// Division is how the replicas were divided, a line each.
	Division []string        `json:"division,omitempty"`
	Clusters []ClusterFitted `json:"clusters"`
}

// ClusterFitted is what a decision found on one cluster.
type ClusterFitted struct {
	Cluster messages.ClusterName `json:"cluster"`
	Region  string               `json:"region,omitempty"`
	Refused string               `json:"refused,omitempty"`
	Score   int64                `json:"score"`
	// Group is which affinity of the term selects it, from 1: those after the first are overflow affinities.
	Group int   `json:"group"`
	Avoid uint8 `json:"avoid,omitempty"`
	// Capacity is how many replicas it can run; nil: unlimited, or not counted.
	Capacity *int64 `json:"capacity,omitempty"`
	Frozen   bool   `json:"frozen,omitempty"`
	Weight   int64  `json:"weight,omitempty"`
	Previous int32  `json:"previous"`
	Replicas int32  `json:"replicas"`
	Chosen   bool   `json:"chosen"`
	Target   bool   `json:"target"`
}

// explainBinding finds the binding that is meant, and explains it.
func (q *query) explainBinding() {
	for _, name := range q.meant {
		if b := q.store.Binding(name); b != nil {
			q.answer.Name = string(name)
			q.answer.Binding = q.binding(b)
			return
		}
	}
	known := lists.Of(q.store.Bindings(), func(b *store.Binding) string { return string(b.Name()) })
	q.problem = q.unknown(known)
}

func (q *query) binding(b *store.Binding) *Binding {
	r := &b.Spec.Resource
	x := &Binding{
		Workload: r.Kind + " " + string(messages.NameBinding(r.Namespace, r.Name)), Policy: string(b.Owner()),
		Replicas: b.Spec.Replicas, Clusters: slices.Clone(b.Spec.Clusters), Available: b.Available(), Asks: asks(b.Spec.Placement),
	}
	x.Placed = q.placed(b.Name(), x.Clusters)
	if now := q.world.ExplainPlacement(b.Name()); now != nil {
		x.Now = decisionOf(now)
	}
	x.UnderWay, x.Past = q.moves(b)
	return x
}

// placed is how a binding came to its clusters: the last fact that placed it, and the decision, asked again at that instant.
func (q *query) placed(name messages.BindingName, clusters []api.TargetCluster) *Placed {
	for i := len(q.entries) - 1; i >= 0; i-- {
		f, is := q.entries[i].Fact.(*messages.Scheduled)
		if !is || f.Binding != name || !shadow.SameClusters(f.Clusters, clusters) {
			continue
		}
		p := &Placed{At: q.since(q.entries[i].At), Trigger: f.Trigger, Before: f.Before}
		for _, d := range q.decided {
			if d.binding == name && d.at.Equal(q.entries[i].At) && shadow.SameClusters(d.Decision.Targets, f.Clusters) {
				p.Decision = decisionOf(d.Explanation)
			}
		}
		return p
	}
	return nil
}
