package binding

import "leeward/messages/api"

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
