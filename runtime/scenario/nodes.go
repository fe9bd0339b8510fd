package scenario

import (
	"maps"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
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
	if n.Labels[corev1.LabelHostname] == "" {
		n.Labels[corev1.LabelHostname] = n.Name
	}
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
