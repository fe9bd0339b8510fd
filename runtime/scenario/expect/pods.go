package expect

import (
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// Pods expects numbers of pods: of all, or of those of an owner, or on some nodes.
type Pods struct {
	// Of is what keeps them up, Namespace where they are; empty means any.
	Of        messages.OwnerName
	Namespace string
	// Nodes are where they are bound; nil means anywhere, or nowhere yet.
	Nodes []messages.NodeName
	Wants []PodNumber
	// set is Nodes as a set, made when it is first asked for: runs under several seeds share it.
	set  map[messages.NodeName]bool
	once sync.Once
}

// PodNumber is how many of the pods are in a state.
type PodNumber struct {
	Of     PodState
	Bounds Bounds
}

// PodState is what pods are counted by.
type PodState int

// The states. Pods that are terminating count only as All, Evicted and Terminating.
const (
	AllPods PodState = iota
	RunningPods
	ReadyPods
	PendingPods
	UnschedulablePods
	EvictedPods
	TerminatingPods
	podStates
)

var podStateNames = [podStates]string{"in all", "running", "ready", "pending", "unschedulable", "evicted", "terminating"}

func (*Pods) subject() {}

// ObjectKey is that of the list of the pods.
func (p *Pods) ObjectKey() api.Key {
	return api.Key{APIVersion: "v1", Kind: kindPodList, Namespace: p.Namespace, Name: p.which()}
}

// String returns "pods of deployment/default/web on n1, n2: at least 2 running, 0 pending".
func (p *Pods) String() string {
	words := lists.Of(p.Wants, func(w PodNumber) string { return w.Bounds.String() + " " + podStateNames[w.Of] })
	return strings.TrimSuffix("pods "+p.which(), " ") + ": " + strings.Join(words, ", ")
}

// which says which pods are meant.
func (p *Pods) which() string {
	var words []string
	if p.Of != "" {
		words = append(words, "of "+string(p.Of))
	}
	if p.Namespace != "" {
		words = append(words, "in "+p.Namespace)
	}
	if p.Nodes != nil {
		words = append(words, "on "+named(p.Nodes))
	}
	return strings.Join(words, " ")
}

// named lists nodes, long lists by their beginning.
func named(nodes []messages.NodeName) string {
	const most = 5
	words := make([]string, min(len(nodes), most))
	for i := range words {
		words[i] = string(nodes[i])
	}
	list := strings.Join(words, ", ")
	if len(nodes) > most {
		list += fmt.Sprintf(", ... (%d in all)", len(nodes))
	}
	return list
}

func (p *Pods) judge(o *objects) (holds bool, seen string) {
	if o.nodes == nil {
		return false, "there are no pods"
	}
	counts := p.count(o)
	holds = true
	words := make([]string, len(p.Wants))
	for i, w := range p.Wants {
		holds = holds && w.Bounds.Holds(counts[w.Of])
		words[i] = fmt.Sprintf("%d %s", counts[w.Of], podStateNames[w.Of])
	}
	return holds, "there are " + strings.Join(words, ", ")
}

// count counts the pods that are meant, in each state.
func (p *Pods) count(o *objects) (counts [podStates]int) {
	o.nodes.EachPod(func(pod *corev1.Pod, owner messages.OwnerName) bool {
		if p.owns(pod, owner) && p.on(pod) {
			for state, is := range states(pod) {
				if is {
					counts[state]++
				}
			}
		}
		return true
	})
	return counts
}

// owns reports whether a pod is one of those that are meant, wherever it is.
func (p *Pods) owns(pod *corev1.Pod, owner messages.OwnerName) bool {
	return (p.Of == "" || p.Of == owner) && (p.Namespace == "" || p.Namespace == pod.Namespace)
}

// on reports whether a pod is where those are that are meant.
func (p *Pods) on(pod *corev1.Pod) bool {
	if p.Nodes == nil {
		return true
	}
	p.once.Do(func() {
		p.set = make(map[messages.NodeName]bool, len(p.Nodes))
		for _, name := range p.Nodes {
			p.set[name] = true
		}
	})
	return p.set[messages.NodeName(pod.Spec.NodeName)]
}

// states are those that a pod is in.
func states(pod *corev1.Pod) [podStates]bool {
	_, unschedulable := unschedulable(pod)
	terminating := isTerminating(pod)
	return [podStates]bool{
		AllPods:           true,
		RunningPods:       !terminating && phaseOf(pod) == corev1.PodRunning,
		ReadyPods:         !terminating && isReady(pod),
		PendingPods:       !terminating && phaseOf(pod) == corev1.PodPending,
		UnschedulablePods: !terminating && unschedulable,
		EvictedPods:       isEvicted(pod),
		TerminatingPods:   terminating,
	}
}
