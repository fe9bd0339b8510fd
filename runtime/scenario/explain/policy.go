package explain

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/affinity"
	"leeward/actors/rules/policy"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/store"
)

// Policy is what a policy applies to. A ClusterTaintPolicy has Clusters, a propagation policy Workloads.
type Policy struct {
	Kind string `json:"kind"`
	// Adds and Removes are the conditions, Taints what the policy adds and removes on them.
	Adds    string   `json:"addOnConditions,omitempty"`
	Removes string   `json:"removeOnConditions,omitempty"`
	Taints  []string `json:"taints,omitempty"`
	// ReportOnly is set where it changes nothing.
	ReportOnly bool    `json:"reportOnly,omitempty"`
	Clusters   []Asked `json:"clusters,omitempty"`
	// Asks is what its placement asks for, a line each.
	Asks      []string  `json:"asks,omitempty"`
	Workloads []Claimed `json:"workloads,omitempty"`
}

// Asked is what one policy asks of one cluster.
type Asked struct {
	Cluster messages.ClusterName `json:"cluster"`
	Policy  string               `json:"policy"`
	// Asks is "add", "remove", "nothing", or "not selected".
	Asks string `json:"asks"`
	// Since is when the taint was last added or removed for it; nil: it was not, since the start.
	Since *Seconds `json:"sinceSeconds,omitempty"`
	// Due is when that changes by itself; nil: only a condition changes it.
	Due *Seconds `json:"dueSeconds,omitempty"`
	// Why are the conditions that decide, each with what was found.
	Why []string `json:"why"`
}

// Claimed is one resource that the selectors of a propagation policy match.
type Claimed struct {
	Workload string               `json:"workload"`
	Binding  messages.BindingName `json:"binding,omitempty"`
	// By is the policy that has it; empty: none.
	By string `json:"by,omitempty"`
	// Has is set where that is this policy, since Since; nil: since before the start.
	Has      bool                `json:"has"`
	Since    *Seconds            `json:"sinceSeconds,omitempty"`
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

func (q *query) explainPolicy() {
	kind, name, full := "", q.Name, q.Name
	if before, after, cut := strings.Cut(q.Name, "/"); cut {
		if of := policyKind(before); of != "" {
			kind, name = of, after
			full = after
		}
	}
	if q.Namespace != "" && !strings.Contains(name, "/") {
		full = q.Namespace + "/" + name
	}
	taints, own, wide := q.store.List("ClusterTaintPolicy"), q.store.List("PropagationPolicy"), q.store.List("ClusterPropagationPolicy")
	for _, o := range slices.Concat(taints, own, wide) {
		of := o.GetObjectKind().GroupVersionKind().Kind
		bare := o.GetName() == name && (o.GetNamespace() == "" || q.Namespace == "" && o.GetNamespace() == "default")
		if (kind == "" || kind == of) && (nameOf(o) == full || bare) {
			q.policy(o, of)
			return
		}
	}
	q.problem = q.unknown(named(taints, own, wide))
}

// policyKind is the kind of policy that a word means; empty: none.
func policyKind(word string) string {
	word = strings.ToLower(word)
	for _, kind := range []string{"ClusterTaintPolicy", "PropagationPolicy", "ClusterPropagationPolicy"} {
		one := strings.ToLower(kind)
		if word == one || word == strings.TrimSuffix(one, "y")+"ies" {
			return kind
		}
	}
	return map[string]string{"pp": "PropagationPolicy", "cpp": "ClusterPropagationPolicy"}[word]
}

func (q *query) policy(o api.Object, kind string) {
	q.answer.Name = nameOf(o)
	x := &Policy{Kind: kind}
	q.answer.Policy = x
	switch p := o.(type) {
	case *api.ClusterTaintPolicy:
		x.Adds, x.Removes, x.ReportOnly = conditionsOf(p.Spec.AddOnConditions), conditionsOf(p.Spec.RemoveOnConditions), p.Spec.ReportOnly
		for _, t := range p.Spec.Taints {
			x.Taints = append(x.Taints, taintText(t))
		}
		for _, c := range q.store.List("Cluster") {
			x.Clusters = append(x.Clusters, q.asked(p, c.(*api.Cluster)))
		}
	case *api.PropagationPolicy:
		q.claims(x, messages.NamePropagation(p.Namespace, p.Name), p.Namespace, &p.Spec)
	case *api.ClusterPropagationPolicy:
		q.claims(x, messages.NamePropagation("", p.Name), "", &p.Spec)
	}
}

func taintText(t api.PolicyTaint) string {
	if t.Value != "" {
		return t.Key + "=" + t.Value + ":" + string(t.Effect)
	}
	return t.Key + ":" + string(t.Effect)
}

// conditionsOf are conditions in words, as the policy has them.
func conditionsOf(list []api.MatchCondition) string {
	texts := lists.Of(policy.Explain(list, &messages.ClusterView{}, ""), func(c policy.ConditionExplained) string { return c.Wanted })
	return strings.Join(texts, " and ")
}

// taintPolicy finds a ClusterTaintPolicy.
func (q *query) taintPolicy(name string) (*api.ClusterTaintPolicy, bool) {
	for _, o := range q.store.List("ClusterTaintPolicy") {
		if o.GetName() == name {
			return o.(*api.ClusterTaintPolicy), true
		}
	}
	return nil, false
}

// viewOf is a cluster as policies see it.
func viewOf(c *api.Cluster) *messages.ClusterView {
	v := messages.Located(c)
	v.Taints, v.Conditions, v.Removed = c.Spec.Taints, c.Status.Conditions, c.Status.RemovedConditions
	v.Created, v.Deleting = c.CreationTimestamp.Time, c.DeletionTimestamp != nil
	return v
}

// asked is what a policy asks of a cluster, by the rule that its machine asks.
func (q *query) asked(p *api.ClusterTaintPolicy, c *api.Cluster) Asked {
	v, missing := viewOf(c), q.settings().MissingConditionStatus
	x := Asked{Cluster: messages.ClusterName(c.Name), Policy: p.Name, Why: []string{}}
	if s := p.Spec.TargetClusters; s != nil && !affinity.Matches(s, v) {
		x.Asks, x.Why = "not selected", append(x.Why, "targetClusters selects "+selects(s))
		return x
	}
	verdict := policy.Judge(&p.Spec, v, missing, q.now)
	switch {
	case verdict.Remove: // it lets Remove win
		x.Asks = "remove"
	case verdict.Add:
		x.Asks = "add"
	default:
		x.Asks = "nothing"
	}
	if x.Asks == "remove" && !slices.ContainsFunc(c.Spec.Taints, func(t corev1.Taint) bool { return p.Spec.Has(t.Key, t.Effect) }) {
		x.Asks = "remove, and there is no such taint"
	}
	for _, cond := range policy.Explain(p.Spec.AddOnConditions, v, missing) {
		x.Why = append(x.Why, "add: "+q.held(&cond))
	}
	for _, cond := range policy.Explain(p.Spec.RemoveOnConditions, v, missing) {
		x.Why = append(x.Why, "remove: "+q.held(&cond))
	}
	if !verdict.Due.IsZero() {
		x.Due = new(q.since(verdict.Due))
	}
	x.Since = q.acted(p, c.Name, x.Asks)
	return x
}

// held says whether a condition of a policy holds.
func (q *query) held(c *policy.ConditionExplained) string {
	switch {
	case !c.Matches:
		return c.Wanted + " does not hold: " + c.Found
	case c.From.After(q.now):
		return c.Wanted + " holds from " + q.since(c.From).String() + " on: " + c.Found
	default:
		return c.Wanted + " holds: " + c.Found
	}
}

// acted is when a taint was last added, or removed, for a policy.
func (q *query) acted(p *api.ClusterTaintPolicy, cluster, asks string) *Seconds {
	for i := len(q.entries) - 1; i >= 0; i-- {
		e := &q.entries[i]
		at := q.since(e.At)
		switch f := e.Fact.(type) {
		case *messages.TaintAdded:
			if asks == "add" && string(f.Cluster) == cluster && f.Cause.Policy == p.Name {
				return &at
			}
		case *messages.TaintRemoved:
			if strings.HasPrefix(asks, "remove") && string(f.Cluster) == cluster && f.Cause.Policy == p.Name {
				return &at
			}
		}
	}
	return nil
}

// claims are the resources that the selectors of a propagation policy match, and which policy has each.
func (q *query) claims(x *Policy, name messages.PropagationName, namespace string, spec *api.PropagationSpec) {
	x.Asks = asks(&spec.Placement)
	selectors := propagation.Compile(spec.ResourceSelectors)
	since := q.claimed(name)
	claim := func(workload string, b *store.Binding) {
		c := Claimed{Workload: workload}
		if b != nil {
			c.Binding, c.By, c.Clusters = b.Name(), string(b.Owner()), slices.Clone(b.Spec.Clusters)
			c.Has = b.Owner() == name
			if at, known := since[b.Name()]; known && c.Has {
				c.Since = &at
			}
		}
		x.Workloads = append(x.Workloads, c)
	}
	for _, o := range q.store.Objects() {
		key := api.KeyOf(o)
		if selectors.Closest(namespace, key, o.GetLabels()) != propagation.NoMatch {
			claim(key.Kind+" "+nameOf(o), q.store.Binding(messages.NameBinding(key.Namespace, propagation.BindingName(key.Kind, key.Name))))
		}
	}
	for _, o := range slices.Concat(q.store.List("ResourceBinding"), q.store.List("ClusterResourceBinding")) {
		b := store.AsBinding(o) // of a resource that was not read: its labels are not known
		key := b.Spec.Resource.Key()
		if !q.store.Has(key) && (b.Owner() == name || selectors.Closest(namespace, key, nil) != propagation.NoMatch) {
			claim(key.Kind+" "+strings.TrimPrefix(key.Namespace+"/"+key.Name, "/"), b)
		}
	}
}

// claimed is since when a policy has each binding, as far as that was told.
func (q *query) claimed(name messages.PropagationName) map[messages.BindingName]Seconds {
	since := map[messages.BindingName]Seconds{}
	for i := range q.entries {
		switch f := q.entries[i].Fact.(type) {
		case *messages.BindingCreated:
			if strings.HasSuffix(f.Policy, " "+string(name)) {
				since[f.Binding] = q.since(q.entries[i].At)
			}
		case *messages.BindingUpdated:
			if slices.Contains(f.Changed, "policy") && strings.HasSuffix(f.Policy, " "+string(name)) {
				since[f.Binding] = q.since(q.entries[i].At)
			}
		}
	}
	return since
}
