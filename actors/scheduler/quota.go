package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/actors"
	"leeward/actors/rules/placement"
	"leeward/actors/rules/quota"
	"leeward/messages"
	"leeward/messages/api"
)

// budget is what the FederatedResourceQuotas of one namespace allow, and what its bindings take.
type budget struct {
	quotas []*messages.QuotaApplied // in the order of their names
	taken  quota.Usage
}

func (s *Scheduler) quotaApplied(now time.Time, m *messages.QuotaApplied, out *actors.Outbox) {
	b := s.budgets[m.Namespace]
	if b == nil {
		b = &budget{taken: quota.Usage{}}
		for name, e := range s.entries { // order-free: a sum
			if name.Namespace() == m.Namespace {
				b.taken.Add(takes(e.asked))
			}
		}
		s.budgets[m.Namespace] = b
	}
	if i, known := b.find(m.Name); known {
		b.quotas[i] = m
	} else {
		b.quotas = slices.Insert(b.quotas, i, m)
	}
	s.freed = true
	out.WakeAt(now)
}

func (s *Scheduler) quotaDeleted(now time.Time, m *messages.QuotaDeleted, out *actors.Outbox) {
	b := s.budgets[m.Namespace]
	if b == nil {
		return
	}
	if i, known := b.find(m.Name); known {
		b.quotas = slices.Delete(b.quotas, i, i+1)
	}
	if len(b.quotas) == 0 {
		delete(s.budgets, m.Namespace)
	}
	s.freed = true
	out.WakeAt(now)
}

func (b *budget) find(name string) (int, bool) {
	return slices.BinarySearchFunc(b.quotas, name, func(q *messages.QuotaApplied, name string) int {
		return strings.Compare(q.Name, name)
	})
}

// takes is what a binding takes of its quotas: for its targets, and for what it is to have back. It takes
// nothing where it is gone.
func takes(m *messages.PlaceBinding) quota.Usage {
	if m == nil {
		return quota.Usage{}
	}
	return use(m, append(slices.Clip(m.Targets), unplaced(m)...))
}

// use is what a binding takes of its quotas for some targets.
func use(m *messages.PlaceBinding, targets []api.TargetCluster) quota.Usage {
	if m.Set == nil {
		return quota.Of(targets, m.Requirements, nil)
	}
	return quota.Of(targets, nil, m.Set.Components)
}

// unplaced is what a binding is to have back, as targets on no cluster.
func unplaced(m *messages.PlaceBinding) []api.TargetCluster {
	if m.Set == nil {
		return []api.TargetCluster{{Replicas: m.Unreplaced}}
	}
	return slices.Repeat([]api.TargetCluster{{Components: m.Set.Targets}}, int(m.Unreplaced))
}

// unreplaced is how many replicas, or whole sets, of a binding nothing stands in for once it has left some clusters for its
// next targets.
func (s *Scheduler) unreplaced(m *messages.PlaceBinding, leaving []messages.ClusterName, next []api.TargetCluster) int32 {
	if !s.settings.FailoverKeepsQuota || m.Unreplaced == 0 && len(leaving) == 0 {
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

// sharesOn is how many replicas, or whole sets, of a binding one of its targets runs.
func sharesOn(m *messages.PlaceBinding, targets []api.TargetCluster, cluster string) int32 {
	if m.Set == nil {
		return api.ReplicasOn(targets, cluster)
	}
	if hasTarget(targets, cluster) {
		return 1
	}
	return 0
}

// charge counts what a binding takes now in place of what it took; either may be nil.
func (s *Scheduler) charge(before, after *messages.PlaceBinding) {
	if len(s.budgets) == 0 {
		return
	}
	b := s.budgets[cmp.Or(before, after).Binding.Namespace()]
	if b == nil {
		return
	}
	had, has := takes(before), takes(after)
	b.taken.Sub(had)
	b.taken.Add(has)
	s.relieved = s.relieved || has.Less(had)
}

// refusal says which quota leaves no room for a binding's next targets; empty: all do.
func (s *Scheduler) refusal(m *messages.PlaceBinding, next []api.TargetCluster) string {
	if len(s.budgets) == 0 || !s.settings.FederatedQuotaEnforcement {
		return ""
	}
	b := s.budgets[m.Binding.Namespace()]
	if b == nil {
		return ""
	}
	before, after := takes(m), use(m, next)
	for _, q := range b.quotas {
		if excess, exceeds := quota.Exceeds(q.Limits, b.taken, before, after); exceeds {
			return fmt.Sprintf("quota %s/%s: %s", q.Namespace, q.Name, excess)
		}
	}
	return ""
}

// plan asks where a binding is to run, and refuses what the quotas of its namespace leave no room for.
func (s *Scheduler) plan(now time.Time, m *messages.PlaceBinding, r *placement.Request) placement.Decision {
	d := s.planner.Plan(now, r)
	if why := s.refusal(m, d.Targets); why != "" {
		return placement.Decision{Affinity: r.Affinity, Reason: api.ReasonQuotaExceeded, Message: why}
	}
	return d
}

// planMove is a plan without clusters that are to be left. Where a quota refuses replicas that the binding
// does not have yet, those that it has may move all the same: a full quota stops no failover.
func (s *Scheduler) planMove(now time.Time, m *messages.PlaceBinding, r *placement.Request) placement.Decision {
	d := s.plan(now, m, r)
	wanted, has := r.Replicas, replicasNow(m)
	if d.Reason != api.ReasonQuotaExceeded || !s.settings.FailoverKeepsQuota || has >= wanted {
		return d
	}
	fewer := *r
	fewer.Replicas = has
	part := s.plan(now, m, &fewer)
	if len(part.Targets) == 0 {
		return d
	}
	part.Reason, part.Message = d.Reason, d.Message
	part.Missing += wanted - has
	return part
}

// replicasNow is how many replicas a binding has, as its policy counts them: where each cluster runs all, those
// of one.
func replicasNow(m *messages.PlaceBinding) (n int32) {
	for _, t := range m.Targets {
		if m.Placement.ReplicaScheduling.Divides() {
			n += t.Replicas
		} else {
			n = max(n, t.Replicas)
		}
	}
	return n
}
