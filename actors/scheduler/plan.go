package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/placement"
	"leeward/messages"
	"leeward/messages/api"
)

// plans ask the planner where bindings can run, and refuse what else forbids a placement.
type plans struct {
	settings *messages.Settings
	fleet    *placement.Fleet
	planner  *placement.Planner
	groups   groups
	starts   *starts
	quotas   *quotas
	// question and previous are scratch: what the planner is asked, and the targets in it.
	question placement.Request
	previous []api.TargetCluster
}

// request turns what a binding asks into the planner's terms, until the next one.
func (p *plans) request(m *messages.PlaceBinding) *placement.Request {
	p.question = placement.Request{
		Placement: m.Placement, APIVersion: m.APIVersion, Kind: m.Kind, Workload: m.HasReplicas || m.Set != nil,
		Replicas: m.Replicas, Requirements: m.Requirements, Set: m.Set, UID: string(m.UID),
		Previous: m.Targets, Evicting: m.Evicting, Cooling: m.Cooling, Full: m.Full, Busy: p.starts.busy(m), Affinity: m.Affinity, Fresh: fresh(m),
	}
	if m.Untold != nil {
		p.question.Untold = m.Untold.ClusterNames
	}
	if p.settings.WorkloadAffinity && m.Groups != nil {
		p.question.Together, p.question.Apart = p.groups.others(m, false), p.groups.others(m, true)
	}
	return &p.question
}

// without is the request as it would be once some clusters are evicted from.
func (p *plans) without(m *messages.PlaceBinding, leaving []messages.ClusterName) *placement.Request {
	r := p.request(m)
	p.previous = slices.DeleteFunc(append(p.previous[:0], r.Previous...), func(t api.TargetCluster) bool {
		return slices.Contains(leaving, messages.ClusterName(t.Name))
	})
	r.Leaving, r.Previous = leaving, p.previous
	return r
}

// needsPlacing is why a placement is called for; empty: it is not.
func (p *plans) needsPlacing(m *messages.PlaceBinding) placement.Cause {
	return p.planner.NeedsPlacing(&placement.Current{
		Applied: m.Applied, Placement: m.Placement, Workload: m.HasReplicas || m.Set != nil, Replicas: m.Replicas,
		Set: m.Set, Targets: m.Targets, Affinity: m.Affinity, Fresh: fresh(m),
	})
}

// plan asks where a binding can run, and refuses what the quotas of its namespace do not allow.
func (p *plans) plan(now time.Time, m *messages.PlaceBinding, r *placement.Request) placement.Decision {
	d := p.planner.Plan(now, r)
	if why := p.quotas.refusal(m, d.Targets); why != "" {
		return placement.Decision{Affinity: r.Affinity, Reason: api.ReasonQuotaExceeded, Message: why}
	}
	return d
}

// planMove is a plan without clusters that must be evicted from. Where a quota refuses replicas that the binding
// does not have yet, those that it has may move all the same: a full quota stops no failover.
func (p *plans) planMove(now time.Time, m *messages.PlaceBinding, r *placement.Request) placement.Decision {
	d := p.plan(now, m, r)
	wanted, has := r.Replicas, replicasNow(m)
	if d.Reason != api.ReasonQuotaExceeded || !karmada.Of(p.settings).FailoverKeepsQuota() || has >= wanted {
		return d
	}
	fewer := *r
	fewer.Replicas = has
	part := p.plan(now, m, &fewer)
	if len(part.Targets) == 0 {
		return d
	}
	part.Reason, part.Message = d.Reason, d.Message
	part.Missing += wanted - has
	return part
}

// wayOut looks for a placement without clusters that the binding must leave: without all of them, else without as many
// as can be done without, the earliest deadlines first; else for one that has capacity for part of what they run, if the old
// copies remain until all of it is placed. It returns that, without how many it does, none if there is no such placement,
// and the decision on all of them.
func (p *plans) wayOut(now time.Time, m *messages.PlaceBinding, must []messages.ClusterName) (way placement.Decision, n int, first placement.Decision) {
	for k := len(must); k > 0; k-- {
		r := p.without(m, must[:k])
		d := p.dispatched(m, p.alone(m, p.planMove(now, m, r), must[:k]))
		if k == len(must) {
			first = d
		}
		if len(d.Targets) == 0 || gain(must[k:], m.Targets, d.Targets) || gain(m.Seeking, m.Targets, d.Targets) {
			continue
		}
		if d.Reason == "" {
			return d, k, first
		}
		if n == 0 && p.mayLeaveInPart(m, r, d) {
			way, n = d, k
		}
	}
	return way, n, first
}

// mayLeaveInPart reports whether a placement of part of the replicas is better than none: it adds to
// what runs on the clusters that are kept, and no old copy is removed before all replicas are placed.
func (p *plans) mayLeaveInPart(m *messages.PlaceBinding, r *placement.Request, d placement.Decision) bool {
	return karmada.Of(p.settings).KeepsLastCopy() && !m.Purges && replicasOf(d.Targets) > replicasOf(r.Previous)
}

// alone refuses a placement that takes another copy along, where none may be moved with it.
func (p *plans) alone(m *messages.PlaceBinding, d placement.Decision, must []messages.ClusterName) placement.Decision {
	if !m.Alone || len(d.Targets) == 0 {
		return d
	}
	along := p.along(m, d.Targets, must)
	if len(along) == 0 {
		return d
	}
	names := make([]string, len(along))
	for i, c := range along {
		names[i] = string(c)
	}
	return placement.Decision{
		Reason:  api.ReasonBudgetSpent,
		Message: fmt.Sprintf("only the whole workload can be moved; the copies on %s would be removed at the same time", strings.Join(names, ", ")),
	}
}

// along are the clusters, but for those that were deleted, that new targets do without beside those that a binding must
// leave.
func (p *plans) along(m *messages.PlaceBinding, next []api.TargetCluster, must []messages.ClusterName) (along []messages.ClusterName) {
	for _, t := range m.Targets {
		c := messages.ClusterName(t.Name)
		if !hasTarget(next, t.Name) && !slices.Contains(must, c) && p.fleet.Has(c) {
			along = append(along, c)
		}
	}
	return along
}

// dispatched refuses a placement in which a cluster takes over to which dispatching is suspended: an old copy would be removed
// for one that never starts.
func (p *plans) dispatched(m *messages.PlaceBinding, d placement.Decision) placement.Decision {
	if m.Untold == nil {
		return d
	}
	for _, c := range m.Untold.ClusterNames {
		if more := api.ReplicasOn(d.Targets, c) - api.ReplicasOn(m.Targets, c); more > 0 {
			return placement.Decision{
				Affinity: m.Affinity, Reason: api.ReasonUnschedulable,
				Message: fmt.Sprintf("%s would take %d replicas, but dispatching to it is suspended", c, more),
			}
		}
	}
	return d
}

// moveTo returns why a binding that gets new targets moves by choice with a handover, and which clusters it leaves
// so, beside those that it must leave. There is no handover where moves are not graceful, where nothing is asked
// for any more, or on a cluster that was deleted.
func (p *plans) moveTo(m *messages.PlaceBinding, next []api.TargetCluster, must []messages.ClusterName) (move string, moved []messages.ClusterName) {
	if !karmada.Of(p.settings).MovesGracefully() || len(next) == 0 {
		return "", nil
	}
	moved = p.along(m, next, must)
	switch {
	case fresh(m):
		return api.EvictionReasonRebalance, moved
	case len(moved) > 0 || shifts(m.Targets, next):
		return api.EvictionReasonReschedule, moved
	default:
		return "", nil
	}
}
