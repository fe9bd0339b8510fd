package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Pod expects something of one pod. What is nil or empty does not matter.
type Pod struct {
	Name messages.PodName
	// Absent: there must be no such pod; nothing else is expected then.
	Absent bool
	Phase  corev1.PodPhase
	// Node is where it is bound; an empty one: it is not bound.
	Node *messages.NodeName
	// Ready is its condition Ready, Evicted whether it has the condition DisruptionTarget, Terminating whether it was deleted.
	Ready, Evicted, Terminating *bool
	// Unschedulable is a part of what the scheduler says of a pod that no node can take.
	Unschedulable string
}

func (*Pod) subject() {}

// ObjectKey is the pod's.
func (p *Pod) ObjectKey() api.Key { return PodKey(p.Name) }

// String returns "pod default/web is Running on n1, not evicted".
func (p *Pod) String() string {
	if p.Absent {
		return "there is no pod " + string(p.Name)
	}
	words := p.wants()
	if len(words) == 0 {
		return "there is a pod " + string(p.Name)
	}
	return "pod " + string(p.Name) + " is " + strings.Join(words, ", ")
}

func (p *Pod) wants() (words []string) {
	if p.Phase != "" {
		words = append(words, string(p.Phase))
	}
	if p.Node != nil {
		words = append(words, onNode(string(*p.Node)))
	}
	for _, w := range []struct {
		word string
		want *bool
	}{{"ready", p.Ready}, {"evicted", p.Evicted}, {"terminating", p.Terminating}} {
		if w.want != nil {
			words = append(words, whether(*w.want, w.word))
		}
	}
	if p.Unschedulable != "" {
		words = append(words, fmt.Sprintf("unschedulable with %q", p.Unschedulable))
	}
	return words
}

func whether(is bool, word string) string {
	if is {
		return word
	}
	return "not " + word
}

func onNode(name string) string {
	if name == "" {
		return "not bound"
	}
	return "on " + name
}

func (p *Pod) judge(o *objects) (holds bool, seen string) {
	if o.nodes == nil {
		return false, "there are no pods"
	}
	pod := o.nodes.Pod(p.Name)
	if pod == nil {
		return p.Absent, "there is no such pod"
	}
	return !p.Absent && p.matches(pod), "it is " + stateOf(pod)
}

func (p *Pod) matches(pod *corev1.Pod) bool {
	for _, w := range []struct {
		want *bool
		is   bool
	}{{p.Ready, isReady(pod)}, {p.Evicted, isEvicted(pod)}, {p.Terminating, isTerminating(pod)}} {
		if w.want != nil && *w.want != w.is {
			return false
		}
	}
	if p.Phase != "" && p.Phase != phaseOf(pod) || p.Node != nil && string(*p.Node) != pod.Spec.NodeName {
		return false
	}
	message, is := unschedulable(pod)
	return p.Unschedulable == "" || is && strings.Contains(message, p.Unschedulable)
}

// stateOf tells what there is to expect of a pod.
func stateOf(pod *corev1.Pod) string {
	words := []string{string(phaseOf(pod)), onNode(pod.Spec.NodeName), whether(isReady(pod), "ready")}
	if isEvicted(pod) {
		words = append(words, "evicted")
	}
	if isTerminating(pod) {
		words = append(words, "terminating")
	}
	if message, is := unschedulable(pod); is {
		words = append(words, fmt.Sprintf("unschedulable with %q", message))
	}
	return strings.Join(words, ", ")
}

// phaseOf is the phase of a pod; of one without a status it is Pending.
func phaseOf(pod *corev1.Pod) corev1.PodPhase { return cmp.Or(pod.Status.Phase, corev1.PodPending) }

func isReady(pod *corev1.Pod) bool       { return has(pod, corev1.PodReady) }
func isEvicted(pod *corev1.Pod) bool     { return has(pod, corev1.DisruptionTarget) }
func isTerminating(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }

func has(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	c := condition(pod, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

// unschedulable returns what the scheduler says of a pod that no node can take.
func unschedulable(pod *corev1.Pod) (message string, is bool) {
	c := condition(pod, corev1.PodScheduled)
	if c == nil || c.Status != corev1.ConditionFalse || pod.Spec.NodeName != "" {
		return "", false
	}
	return c.Message, true
}
