package placement

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
)

// Current is what is known of a resource that has been placed, or will be for the first time.
type Current struct {
	// Applied is the placement of the last success; nil: there was none.
	Applied   *api.Placement
	Placement *api.Placement
	Workload  bool
	Replicas  int32
	// Set is what a workload of several pod templates runs, in place of replicas.
	Set     *messages.ComponentSet
	Targets []api.TargetCluster
	// Affinity is the name of the affinity term in use.
	Affinity string
	// Fresh is set where a fresh placement was asked for after the last success.
	Fresh bool
}

// Cause says what calls for a placement; empty: nothing does.
type Cause string

// The causes, in the order in which they are looked for.
const (
	CausePlacement Cause = "PlacementChanged"    // the policy asks for something else than was applied
	CauseReplicas  Cause = "ReplicasChanged"     // the targets do not have the replicas wanted
	CauseRequest   Cause = "RescheduleRequested" // someone asks for a fresh placement
	CauseAlways    Cause = "ClustersChanged"     // what is not divided follows every change of the fleet
	CauseDeletion  Cause = "ClusterDeleted"      // a target is being deleted, or gone
)

// NeedsPlacing returns what calls for a placement, given that something happened that may. Source:
// Karmada's scheduler, which looks for these causes in this order.
func (p *Planner) NeedsPlacing(s *Current) Cause {
	placement := s.Placement
	if placement == nil {
		placement = &anywhere
	}
	strategy := placement.ReplicaScheduling
	switch {
	case s.Applied == nil || placementChanged(s.Applied, placement, s.Affinity):
		return CausePlacement
	case s.Set != nil && p.setChanged(s), strategy != nil && replicasChanged(strategy, s):
		return CauseReplicas
	case s.Fresh:
		return CauseRequest
	case !s.Workload || strategyOf(strategy) == duplicated || s.Set != nil && p.ways.ExactSets:
		return CauseAlways
	case slices.ContainsFunc(s.Targets, p.goes):
		return CauseDeletion
	default:
		return ""
	}
}

func (p *Planner) goes(t api.TargetCluster) bool {
	slot := p.fleet.slot(t.Name, -1)
	return slot < 0 || p.fleet.marks[slot]&deleting != 0
}

// placementChanged reports whether a placement asks for something else than the one applied. Of
// several affinity terms only the one in use counts; workload affinity counts where none is in use.
func placementChanged(applied, wanted *api.Placement, affinity string) bool {
	if applied == wanted || equality.Semantic.DeepEqual(applied, wanted) {
		return false
	}
	if !equality.Semantic.DeepEqual(applied.ClusterAffinity, wanted.ClusterAffinity) ||
		!equality.Semantic.DeepEqual(applied.ClusterTolerations, wanted.ClusterTolerations) ||
		!equality.Semantic.DeepEqual(applied.SpreadConstraints, wanted.SpreadConstraints) ||
		!equality.Semantic.DeepEqual(applied.ReplicaScheduling, wanted.ReplicaScheduling) {
		return true
	}
	old, now := termNamed(applied, affinity), termNamed(wanted, affinity)
	return old == nil || now == nil || !equality.Semantic.DeepEqual(old, now)
}

func termNamed(p *api.Placement, name string) *api.ClusterAffinityTerm {
	for i := range p.ClusterAffinities {
		if name != "" && p.ClusterAffinities[i].AffinityName == name {
			return &p.ClusterAffinities[i]
		}
	}
	return nil
}

// replicasChanged reports whether the targets do not have the replicas that the strategy gives them.
func replicasChanged(strategy *api.ReplicaSchedulingStrategy, s *Current) bool {
	sum := int64(0)
	for i := range s.Targets {
		sum += int64(s.Targets[i].Replicas)
	}
	if strategyOf(strategy) != duplicated {
		return sum != int64(s.Replicas)
	}
	return slices.ContainsFunc(s.Targets, func(t api.TargetCluster) bool { return t.Replicas != s.Replicas })
}

// setChanged reports whether a set runs nowhere or, where sets are exact, not as it is wanted.
func (p *Planner) setChanged(s *Current) bool {
	return len(s.Targets) == 0 || p.ways.ExactSets && slices.ContainsFunc(s.Targets, func(t api.TargetCluster) bool {
		return !t.Components.Equal(s.Set.Targets)
	})
}

// CouldUse reports whether a change of the cluster may concern what has the placement: whether its
// affinity, or the term in use without what it overflows into, selects the cluster as it now is.
func (p *Planner) CouldUse(placement *api.Placement, affinity string, cluster messages.ClusterName) bool {
	slot := p.fleet.slot(string(cluster), -1)
	if slot < 0 {
		return false
	}
	rule := p.rules.of(placement)
	t := &rule.terms[rule.firstTerm(affinity, false)]
	return t.verdicts[slot] != offAffinity && t.tier[slot] == 0
}

// CouldEverUse reports whether any term of a placement, or what it overflows into, selects the cluster as
// it now is.
func (p *Planner) CouldEverUse(placement *api.Placement, cluster messages.ClusterName) bool {
	slot := p.fleet.slot(string(cluster), -1)
	if slot < 0 {
		return false
	}
	return slices.ContainsFunc(p.rules.of(placement).terms, func(t term) bool { return t.verdicts[slot] != offAffinity })
}

// Takes reports whether a cluster fits a resource, by the affinity term in use, and has capacity for so many more
// of its replicas.
func (p *Planner) Takes(now time.Time, r *Request, more api.TargetCluster) bool {
	slot := p.fleet.slot(more.Name, -1)
	if slot < 0 {
		return false
	}
	rule := p.open(r)
	defer p.end()
	a := p.attempt(now, r, rule, rule.firstTerm(r.Affinity, false))
	if v, _ := p.verdict(&a, slot); v != fits || p.frozen(&a, slot) {
		return false
	}
	if !a.Workload || more.Replicas == 0 {
		return true
	}
	p.slots = append(p.slots[:0], slot)
	p.needs = p.fleet.needs(r.Requirements, p.needs[:0])
	p.holds = p.fleet.capacity.holds(p.slots, p.needs, p.holds[:0])
	return p.holds[0] >= int64(more.Replicas)
}
