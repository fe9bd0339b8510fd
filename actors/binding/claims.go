package binding

import (
	"cmp"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
)

// claims are the policies that select the resource, and which of them has it.
type claims struct {
	made []*messages.ClaimMade
	// owner has the resource; policy is its name as the API has it: "PropagationPolicy default/web".
	owner  messages.PropagationName
	policy string
	// Of this instant: settling is set while claims are not weighed yet; template is what it brought of the resource.
	settling bool
	template templateNews
}

// templateNews is what an instant brought of the resource.
type templateNews uint8

const (
	unchanged templateNews = iota
	edited
	// recovered: said again after a restart.
	recovered
)

// apply notes a claim, or that there is none any more. All claims of an instant are weighed together at its end.
func (cs *claims) apply(m messages.ToBinding) {
	switch m := m.(type) {
	case *messages.ClaimMade:
		if i := cs.find(m.Policy); i >= 0 && cs.made[i].Life > m.Life {
			return // of a policy that was deleted and created again since
		}
		cs.drop(m.Policy)
		cs.made = append(cs.made, m)
	case *messages.ClaimWithdrawn:
		if i := cs.find(m.Policy); i >= 0 && cs.made[i].Life <= m.Life {
			cs.drop(m.Policy)
		}
		if cs.owner == m.Policy {
			cs.owner = ""
		}
	}
	cs.settling = true
}

// fromWorkload overwrites what the resource gives.
func (d *declared) fromWorkload(s *api.BindingSpec) {
	w := d.workload
	s.Resource = api.ObjectReference{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name, UID: w.UID}
	s.Replicas, s.ReplicaRequirements, s.Components = w.Replicas, w.Requirements, nil
	if w.Set != nil && d.settings.MultiplePodTemplatesScheduling {
		s.Components = w.Set.Components
	}
}

// find returns the index of a policy's claim, or -1.
func (cs *claims) find(policy messages.PropagationName) int {
	return slices.IndexFunc(cs.made, func(c *messages.ClaimMade) bool { return c.Policy == policy })
}

func (cs *claims) drop(policy messages.PropagationName) {
	cs.made = slices.DeleteFunc(cs.made, func(c *messages.ClaimMade) bool { return c.Policy == policy })
}

// deferActivation says that a policy's word counts when the resource changes, if it is a new one: after a
// restart it is not. Until then the policy has nothing that it did not have before, so that a restart
// need not know what it waits for. Source: Karmada's activationPreference Lazy.
func (v *view) deferActivation(c *messages.ClaimMade, wanted *api.BindingSpec, news templateNews, out *actors.Outbox) {
	if news != recovered && len(differences(&v.spec, wanted)) > 0 {
		out.Record(&messages.ActivationDeferred{Binding: v.name, Policy: policyLabel(c)})
	}
}

// best is the best of those that may take the resource from its owner; else the owner's; without an
// owner the best of all; nil if there is none.
func (cs *claims) best(v *view) *messages.ClaimMade {
	var best, owner *messages.ClaimMade
	if i := cs.find(cs.owner); i >= 0 {
		owner = cs.made[i]
	}
	for _, c := range cs.made {
		if (owner == nil || cs.preempts(v, c, owner)) && (best == nil || propagation.Better(claimOf(c), claimOf(best))) {
			best = c
		}
	}
	return cmp.Or(best, owner)
}

// preempts reports whether a claim takes the resource from its owner: a PropagationPolicy from any
// ClusterPropagationPolicy, otherwise one of its own kind from one of lower priority. Source: Karmada's
// "Resource Propagating", policy preemption.
func (cs *claims) preempts(v *view, c, owner *messages.ClaimMade) bool {
	switch {
	case !c.Preempts || c.Waits || !v.settings.PropagationPolicyPreemption:
		return false
	case c.ClusterScoped != owner.ClusterScoped:
		return owner.ClusterScoped
	}
	return c.Priority > owner.Priority
}

func claimOf(c *messages.ClaimMade) propagation.Claim {
	return propagation.Claim{
		Priority: c.Priority, Rank: propagation.Rank(c.Rank), ClusterScoped: c.ClusterScoped, Name: string(c.Policy),
	}
}

func policyLabel(c *messages.ClaimMade) string {
	if c.ClusterScoped {
		return "ClusterPropagationPolicy " + string(c.Policy)
	}
	return "PropagationPolicy " + string(c.Policy)
}

// fromPolicy overwrites what a policy gives; clusters, tasks and triggers are the binding's own.
func fromPolicy(s *api.BindingSpec, p *api.PropagationSpec) {
	s.Placement = &p.Placement
	s.Failover, s.PropagateDeps, s.SchedulerName = p.Failover, p.PropagateDeps, p.SchedulerName
	s.ConflictResolution, s.Suspension = p.ConflictResolution, p.Suspension
	s.PreserveResourcesOnDeletion, s.SchedulePriority = p.PreserveResourcesOnDeletion, p.SchedulePriority
}

// differences names what differs between two specs, of what workload and policy give.
func differences(a, b *api.BindingSpec) []string {
	var changed []string
	note := func(name string, differs bool) {
		if differs {
			changed = append(changed, name)
		}
	}
	note("resource", a.Resource != b.Resource)
	note("replicas", a.Replicas != b.Replicas)
	note("requirements", !reflect.DeepEqual(a.ReplicaRequirements, b.ReplicaRequirements))
	note("components", !equality.Semantic.DeepEqual(a.Components, b.Components))
	note("placement", !reflect.DeepEqual(a.Placement, b.Placement))
	note("workloadAffinityGroups", !reflect.DeepEqual(a.WorkloadAffinityGroups, b.WorkloadAffinityGroups))
	note("failover", !reflect.DeepEqual(a.Failover, b.Failover))
	note("suspension", !reflect.DeepEqual(a.Suspension, b.Suspension))
	note("schedulePriority", !reflect.DeepEqual(a.SchedulePriority, b.SchedulePriority))
	note("policy", a.PropagateDeps != b.PropagateDeps || a.SchedulerName != b.SchedulerName ||
		a.ConflictResolution != b.ConflictResolution || !reflect.DeepEqual(a.PreserveResourcesOnDeletion, b.PreserveResourcesOnDeletion))
	return changed
}

// groupsOf returns the groups of workloads that one belongs to: the values of the labels that its policy
// names. Without such a label it belongs to none.
func groupsOf(p *api.Placement, labels map[string]string) *api.WorkloadAffinityGroups {
	if p == nil || p.WorkloadAffinity == nil {
		return nil
	}
	g := api.WorkloadAffinityGroups{
		AffinityGroup: groupOf(p.WorkloadAffinity.Affinity, labels), AntiAffinityGroup: groupOf(p.WorkloadAffinity.AntiAffinity, labels),
	}
	if g == (api.WorkloadAffinityGroups{}) {
		return nil
	}
	return &g
}

func groupOf(term *api.WorkloadAffinityTerm, labels map[string]string) string {
	if term == nil || labels[term.GroupByLabelKey] == "" {
		return ""
	}
	return term.GroupByLabelKey + "=" + labels[term.GroupByLabelKey]
}
