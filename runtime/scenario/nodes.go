package scenario

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/expect"
)

// usualCapacity is that of a node that does not say its own.
func usualCapacity() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("32"),
		corev1.ResourceMemory: resource.MustParse("128Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
}

// workingNode are the conditions of a node that works, as its kubelet reports them.
func workingNode() []corev1.NodeCondition {
	return []corev1.NodeCondition{
		{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
		{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID"},
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
	}
}

// nodes expands the entries of spec.nodes.
func (r *reader) nodes(entries []yaml.Node) {
	expand(r, "spec.nodes", entries, &r.cast.nodes, func(_ string, entry *nodeEntry) string { return entry.Name }, r.enlistNode)
}

// enlistNode adds one node.
func (r *reader) enlistNode(path, name string, entry *nodeEntry) {
	if r.cast.nodes.byName[name] != nil {
		r.bad(path+".name", "node %q is defined already", name)
		return
	}
	doc := r.doc
	node := entry.node(name)
	doc.Object = node
	doc.Place.Object, doc.Place.Field = api.KeyOf(node).String(), r.field(path)
	if k := entry.kubelet(); k != (messages.KubeletBehaviour{}) {
		r.kubelets[messages.NodeName(name)] = k
	}
	r.objects = append(r.objects, doc)
	r.cast.join(node, 0)
}

// kubelet is that of each node of an entry.
func (e *nodeEntry) kubelet() messages.KubeletBehaviour {
	k := messages.KubeletBehaviour{LeasePeriod: e.LeasePeriod.orElse(0)}
	if e.Startup != nil {
		k.StartupMin, k.StartupMax = time.Duration(e.Startup.Min), time.Duration(e.Startup.Max)
	}
	return k
}

// node returns the object of an entry under one name. It shares nothing with another.
func (e *nodeEntry) node(name string) *corev1.Node {
	n := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: maps.Clone(e.Labels)},
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	for label, value := range map[string]string{corev1.LabelTopologyRegion: e.Region, corev1.LabelTopologyZone: e.Zone} {
		if value != "" {
			n.Labels[label] = value
		}
	}
	for _, t := range e.Taints {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint(t))
	}
	n.Status.Capacity = corev1.ResourceList(e.Capacity).DeepCopy()
	n.Status.Conditions = e.conditions()
	completeNode(n)
	return n
}

// conditions are those of a node that works, changed as the entry says.
func (e *nodeEntry) conditions() []corev1.NodeCondition {
	all := workingNode()
	for _, given := range e.Conditions.objects() {
		kind := corev1.NodeConditionType(given.Type)
		all = slices.DeleteFunc(all, func(c corev1.NodeCondition) bool { return c.Type == kind })
		if given.Status != "" {
			all = append(all, corev1.NodeCondition{
				Type: kind, Status: corev1.ConditionStatus(given.Status), Reason: given.Reason, Message: given.Message,
			})
		}
	}
	return all
}

// completeNode gives a Node what a scenario may leave out: the label that every kubelet sets, and capacity and conditions of one that works.
func completeNode(n *corev1.Node) {
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelHostname] = cmp.Or(n.Labels[corev1.LabelHostname], n.Name)
	if n.Status.Conditions == nil {
		n.Status.Conditions = workingNode()
	}
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = usualCapacity()
		maps.Copy(n.Status.Allocatable, n.Status.Capacity.DeepCopy())
	}
	if n.Status.Capacity == nil {
		n.Status.Capacity = n.Status.Allocatable.DeepCopy()
	}
}

// node returns the node that an expectation names at a path.
func (r *reader) node(path, name string) messages.NodeName {
	if err := r.cast.there(&r.cast.nodes, name, sometime); err != nil {
		r.bad(path, "%v", err)
	}
	return messages.NodeName(name)
}

// podNamed returns the pod that a name means; without a namespace it is in default.
func podNamed(name string) messages.PodName {
	if !strings.Contains(name, "/") {
		return messages.NamePod(metav1.NamespaceDefault, name)
	}
	return messages.PodName(name)
}

// podOwners are the kinds that make pods.
var podOwners = []string{
	messages.KindNameDeployment, messages.KindNameReplicaSet, messages.KindNameStatefulSet, messages.KindNameDaemonSet, messages.KindNameJob,
}

// makesPod reports whether something of a scenario is, or may make, a pod of that name.
func (c *cast) makesPod(pod messages.PodName) bool {
	namespace, name := pod.Split()
	if len(c.objects[named{"Pod", namespace, name}]) > 0 {
		return true
	}
	for id := range c.objects {
		if id.namespace == namespace && slices.Contains(podOwners, id.kind) && strings.HasPrefix(name, id.name+"-") {
			return true
		}
	}
	return false
}

func (r *reader) pod(path string, w *podExpectation) *expect.Pod {
	cluster, name := "", w.Name
	if len(r.memberNodes) > 0 {
		cluster, name, _ = strings.Cut(w.Name, "/")
		if r.memberNodes[messages.ClusterName(cluster)] == nil {
			r.bad(path+".name", "want CLUSTER/POD or CLUSTER/NAMESPACE/POD, of a cluster that has nodes")
		}
		cluster += "/"
	}
	p := &expect.Pod{
		Name: messages.PodName(cluster) + podNamed(name), Absent: w.Present != nil && !*w.Present, Phase: corev1.PodPhase(w.Phase),
		Ready: w.Ready, Evicted: w.Evicted, Terminating: w.Terminating, Unschedulable: w.Unschedulable,
	}
	r.oneOf(path+".phase", w.Phase, "Pending", "Running", "Succeeded", "Failed", "Unknown")
	if !r.cast.incomplete && !r.cast.makesPod(podNamed(name)) {
		r.bad(path+".name", "there is no pod %q, and nothing that would make it", w.Name)
	}
	if w.Node != nil {
		p.Node = (*messages.NodeName)(w.Node)
		if *w.Node != "" {
			r.node(path+".node", *w.Node)
		}
	}
	expects := w.Phase != "" || w.Node != nil || w.Ready != nil || w.Evicted != nil || w.Terminating != nil || w.Unschedulable != ""
	switch {
	case p.Absent && expects:
		r.bad(path, "expects something of a pod that must not be there")
	case w.Present == nil && !expects:
		r.bad(path, "expects nothing of the pod")
	}
	return p
}

func (r *reader) pods(path string, w *podsExpectation) *expect.Pods {
	p := &expect.Pods{Namespace: w.Namespace}
	if w.Of != "" {
		p.Of = r.owner(path+".of", w)
	}
	if w.Node != nil {
		names, err := r.cast.resolve(&r.cast.nodes, &w.Node.reference, sometime)
		if err != nil {
			r.bad(path+".node", "%v", err)
		}
		p.Nodes = []messages.NodeName{}
		for _, name := range names {
			p.Nodes = append(p.Nodes, messages.NodeName(name))
		}
	}
	for i, written := range []*bounds{w.All, w.Running, w.Ready, w.Pending, w.Unschedulable, w.Evicted, w.Terminating} {
		if written != nil {
			b, _ := written.read() // read once before, when it was decoded
			p.Wants = append(p.Wants, expect.PodNumber{Of: expect.PodState(i), Bounds: b})
		}
	}
	if len(p.Wants) == 0 {
		r.bad(path, "want one of all, running, ready, pending, unschedulable, evicted, terminating")
	}
	return p
}

// owner returns what keeps up the pods that are meant.
func (r *reader) owner(path string, w *podsExpectation) messages.OwnerName {
	text := w.Of
	if w.Namespace != "" {
		text += " -n " + w.Namespace
	}
	key, err := r.cast.workload(text, sometime)
	switch {
	case err != nil:
		r.bad(path, "%v", err)
	case key != (api.Key{}) && !slices.Contains(podOwners, key.Kind):
		r.bad(path, "%s keeps up no pods: want a %s", key, strings.Join(podOwners, ", a "))
	}
	return messages.NameOwner(key.Kind, key.Namespace, key.Name)
}
