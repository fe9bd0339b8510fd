package replay

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// user is who edits nodes in a step.
const user = "by a user"

// onNodes does what a step asks of nodes.
func (r *replay) onNodes(a scenario.Action, nodes []messages.NodeName) error {
	if toggle, is := a.(*scenario.Condition); is && toggle.Toggle {
		if err := r.settle(); err != nil { // what went before must be done
			return err
		}
	}
	for _, name := range nodes {
		if err := r.onNode(a, name); err != nil {
			return err
		}
	}
	return nil
}

// onNode does it with one, which has the name that a scenario gives it.
func (r *replay) onNode(a scenario.Action, full messages.NodeName) error {
	tier, name := r.tierOf(full)
	if tier == nil || tier.Node(name) == nil {
		return fmt.Errorf("there is no node %s any more", full)
	}
	switch a := a.(type) {
	case *scenario.Condition:
		return tier.Report(name, reported(tier.Node(name), a))
	case *scenario.Taint:
		return tier.Edit(&messages.EditNode{Node: name, Taint: a.Changes.Add, Untaint: a.Changes.Remove, By: user})
	case *scenario.Cordon:
		return tier.Edit(&messages.EditNode{Node: name, Unschedulable: new(!a.Off), By: user})
	case *scenario.Drain:
		return tier.Drain(name, &a.Options, user)
	case *scenario.Label:
		return tier.Edit(labelEdit(name, a.Labels))
	case *scenario.Outage:
		return r.stopKubelet(full, a)
	default:
		panic(fmt.Sprintf("replay: %T is not for nodes", a))
	}
}

// reported is the condition that the kubelet of a node reports in a step.
func reported(n *corev1.Node, a *scenario.Condition) corev1.NodeCondition {
	c := corev1.NodeCondition{Type: corev1.NodeConditionType(a.Type), Status: corev1.ConditionStatus(a.Status), Reason: a.Reason, Message: a.Message}
	if a.Toggle {
		c.Status = corev1.ConditionTrue
		for i := range n.Status.Conditions {
			if had := &n.Status.Conditions[i]; had.Type == c.Type {
				c.Status = corev1.ConditionStatus(opposite(metav1.ConditionStatus(had.Status)))
			}
		}
	}
	return c
}

func labelEdit(name messages.NodeName, labels map[string]*string) *messages.EditNode {
	m := &messages.EditNode{Node: name, Label: map[string]string{}, By: user}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if value := labels[key]; value != nil {
			m.Label[key] = *value
		} else {
			m.Unlabel = append(m.Unlabel, key)
		}
	}
	return m
}

// tierOf is where a node is, with its name there: in a fleet its name has the cluster in front.
func (r *replay) tierOf(full messages.NodeName) (tier *nodetier.Tier, name messages.NodeName) {
	return world.TierOf(r.world, full)
}

// stopKubelet begins an outage of a node, or ends one: it lasts until the last of those that overlap is over.
func (r *replay) stopKubelet(full messages.NodeName, a *scenario.Outage) error {
	tier, name := r.tierOf(full)
	before := r.stopped[full]
	if a.Over {
		if r.stopped[full]--; before == 1 {
			return tier.Start(name)
		}
		return nil
	}
	if r.stopped[full]++; before == 0 {
		return tier.Stop(name)
	}
	return nil
}

// nodesAndPods keeps the objects of a tier as they are: they are never changed. It returns what copies them in the order of their names.
// Of a large cluster to copy them takes longer than to look for them, and most runs are not asked.
func nodesAndPods(tier *nodetier.Tier) func() []api.Object {
	nodes := lists.Of(tier.Nodes(), tier.Node)
	var pods []*corev1.Pod
	for p := range tier.EachPod {
		pods = append(pods, p)
	}
	budgets := lists.Of(tier.Budgets(), tier.Budget)
	return func() (all []api.Object) {
		for _, n := range nodes {
			o := *n
			o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
			all = append(all, &o)
		}
		slices.SortFunc(pods, func(a, b *corev1.Pod) int {
			return cmp.Compare(messages.NamePod(a.Namespace, a.Name), messages.NamePod(b.Namespace, b.Name))
		})
		for _, p := range pods {
			o := *p
			o.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
			all = append(all, &o)
		}
		for _, b := range budgets {
			o := *b
			o.TypeMeta = metav1.TypeMeta{APIVersion: policyv1.SchemeGroupVersion.String(), Kind: "PodDisruptionBudget"}
			all = append(all, &o)
		}
		return all
	}
}
