package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/disruption"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/podplacement"
	"leeward/messages"
	"leeward/messages/lists"
	"leeward/runtime/fleet/world"
)

// Pod is why a pod is where it is. Names of a fleet's nodes and pods have the cluster in front.
type Pod struct {
	// Owner is what keeps it up; empty: nothing does.
	Owner messages.OwnerName `json:"owner,omitempty"`
	// Gone is set where it does not exist any more at the instant.
	Gone  bool            `json:"gone,omitempty"`
	Phase corev1.PodPhase `json:"phase,omitempty"`
	Ready bool            `json:"ready"`
	// Node is where it is bound; empty: nowhere. Terminating: it was deleted, and has not ended yet.
	Node        string `json:"node,omitempty"`
	Terminating bool   `json:"terminating,omitempty"`
	// Tolerations are its own and those that admission gave it, a line each.
	Tolerations []string `json:"tolerations"`
	// Bound is when it was bound to the node; nil: it was before the start, or is not bound.
	Bound *Seconds `json:"boundSeconds,omitempty"`
	// Decision is the one that bound it, or that found no node for it; nil: the scheduler was not asked.
	Decision *PodDecision `json:"decision,omitempty"`
	// Replaces is the pod that it takes the place of; empty: none that is known.
	Replaces messages.PodName `json:"replaces,omitempty"`
	// UnderWay are evictions that are scheduled or go on, Past those that are over.
	UnderWay []Move `json:"underWay"`
	Past     []Move `json:"past"`
}

// PodDecision is one decision of the scheduler of pods, with what it found of each node.
type PodDecision struct {
	At Seconds `json:"atSeconds"`
	// Node is empty where no node could take the pod; Why then says why, in the words of kube-scheduler.
	Node string `json:"node,omitempty"`
	Why  string `json:"why,omitempty"`
	// Timed: each node that could take it has a NoExecute taint that it tolerates only for a time.
	Timed bool         `json:"timed,omitempty"`
	Nodes []NodeFitted `json:"nodes"`
}

// NodeFitted is what a decision found of one node.
type NodeFitted struct {
	Node    string   `json:"node"`
	Zone    string   `json:"zone,omitempty"`
	Refused []string `json:"refused,omitempty"`
	// Compared is set where it was one of the nodes that were compared, by these scores.
	Compared bool   `json:"compared"`
	Score    *Score `json:"score,omitempty"`
	Timed    bool   `json:"timed,omitempty"`
	Chosen   bool   `json:"chosen"`
}

// Score is what a node is worth to the pod, by the plugins of kube-scheduler, weighted.
type Score struct {
	Total    int64 `json:"total"`
	Taints   int64 `json:"taints"`
	Affinity int64 `json:"affinity"`
	Free     int64 `json:"free"`
	Balanced int64 `json:"balanced"`
	Spread   int64 `json:"spread"`
}

// podDecisions are the last two decisions on a pod that matter: the one that found a node, and the last one.
type podDecisions struct{ bound, last *podDecision }

type podDecision struct {
	at time.Time
	*podplacement.Explanation
}

// keepPod keeps a decision on a pod that may be meant.
func (q *query) keepPod(at time.Time, full messages.PodName) {
	if !q.names(string(full)) {
		return
	}
	x := q.world.ExplainPod(at, full)
	if x == nil {
		return
	}
	d := q.pods[full]
	if d == nil {
		d = &podDecisions{}
		q.pods[full] = d
	}
	if d.last = (&podDecision{at, x}); x.Node != "" {
		d.bound = d.last
	}
}

// names reports whether what users wrote may mean a node or a pod, by its full name: NAME, NAMESPACE/NAME, or with the cluster in front.
func (q *query) names(full string) bool {
	name := q.full()
	return full == name || strings.HasSuffix(full, "/"+name)
}

// knownPods are the pods that there are or ever were, by their full names.
func (q *query) knownPods() map[string]bool {
	all := map[string]bool{}
	for i := range q.entries {
		if f, is := q.entries[i].Fact.(messages.AboutPod); is {
			all[string(f.AboutPod())] = true
		}
	}
	q.eachTier(func(prefix string, t tier) {
		for _, name := range t.Pods() {
			all[prefix+string(name)] = true
		}
	})
	return all
}

// tier is what is asked of the nodes and pods of a cluster.
type tier interface {
	Node(messages.NodeName) *corev1.Node
	Nodes() []messages.NodeName
	Pod(messages.PodName) *corev1.Pod
	Pods() []messages.PodName
	PodsOn(messages.NodeName) []messages.PodName
	OwnerOf(messages.PodName) (messages.OwnerName, bool)
}

// eachTier yields the nodes and pods of each cluster that has some, and what is in front of their names.
func (q *query) eachTier(yield func(prefix string, t tier)) {
	if t := q.world.Nodes(); t != nil {
		yield("", t)
	}
	for _, cluster := range q.world.MembersWithNodes() {
		yield(string(cluster)+"/", q.world.NodesOf(cluster))
	}
}

// meantOf is the one of some full names that is meant. Of several, that in namespace default, as kubectl takes it.
func (q *query) meantOf(all []string) (string, error) {
	slices.Sort(all)
	fit := slices.DeleteFunc(slices.Clone(all), func(full string) bool { return !q.names(full) })
	if len(fit) == 0 {
		return "", q.unknown(all)
	}
	if usual := slices.DeleteFunc(slices.Clone(fit), func(full string) bool { return full != metav1.NamespaceDefault+"/"+q.Name }); len(usual) == 1 {
		return usual[0], nil
	}
	if len(fit) > 1 {
		return "", fmt.Errorf("%s %q may mean %s: name one of them whole", q.Kind, q.Name, strings.Join(fit[:min(len(fit), mostNamed)], ", "))
	}
	return fit[0], nil
}

func (q *query) explainPod() {
	full, err := q.meantOf(slices.Collect(maps.Keys(q.knownPods())))
	if err != nil {
		q.problem = err
		return
	}
	q.answer.Name, q.answer.Pod = full, q.pod(messages.PodName(full))
}

func (q *query) pod(full messages.PodName) *Pod {
	x := &Pod{Gone: true, Tolerations: []string{}}
	t, name := world.TierOf(q.world, full)
	if p := t.Pod(name); p != nil {
		x.Gone, x.Phase, x.Node, x.Terminating = false, p.Status.Phase, q.beside(full, p.Spec.NodeName), p.DeletionTimestamp != nil
		x.Owner, _ = t.OwnerOf(name)
		x.Ready = disruption.Ready(p)
		x.Tolerations = append(x.Tolerations, lists.Of(p.Spec.Tolerations, toleration)...)
	}
	x.bound(q, full)
	fold := q.podMoves()
	x.Owner = cmp.Or(x.Owner, fold.owners[full])
	x.Replaces, x.UnderWay, x.Past = fold.replaces[full], []Move{}, []Move{}
	for _, m := range fold.all[full] {
		if m.open() {
			q.podDetail(m)
			x.UnderWay = append(x.UnderWay, *m)
		} else {
			x.Past = append(x.Past, *m)
		}
	}
	return x
}

// beside is the full name of what is in the cluster of another: eu-1/a1 beside eu-1/shop/web.
func (q *query) beside(full messages.PodName, name string) string {
	if name == "" || q.world.Nodes() != nil {
		return name
	}
	cluster, _, _ := strings.Cut(string(full), "/")
	return cluster + "/" + name
}

// bound says when the pod was bound where it is, and by which decision; of one that is not bound, why not.
func (x *Pod) bound(q *query, full messages.PodName) {
	for i := len(q.entries) - 1; i >= 0 && x.Node != ""; i-- {
		if f, is := q.entries[i].Fact.(*messages.PodBound); is && f.Pod == full {
			x.Bound = new(q.since(q.entries[i].At))
			break
		}
	}
	d := q.pods[full]
	if d == nil {
		return
	}
	kept := d.last
	if x.Bound != nil {
		kept = d.bound
	}
	if kept == nil || x.Node != "" && (x.Bound == nil || q.beside(full, kept.Node) != x.Node) {
		return
	}
	x.Decision = q.podDecision(full, kept)
}

func (q *query) podDecision(full messages.PodName, d *podDecision) *PodDecision {
	x := &PodDecision{At: q.since(d.at), Node: q.beside(full, d.Node), Why: d.Why, Timed: d.Timed, Nodes: []NodeFitted{}}
	t, _ := world.TierOf(q.world, full)
	for i := range d.Nodes {
		n := &d.Nodes[i]
		fitted := NodeFitted{Node: q.beside(full, n.Name), Refused: n.Refused, Compared: n.Compared, Timed: n.Timed, Chosen: n.Chosen}
		if at := t.Node(messages.NodeName(n.Name)); at != nil {
			fitted.Zone = nodelife.ZoneOf(at.Labels).String()
		}
		if s := &n.Score; n.Compared {
			fitted.Score = &Score{s.Total(), s.Taints, s.Affinity, s.Free, s.Balanced, s.Spread}
		}
		x.Nodes = append(x.Nodes, fitted)
	}
	return x
}

// nodeNames are the full names of all nodes.
func (q *query) nodeNames() []string {
	all := map[string]bool{}
	q.eachTier(func(prefix string, t tier) {
		for _, name := range t.Nodes() {
			all[prefix+string(name)] = true
		}
	})
	return slices.Sorted(maps.Keys(all))
}
