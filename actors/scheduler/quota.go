package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/quota"
	"leeward/messages"
	"leeward/messages/api"
)

// quotas are the FederatedResourceQuotas, by namespace.
type quotas struct {
	settings    *messages.Settings
	byNamespace map[string]*usage
	// relieved is set when the usage of a namespace fell, so that bindings which found no quota are tried again, after those
	// that asked in this instant.
	relieved bool
}

// usage is what the quotas of one namespace allow, and what its bindings take.
type usage struct {
	quotas []*messages.QuotaApplied // in the order of their names
	taken  quota.Usage
}

func (qs *quotas) apply(m *messages.QuotaApplied, entries map[messages.BindingName]*entry) {
	u := qs.byNamespace[m.Namespace]
	if u == nil {
		u = &usage{taken: quota.Usage{}}
		for name, e := range entries { // order-free: a sum
			if name.Namespace() == m.Namespace {
				u.taken.Add(takes(e.asked))
			}
		}
		qs.byNamespace[m.Namespace] = u
	}
	if i, known := u.find(m.Name); known {
		u.quotas[i] = m
	} else {
		u.quotas = slices.Insert(u.quotas, i, m)
	}
}

// remove forgets a quota, and reports whether its namespace had any.
func (qs *quotas) remove(m *messages.QuotaDeleted) (known bool) {
	u := qs.byNamespace[m.Namespace]
	if u == nil {
		return false
	}
	if i, known := u.find(m.Name); known {
		u.quotas = slices.Delete(u.quotas, i, i+1)
	}
	if len(u.quotas) == 0 {
		delete(qs.byNamespace, m.Namespace)
	}
	return true
}

func (u *usage) find(name string) (int, bool) {
	return slices.BinarySearchFunc(u.quotas, name, func(q *messages.QuotaApplied, name string) int {
		return strings.Compare(q.Name, name)
	})
}

// takes is what a binding takes of its quotas: for its targets, and for what it is to have back. It takes
// nothing where it is gone.
func takes(m *messages.PlaceBinding) quota.Usage {
	if m == nil {
		return quota.Usage{}
	}
	return use(m, append(slices.Clip(m.Targets), missing(m)...))
}

// use is what a binding takes of its quotas for some targets.
func use(m *messages.PlaceBinding, targets []api.TargetCluster) quota.Usage {
	if m.Set == nil {
		return quota.Of(targets, m.Requirements, nil)
	}
	return quota.Of(targets, nil, m.Set.Components)
}

// missing is what a binding must have back, as targets on no cluster.
func missing(m *messages.PlaceBinding) []api.TargetCluster {
	if m.Set == nil {
		return []api.TargetCluster{{Replicas: m.Unreplaced}}
	}
	return slices.Repeat([]api.TargetCluster{{Components: m.Set.Targets}}, int(m.Unreplaced))
}

// unreplaced is how many replicas, or whole sets, of a binding are not replaced once it has left some clusters for its
// next targets.
func (qs *quotas) unreplaced(m *messages.PlaceBinding, leaving []messages.ClusterName, next []api.TargetCluster) int32 {
	if !karmada.Of(qs.settings).FailoverKeepsQuota() || m.Unreplaced == 0 && len(leaving) == 0 {
		return 0
	}
	n := m.Unreplaced
	for _, c := range leaving {
		n += sharesOn(m, m.Targets, string(c))
	}
	for _, t := range next {
		n -= max(0, sharesOn(m, next, t.Name)-sharesOn(m, m.Targets, t.Name))
	}
	if m.Set == nil && m.Placement.ReplicaScheduling.Divides() {
		n = min(n, m.Replicas-int32(replicasOf(next)))
	}
	return max(0, n)
}

// charge counts what a binding takes now in place of what it took; either may be nil.
func (qs *quotas) charge(before, after *messages.PlaceBinding) {
	if len(qs.byNamespace) == 0 {
		return
	}
	u := qs.byNamespace[cmp.Or(before, after).Binding.Namespace()]
	if u == nil {
		return
	}
	had, has := takes(before), takes(after)
	u.taken.Sub(had)
	u.taken.Add(has)
	qs.relieved = qs.relieved || has.Less(had)
}

// refusal says which quota does not allow a binding's next targets; empty: all do.
func (qs *quotas) refusal(m *messages.PlaceBinding, next []api.TargetCluster) string {
	if len(qs.byNamespace) == 0 || !qs.settings.FederatedQuotaEnforcement {
		return ""
	}
	u := qs.byNamespace[m.Binding.Namespace()]
	if u == nil {
		return ""
	}
	before, after := takes(m), use(m, next)
	for _, q := range u.quotas {
		if excess, exceeds := quota.Exceeds(q.Limits, u.taken, before, after); exceeds {
			return fmt.Sprintf("quota %s/%s: %s", q.Namespace, q.Name, excess)
		}
	}
	return ""
}
