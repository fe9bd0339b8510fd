package explain

import (
	"time"

	"leeward/actors/rules/karmada"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// Cluster is how a cluster is, and what that does to the workloads on it.
type Cluster struct {
	Region   string   `json:"region,omitempty"`
	Zones    []string `json:"zones,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Deleting bool     `json:"deleting,omitempty"`
	// Stays is why nothing evicts the workloads of a cluster that is not Ready.
	Stays      string      `json:"workloadsStay,omitempty"`
	Conditions []Condition `json:"conditions"`
	Taints     []Taint     `json:"taints"`
	// Policies are the ClusterTaintPolicies, and what each asks for here.
	Policies  []Asked    `json:"policies"`
	Workloads []Workload `json:"workloads"`
}

// Condition is one condition of a cluster.
type Condition struct {
	Since Seconds `json:"sinceSeconds"`
	Text  string  `json:"text"`
}

// Taint is one taint of a cluster, and its cause.
type Taint struct {
	Taint     string  `json:"taint"`
	Since     Seconds `json:"sinceSeconds"`
	By        string  `json:"by"`
	Policy    string  `json:"policy,omitempty"`
	Condition string  `json:"condition,omitempty"`
}

// Workload is one binding that runs on a cluster, or is evicted from it.
type Workload struct {
	Binding  messages.BindingName `json:"binding"`
	Replicas int32                `json:"replicas"`
	State    string               `json:"state"`
	// Due is when it is evicted, as things are; nil: it is not.
	Due *Seconds `json:"dueSeconds,omitempty"`
	Why string   `json:"why,omitempty"`
}

// StateStays is that of a workload that nothing evicts.
const StateStays = "stays"

func (q *query) explainCluster() {
	c := q.store.Cluster(messages.ClusterName(q.Name))
	if c == nil {
		q.problem = q.unknown(named(q.store.List("Cluster")))
		return
	}
	q.answer.Name = c.Name
	x := &Cluster{
		Region: c.Spec.Region, Zones: c.Spec.Zones, Provider: c.Spec.Provider, Deleting: c.DeletionTimestamp != nil, Stays: c.Status.WorkloadsStay,
		Conditions: []Condition{}, Taints: []Taint{}, Policies: []Asked{}, Workloads: []Workload{},
	}
	for i := range c.Status.Conditions {
		cond := &c.Status.Conditions[i]
		x.Conditions = append(x.Conditions, Condition{q.sinceStart(cond.LastTransitionTime.Time), policy.Cause(cond)})
	}
	for i := range c.Spec.Taints {
		x.Taints = append(x.Taints, q.taintOf(c, i))
	}
	for _, o := range q.store.List("ClusterTaintPolicy") {
		x.Policies = append(x.Policies, q.asked(o.(*api.ClusterTaintPolicy), c))
	}
	for _, b := range q.store.Bindings() {
		x.Workloads = append(x.Workloads, q.workloadsOn(b, c)...)
	}
	q.answer.Cluster = x
}

// sinceStart is an instant from the start; what was before that counts as of then.
func (q *query) sinceStart(at time.Time) Seconds {
	if at.Before(q.start) {
		return 0
	}
	return q.since(at)
}

func (q *query) taintOf(c *api.Cluster, i int) Taint {
	t := &c.Spec.Taints[i]
	x := Taint{Taint: taint.String(t), By: "unknown"}
	if t.TimeAdded != nil {
		x.Since = q.sinceStart(t.TimeAdded.Time)
	}
	if k := c.Status.CauseOf(t); k != nil {
		x.By, x.Policy, x.Condition = joined(" ", k.By, k.User), k.Policy, k.Because
	}
	return x
}

// workloadsOn tells when a binding would be evicted from a cluster, as it is now: none where it has nothing there.
func (q *query) workloadsOn(b *store.Binding, c *api.Cluster) (all []Workload) {
	at := api.FindTarget(b.Spec.Clusters, c.Name)
	underWay, _ := q.moves(b)
	for i := range underWay {
		if m := &underWay[i]; string(m.Cluster) == c.Name && (at >= 0 || m.State == StateEvicting) {
			w := Workload{Binding: b.Name(), State: m.State, Due: m.Deadline, Why: joined("; ", m.Blocked, m.Taint, m.Toleration, m.Reason)}
			if at >= 0 {
				w.Replicas = b.Spec.Clusters[at].Replicas
			}
			return []Workload{w}
		}
	}
	if at < 0 {
		return nil
	}
	return []Workload{{Binding: b.Name(), Replicas: b.Spec.Clusters[at].Replicas, State: StateStays, Why: q.stays(b, c)}}
}

// stays is why nothing evicts a binding from a cluster.
func (q *query) stays(b *store.Binding, c *api.Cluster) string {
	evicting := taint.Evicting(c.Spec.Taints)
	switch off := q.settings().EvictionOff(); {
	case len(evicting) == 0:
		return "the cluster has no NoExecute taint"
	case off != "":
		return "eviction is off: " + off
	}
	tolerations, known := karmada.Of(q.settings()).Tolerations(b.Spec.Placement, b.Applied)
	if !known {
		return "its tolerations are not known: no placement was applied"
	}
	if d := taint.Deadline(evicting, tolerations, karmada.Of(q.settings()).Rule()); d.Outcome == taint.Forever {
		return "it tolerates every NoExecute taint without an end"
	}
	return c.Status.WorkloadsStay
}
