package world

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/disruption"
	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/kernel"
)

// memberTier is the nodes and pods of one member cluster, in a kernel of their own. What its copies need it runs as pods; how many of these
// are ready, and what its nodes offer, it tells the member.
type memberTier struct {
	cluster messages.ClusterName
	tier    *nodetier.Tier
	kernel  *kernel.Kernel
	// heard is how many messages from outside the kernel had when it ran last.
	heard   uint64
	copies  map[messages.BindingName]*podCopy
	byOwner map[messages.OwnerName]*podCopy
	// pods are those of copies as they were last counted, and offers what each node offers and has given away.
	pods   map[messages.PodName]podCount
	offers map[messages.NodeName]nodeOffer
	// dirty are the pods and nodes of which there is news, and changed the copies whose counts are.
	dirtyPods  map[messages.PodName]bool
	dirtyNodes map[messages.NodeName]bool
	changed    map[messages.BindingName]bool
	told       *api.ResourceSummary
}

// podCopy is a copy that pods run.
type podCopy struct {
	binding  messages.BindingName
	workload api.Object
	replicas int32
	// ready and pending count its pods. Found: it ran before the world did, and its pods are not told of until all are ready.
	ready, pending int32
	found          bool
}

// podCount is what one pod counts for.
type podCount struct {
	owner          messages.OwnerName
	ready, pending bool
}

// nodeOffer is what one node offers, and what pods have of it. It is nothing where the node is not ready, or takes no pods.
type nodeOffer struct{ allocatable, allocated corev1.ResourceList }

// NodesOf are the nodes and pods of a member cluster, nil if it has none. What is asked of them is done when the instant is settled.
func (w *World) NodesOf(name messages.ClusterName) *nodetier.Tier {
	if m := w.members[name]; m != nil {
		return m.tier
	}
	return nil
}

// MembersWithNodes are the names of the member clusters that have nodes, sorted.
func (w *World) MembersWithNodes() []messages.ClusterName {
	return slices.Sorted(maps.Keys(w.members))
}

// buildNodes gives a member its nodes.
func (w *World) buildNodes(name messages.ClusterName) {
	given, has := w.config.MemberNodes[name]
	if !has || w.members[name] != nil {
		return
	}
	m := &memberTier{
		cluster: name, copies: map[messages.BindingName]*podCopy{}, byOwner: map[messages.OwnerName]*podCopy{}, pods: map[messages.PodName]podCount{},
		offers: map[messages.NodeName]nodeOffer{}, dirtyPods: map[messages.PodName]bool{}, dirtyNodes: map[messages.NodeName]bool{},
		changed: map[messages.BindingName]bool{},
	}
	m.kernel = kernel.New(kernel.Config{Order: w.config.Order, Seed: w.config.Seed, MaxPerInstant: mostPerInstant, Record: func(at time.Time, from messages.Address, f messages.Fact) {
		w.recordOf(m, at, from, f)
	}})
	m.tier = nodetier.New(m.kernel, nodetier.Config{Settings: w.settings, Seed: w.config.Seed, Start: w.now, Kubelets: given.Kubelets})
	m.attend(name, w.podsAttended)
	w.members[name] = m
	for _, n := range given.Nodes {
		m.must(m.tier.Settle(n.DeepCopy()))
	}
}

// must panics on an error of the tier: its objects were validated.
func (m *memberTier) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("world: nodes of cluster %s: %v", m.cluster, err))
	}
}

// recordOf takes a fact of a member's nodes and pods: names have the cluster in front.
func (w *World) recordOf(m *memberTier, at time.Time, from messages.Address, f messages.Fact) {
	m.tier.Record(f)
	switch f := f.(type) {
	case messages.AboutPod:
		m.dirtyPods[f.AboutPod()] = true
	case messages.AboutNode:
		m.dirtyNodes[f.AboutNode()] = true
	}
	switch f := f.(type) {
	case *messages.PodBound:
		m.dirtyNodes[f.Node] = true
	case *messages.PodDeleted:
		m.dirtyNodes[f.Node] = true
	case *messages.PodPhaseChanged:
		m.dirtyNodes[f.Node] = true
	}
	if w.config.HearNodes != nil {
		w.config.HearNodes(m.cluster, at, f)
	}
	if from.Name != "" {
		from.Name = string(m.cluster) + "/" + from.Name
	} else {
		from.Name = string(m.cluster)
	}
	named := within(m.cluster, f)
	if w.config.Hear != nil {
		w.config.Hear(at, named)
	} else {
		w.journal.Append(at, from, named)
	}
}

// ofCluster are the types of the names in facts that are unique within a cluster.
var ofCluster = map[reflect.Type]bool{
	reflect.TypeFor[messages.NodeName](): true, reflect.TypeFor[messages.PodName](): true, reflect.TypeFor[messages.ZoneName](): true,
	reflect.TypeFor[messages.OwnerName](): true, reflect.TypeFor[messages.PodBudgetName](): true,
}

// within is a fact of one cluster's nodes or pods, as others tell it from those of other clusters: "eu-1/node1", "eu-1/default/web".
func within(c messages.ClusterName, f messages.Fact) messages.Fact {
	named := reflect.New(reflect.TypeOf(f).Elem())
	named.Elem().Set(reflect.ValueOf(f).Elem())
	for _, field := range named.Elem().Fields() {
		if ofCluster[field.Type()] && field.String() != "" {
			field.SetString(string(c) + "/" + field.String())
		}
	}
	return named.Interface().(messages.Fact)
}

// noteCopy has pods run what a member runs from now on. A copy of something that has no pods is well immediately.
func (w *World) noteCopy(f messages.Fact) {
	switch f := f.(type) {
	case *messages.CopyStarted:
		w.runPods(f.Cluster, f.Binding, f.Replicas, false)
	case *messages.CopyAdopted:
		w.runPods(f.Cluster, f.Binding, f.Replicas, true)
	case *messages.CopyScaled:
		w.runPods(f.Cluster, f.Binding, f.Replicas, false)
	case *messages.CopyUpdated:
		if m := w.members[f.Cluster]; m != nil && m.copies[f.Binding] != nil {
			w.runPods(f.Cluster, f.Binding, m.copies[f.Binding].replicas, false)
		}
	case *messages.CopyStopped:
		if m := w.members[f.Cluster]; m != nil {
			m.stop(f.Binding)
		}
	}
}

// runPods has pods run a copy, with so many replicas.
func (w *World) runPods(cluster messages.ClusterName, b messages.BindingName, replicas int32, found bool) {
	m := w.members[cluster]
	if m == nil {
		return
	}
	workload := w.podsOf(b, replicas)
	if workload == nil {
		w.TellMember(cluster, &messages.PodsCounted{Binding: b, Ready: replicas})
		return
	}
	c := m.copies[b]
	if c == nil {
		c = &podCopy{binding: b, found: found}
		m.copies[b] = c
		m.byOwner[ownerOf(workload)] = c
	}
	c.workload, c.replicas = workload, replicas
	m.must(m.tier.Apply(workload))
	m.changed[b] = true
}

// stop ends the pods of a copy.
func (m *memberTier) stop(b messages.BindingName) {
	if c := m.copies[b]; c != nil {
		delete(m.copies, b)
		delete(m.byOwner, ownerOf(c.workload))
		m.tier.Delete(api.KeyOf(c.workload))
	}
}

func ownerOf(o api.Object) messages.OwnerName {
	return messages.NameOwner(o.GetObjectKind().GroupVersionKind().Kind, o.GetNamespace(), o.GetName())
}

// podsOf is the workload of a binding as a member applies it, with its replicas; nil where it has no pods. One of a kind that the node
// tier does not know is a Deployment there, of what its replicas require.
func (w *World) podsOf(name messages.BindingName, replicas int32) api.Object {
	b := w.store.Binding(name)
	if b == nil {
		return nil
	}
	switch o := w.store.Get(b.Spec.Resource.Key()).(type) {
	case *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.StatefulSet:
		c := api.Copy(o)
		*api.WorkloadOf(c).Replicas = &replicas
		return c
	case *appsv1.DaemonSet, *batchv1.Job:
		return api.Copy(o)
	}
	if b.Spec.Replicas == 0 {
		return nil
	}
	return standIn(b.Spec.Resource.Namespace, b.Spec.Resource.Kind, b.Spec.Resource.Name, b.Spec.ReplicaRequirements, replicas)
}

// standIn is a Deployment with what one replica of something requires.
func standIn(namespace, kind, name string, r *api.ReplicaRequirements, replicas int32) *appsv1.Deployment {
	name = strings.ToLower(name + "-" + kind)
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
	d.Spec.Template.Labels = labels
	container := corev1.Container{Name: "main", Image: name}
	if r != nil {
		container.Resources.Requests = r.ResourceRequest.DeepCopy()
		if claim := r.NodeClaim; claim != nil {
			d.Spec.Template.Spec.NodeSelector, d.Spec.Template.Spec.Tolerations = claim.NodeSelector, claim.Tolerations
		}
	}
	d.Spec.Template.Spec.Containers = []corev1.Container{container}
	return d
}

// settleMembers runs an instant of the members' nodes and pods, and tells members what came of it. It reports whether anything was told.
func (w *World) settleMembers(now time.Time) (told bool, err error) {
	for _, name := range w.MembersWithNodes() {
		m := w.members[name]
		next, due := m.kernel.Next()
		asked := m.kernel.Counters().Posted
		if asked == m.heard && (!due || next.After(now)) {
			continue
		}
		m.heard = asked
		if err := m.kernel.RunInstant(now); err != nil {
			return false, fmt.Errorf("nodes of cluster %s: %w", name, err)
		}
		m.tier.Settled()
		if err := m.kernel.Check(); err != nil {
			return false, fmt.Errorf("nodes of cluster %s: %w", name, err)
		}
		told = w.tellCounts(m) || told
		told = w.tellCapacity(m) || told
	}
	return told, nil
}

// tellCounts tells a member how many pods of its copies are ready, where that has changed.
func (w *World) tellCounts(m *memberTier) (told bool) {
	for name := range m.dirtyPods { // order-free: sums
		m.count(name)
	}
	clear(m.dirtyPods)
	for _, b := range slices.Sorted(maps.Keys(m.changed)) {
		c := m.copies[b]
		if c == nil || c.found && c.ready < c.wanted() && c.pending == 0 {
			continue
		}
		c.found = false
		ready := c.ready
		if c.wanted() == 0 { // a DaemonSet, or a Job: as many as there are
			ready = c.replicas
		}
		w.TellMember(m.cluster, &messages.PodsCounted{Binding: b, Ready: ready, Unschedulable: c.pending})
		told = true
	}
	clear(m.changed)
	return told
}

// wanted is how many pods must be ready; 0 where the object does not say.
func (c *podCopy) wanted() int32 {
	switch c.workload.(type) {
	case *appsv1.DaemonSet, *batchv1.Job:
		return 0
	}
	return c.replicas
}

// count counts a pod as it now is.
func (m *memberTier) count(name messages.PodName) {
	before, now := m.pods[name], podCount{}
	if p := m.tier.Pod(name); p != nil {
		now.owner = m.ownerOfPod(p, before.owner)
		now.ready, now.pending = disruption.Ready(p) && p.DeletionTimestamp == nil, podPending(p) // one that is being deleted serves no more
		m.pods[name] = now
	} else {
		delete(m.pods, name)
	}
	m.add(before, -1)
	m.add(now, 1)
}

// ownerOfPod is the copy's workload that keeps a pod up: the pods of a Deployment have a ReplicaSet in between, which is named after it.
func (m *memberTier) ownerOfPod(p *corev1.Pod, known messages.OwnerName) messages.OwnerName {
	if known != "" {
		return known
	}
	owner, _ := m.tier.OwnerOf(messages.NamePod(p.Namespace, p.Name))
	return owner
}

func (m *memberTier) add(p podCount, sign int32) {
	c := m.byOwner[p.owner]
	if c == nil {
		return
	}
	if p.ready {
		c.ready += sign
		m.changed[c.binding] = true
	}
	if p.pending {
		c.pending += sign
		m.changed[c.binding] = true
	}
}

// podPending reports whether no node can take a pod.
func podPending(p *corev1.Pod) bool {
	return p.Spec.NodeName == "" && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable
	})
}

// tellCapacity has a member report what its nodes offer, where that has changed: those that are ready and take new pods.
func (w *World) tellCapacity(m *memberTier) bool {
	if len(m.dirtyNodes) == 0 {
		return false
	}
	for name := range m.dirtyNodes { // order-free: each for itself
		if o := m.offer(name); o.allocatable == nil {
			delete(m.offers, name)
		} else {
			m.offers[name] = o
		}
	}
	clear(m.dirtyNodes)
	sum := &api.ResourceSummary{Allocatable: corev1.ResourceList{}, Allocated: corev1.ResourceList{}}
	for _, o := range m.offers { // order-free: sums
		addTo(sum.Allocatable, o.allocatable)
		addTo(sum.Allocated, o.allocated)
	}
	if m.told != nil && sameResources(m.told.Allocatable, sum.Allocatable) && sameResources(m.told.Allocated, sum.Allocated) {
		return false
	}
	m.told = sum
	w.TellMember(m.cluster, &messages.ClusterSays{Report: &messages.ResourcesReported{Summary: sum}})
	return true
}

// offer is what a node offers now.
func (m *memberTier) offer(name messages.NodeName) nodeOffer {
	n := m.tier.Node(name)
	if n == nil || n.Spec.Unschedulable || nodelife.Ready(n.Status.Conditions) != corev1.ConditionTrue || slices.ContainsFunc(n.Spec.Taints, ofCondition) {
		return nodeOffer{}
	}
	o := nodeOffer{allocatable: n.Status.Allocatable, allocated: corev1.ResourceList{}}
	for _, pod := range m.tier.PodsOn(name) {
		p := m.tier.Pod(pod)
		if p == nil || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		addTo(o.allocated, propagation.RequestsOf(&p.Spec))
		addTo(o.allocated, onePod)
	}
	return o
}

// ofCondition reports whether a taint says that a condition keeps pods off a node, which every workload minds.
func ofCondition(t corev1.Taint) bool {
	return strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Effect != corev1.TaintEffectPreferNoSchedule
}

var onePod = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}

func addTo(sum, more corev1.ResourceList) {
	for name, quantity := range more { // order-free: a sum each
		q := sum[name]
		q.Add(quantity)
		sum[name] = q
	}
}

func sameResources(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// AgentRuns reports whether a node of a member cluster is ready, on which its agent can run. Clusters without nodes have theirs elsewhere.
func (w *World) AgentRuns(name messages.ClusterName) bool {
	m := w.members[name]
	return m == nil || slices.ContainsFunc(m.tier.Nodes(), func(node messages.NodeName) bool {
		return nodelife.Ready(m.tier.Node(node).Status.Conditions) == corev1.ConditionTrue
	})
}

// nextOfMembers is when something of members' nodes is due by itself; zero: nothing.
func (w *World) nextOfMembers() (next time.Time) {
	for _, m := range w.members { // order-free: the earliest
		if at, due := m.kernel.Next(); due {
			next = actors.Earlier(next, at)
		}
	}
	return next
}
