package replay

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/messages"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/nodeinvariant"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// memberWatch has the invariants of nodes and pods asked of one member cluster.
type memberWatch struct {
	monitor *nodeinvariant.Monitor
	news    []journal.Entry
}

// hearNodes keeps what happens to the nodes and pods of a member for its invariants.
func (r *replay) hearNodes(c messages.ClusterName, at time.Time, f messages.Fact) {
	m := r.members[c]
	if m == nil {
		m = &memberWatch{}
		r.members[c] = m
	}
	m.news = append(m.news, journal.Entry{At: at, Fact: f})
}

// watchMembers has the invariants asked of what happened to members' nodes and pods since.
func (r *replay) watchMembers() {
	for _, name := range r.world.MembersWithNodes() {
		m := r.members[name]
		if m.monitor == nil {
			m.monitor = nodeinvariant.New(r.settings, r.world.NodesOf(name))
		}
		m.monitor.Settled(r.world.Now(), m.news)
		m.news = nil
	}
}

// silenceAgents has the agents of clusters fall silent of which no node is ready, and the others be heard again. It reports whether any of that
// has changed.
func (r *replay) silenceAgents() (changed bool) {
	for _, name := range r.world.MembersWithNodes() {
		of := outageOf{name, messages.OutageAgent}
		if down := !r.world.AgentRuns(name); down != (r.outages[of] > 0) {
			r.outage(&scenario.Outage{Target: scenario.Target{Clusters: []messages.ClusterName{name}}, Kind: messages.OutageAgent, Over: !down})
			changed = true
		}
	}
	return changed
}

// powerOfNodes stops the kubelets of a cluster that loses power, or starts them again.
func (r *replay) powerOfNodes(c messages.ClusterName, a *scenario.Outage) {
	tier := r.world.NodesOf(c)
	if tier == nil || a.Kind != messages.OutagePower {
		return
	}
	for _, name := range tier.Nodes() {
		if err := r.stopKubelet(messages.NodeName(string(c)+"/"+string(name)), a); err != nil {
			panic(err) // it was listed just now
		}
	}
}

// memberObjects are the nodes and pods of all member clusters, whose names have the cluster in front.
type memberObjects struct{ world *world.World }

func (m memberObjects) in(name string) (tier *nodetier.Tier, cluster, local string) {
	cluster, local, _ = strings.Cut(name, "/")
	return m.world.NodesOf(messages.ClusterName(cluster)), cluster, local
}

// Node returns a node, nil if there is none.
func (m memberObjects) Node(name messages.NodeName) *corev1.Node {
	if tier, _, local := m.in(string(name)); tier != nil {
		return tier.Node(messages.NodeName(local))
	}
	return nil
}

// Pod returns a pod, on a node with such a name; nil if there is none.
func (m memberObjects) Pod(name messages.PodName) *corev1.Pod {
	tier, cluster, local := m.in(string(name))
	if tier == nil {
		return nil
	}
	return onMember(cluster, tier.Pod(messages.PodName(local)))
}

// onMember is a pod whose node has the cluster in front of its name.
func onMember(cluster string, p *corev1.Pod) *corev1.Pod {
	if p == nil || p.Spec.NodeName == "" {
		return p
	}
	o := *p
	o.Spec.NodeName = cluster + "/" + p.Spec.NodeName
	return &o
}

// Budget returns none: members have no PodDisruptionBudgets that a scenario names.
func (m memberObjects) Budget(messages.PodBudgetName) *policyv1.PodDisruptionBudget { return nil }

// EachPod yields the pods of all clusters.
func (m memberObjects) EachPod(yield func(pod *corev1.Pod, owner messages.OwnerName) bool) {
	for _, name := range m.world.MembersWithNodes() {
		for p, owner := range m.world.NodesOf(name).EachPod {
			if !yield(onMember(string(name), p), owner) {
				return
			}
		}
	}
}
