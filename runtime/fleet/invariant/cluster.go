package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// lookAtCluster asks whether a cluster's taints are what its conditions ask for.
func (m *Monitor) lookAtCluster(now time.Time, s *store.Store, name messages.ClusterName) {
	c := s.Cluster(name)
	if c == nil {
		return
	}
	v := Violation{At: now, Cluster: name}
	ready := metav1.ConditionStatus("")
	if k := meta.FindStatusCondition(c.Status.Conditions, api.ConditionReady); k != nil {
		ready = k.Status
		m.follows(c, v, m.legacy(k, now), now)
	}
	m.follows(c, v, taint.System(ready, ready != ""), now)
	if !m.judged[name] || m.refused[name] || !m.settings.Failover || m.settings.ConditionHold > 0 {
		return
	}
	policies := s.List("ClusterTaintPolicy")
	for _, o := range policies {
		m.policyFollowed(now, c, o.(*api.ClusterTaintPolicy), policies)
	}
}

// legacy is what the NoExecute twins must be, unless the governor takes them back.
func (m *Monitor) legacy(k *metav1.Condition, now time.Time) taint.Swap {
	if !m.settings.Failover || m.interfered() {
		return taint.Swap{}
	}
	swap, _ := taint.Legacy(k.Status, k.LastTransitionTime.Time, m.settings.FailoverEvictionTimeout, now)
	return swap
}

func (m *Monitor) follows(c *api.Cluster, v Violation, swap taint.Swap, now time.Time) {
	if _, wrong := swap.Apply(c.Spec.Taints, now); !wrong {
		return
	}
	m.check(TaintsFollow, false, v, "want %s and none of %v, for Ready", swap.Add, swap.Remove)
}

// policyFollowed asks for what one policy wants now, of taints that no other policy is about.
func (m *Monitor) policyFollowed(now time.Time, c *api.Cluster, p *api.ClusterTaintPolicy, all []api.Object) {
	if p.Spec.ReportOnly || !affinity.Matches(p.Spec.TargetClusters, messages.Located(c)) {
		return
	}
	view := messages.Located(c)
	view.Conditions, view.Created = c.Status.Conditions, c.CreationTimestamp.Time
	verdict := policy.Judge(&p.Spec, view, m.settings.MissingConditionStatus, now)
	if verdict.Add == verdict.Remove {
		return
	}
	for i := range p.Spec.Taints {
		t := &p.Spec.Taints[i]
		if others(all, p.Name, t) || m.ignored(t) {
			continue
		}
		there := taint.Find(c.Spec.Taints, t.Key, t.Effect) >= 0
		barred := verdict.Remove && m.settings.PolicyRemoves == messages.RemovesOwn
		v := Violation{At: now, Cluster: messages.ClusterName(c.Name)}
		m.check(TaintsFollow, there == verdict.Add || barred, v, "policy %s wants %s:%s added %t, it is there: %t", p.Name, t.Key, t.Effect, verdict.Add, there)
	}
}

// ignored reports whether a taint is not for policies to decide: they may not add it, the governor takes it back
// in a blackout, or the system keeps it.
func (m *Monitor) ignored(t *api.PolicyTaint) bool {
	if m.interfered() || t.Key == api.TaintNotReady || t.Key == api.TaintUnreachable {
		return true
	}
	return t.Effect == corev1.TaintEffectNoExecute && !m.settings.AllowNoExecuteTaintPolicy
}

// others reports whether another policy is about the same taint.
func others(all []api.Object, name string, t *api.PolicyTaint) bool {
	for _, o := range all {
		if p := o.(*api.ClusterTaintPolicy); p.Name != name && p.Spec.Has(t.Key, t.Effect) {
			return true
		}
	}
	return false
}

// neverOversold holds what is placed on a cluster that got replicas by capacity alone to what it has. What was given
// something else in the instant got its replicas, perhaps, when it asked for less, or did not go by capacity.
func (m *Monitor) neverOversold(now time.Time, s *store.Store, name messages.ClusterName) {
	c := s.Cluster(name)
	if c == nil || c.Status.ResourceSummary == nil || !m.settings.CapacityReservation || m.resized[name] || slices.ContainsFunc(m.gained[name], func(b messages.BindingName) bool { return m.edited[b] }) {
		return
	}
	for _, resource := range m.asked(s, name) {
		n, has := m.census.at(string(name)).uses[resource], c.Status.ResourceSummary
		free := api.Units(resource, has.Allocatable[resource]) - api.Units(resource, has.Allocated[resource]) - api.Units(resource, has.Allocating[resource])
		m.check(NeverOversold, n <= free, Violation{At: now, Cluster: name}, "%d of %s is placed where %d is free", n, resource, free)
	}
}

// asked are the resources that those who got replicas on a cluster ask for, in order.
func (m *Monitor) asked(s *store.Store, name messages.ClusterName) []corev1.ResourceName {
	resources := map[corev1.ResourceName]bool{}
	for _, gaining := range m.gained[name] {
		b := s.Binding(gaining)
		if b == nil {
			continue
		}
		resources[corev1.ResourcePods] = true
		if r := b.Spec.ReplicaRequirements; r != nil {
			for resource := range r.ResourceRequest { // order-free: they are sorted
				resources[resource] = true
			}
		}
	}
	return sorted(resources)
}
