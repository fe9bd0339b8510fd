package nodetier

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
)

// machine is what is known of the machine of a node that no MachineSet made here, as in a dump of a cluster: its MachineSet, and the taints of its spec.
type machine struct {
	set    messages.OwnerName
	taints []corev1.Taint
}

const (
	kindMachine = "Machine"
	// annotationMachine names the Machine of a node, as NAMESPACE/NAME. Source: the nodelink controller of OpenShift.
	annotationMachine = "machine.openshift.io/machine"
)

// readMachine takes over a Machine that has a node and is of a MachineSet. One that is being deleted no longer counts for its set.
func (t *Tier) readMachine(o *unstructured.Unstructured) error {
	var m struct {
		Spec struct {
			Taints []corev1.Taint `json:"taints"`
		} `json:"spec"`
		Status struct {
			NodeRef struct {
				Name messages.NodeName `json:"name"`
			} `json:"nodeRef"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &m); err != nil {
		return fmt.Errorf("%s %s/%s: %w", kindMachine, o.GetNamespace(), o.GetName(), err)
	}
	c := metav1.GetControllerOf(o)
	if node := m.Status.NodeRef.Name; node != "" && c != nil && c.Kind == messages.KindNameMachineSet && o.GetDeletionTimestamp() == nil {
		t.machines[node] = machine{set: messages.NameOwner(c.Kind, o.GetNamespace(), c.Name), taints: m.Spec.Taints}
		t.adopt(node)
	}
	return nil
}

// machineOf notes whose machine a new node is. Without its Machine, its annotation tells its MachineSet: the name of a machine is that of its set
// with five letters behind it.
func (t *Tier) machineOf(n *corev1.Node) {
	name := messages.NodeName(n.Name)
	namespace, own, named := strings.Cut(n.Annotations[annotationMachine], "/")
	if i := strings.LastIndexByte(own, '-'); named && i > 0 && t.machines[name].set == "" {
		t.machines[name] = machine{set: messages.NameOwner(messages.KindNameMachineSet, namespace, own[:i])}
	}
	t.adopt(name)
}

// adopt has the MachineSet of a node that it has not made know of it, before the set finds that a machine is missing. If there is no such node, the
// API server tells the set.
func (t *Tier) adopt(node messages.NodeName) {
	m := t.machines[node]
	if t.owners[m.set] == nil {
		return
	}
	t.kernel.Post(at(messages.KindOwner, string(m.set)), &messages.MachineFound{Node: node, Taints: m.taints})
	t.kernel.Post(serverAt, &messages.OwnNode{Node: node, Owner: m.set})
}

// adoptAll is adopt for the nodes of a MachineSet that is new.
func (t *Tier) adoptAll(set messages.OwnerName) {
	for _, node := range slices.Sorted(maps.Keys(t.machines)) {
		if t.machines[node].set == set {
			t.adopt(node)
		}
	}
}
