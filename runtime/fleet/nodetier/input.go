package nodetier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors/apiserver"
	"leeward/actors/drain"
	"leeward/actors/owner"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
)

// Admit completes a pod as the admission plugins do. created is false for one that replaces another.
func (t *Tier) Admit(p *corev1.Pod, created bool) error {
	if created {
		_ = admission.Prioritize(p, maps.Values(t.classes)) // a class that is not there may come later, in a file of manifests
	}
	return admission.AdmitPod(p, created, t.annotations[p.Namespace], t.settings)
}

// Handles reports whether an object belongs to the tier: a node, a pod, a PodDisruptionBudget, a PriorityClass, an owner of
// pods or nodes, a Machine, or a namespace.
func Handles(o api.Object) bool {
	switch o.(type) {
	case *corev1.Node, *corev1.Pod, *policyv1.PodDisruptionBudget, *schedulingv1.PriorityClass:
		return true
	}
	return kindOfOwner(o) != "" || isNamespace(o) || isMachine(o)
}

func isMachine(o api.Object) bool {
	u, is := o.(*unstructured.Unstructured)
	return is && u.GetKind() == kindMachine && u.GetAPIVersion() == machineAPI
}

func isNamespace(o api.Object) bool {
	kind := o.GetObjectKind().GroupVersionKind()
	return kind.Kind == "Namespace" && kind.Group == ""
}

// Apply takes over an object that was admitted. Those that the tier does not handle change nothing.
func (t *Tier) Apply(o api.Object) error { return t.apply(o, false) }

// Settle takes over an object of a cluster that runs already: a node is not admitted again, and a pod keeps the status that it has.
func (t *Tier) Settle(o api.Object) error { return t.apply(o, true) }

func (t *Tier) apply(o api.Object, settled bool) error {
	switch o := o.(type) {
	case *corev1.Node:
		t.kernel.Post(serverAt, &messages.PutNode{Object: o, Settled: settled})
		if t.server.Node(messages.NodeName(o.Name)) == nil {
			t.machineOf(o)
		}
	case *corev1.Pod:
		t.applyPod(o, settled)
	case *policyv1.PodDisruptionBudget:
		return t.applyBudget(o)
	case *schedulingv1.PriorityClass:
		t.classes[o.Name] = o
	default:
		if isNamespace(o) {
			t.annotations[o.GetName()] = o.GetAnnotations()
		}
		if isMachine(o) {
			return t.readMachine(o.(*unstructured.Unstructured))
		}
		if kind := kindOfOwner(o); kind != "" {
			return t.applyOwner(kind, o)
		}
	}
	return nil
}

// MostBudgets is how many PodDisruptionBudgets a tier holds. Each is counted whenever one of its pods changes.
const MostBudgets = 10_000

// AdmitBudget refuses a new PodDisruptionBudget where there are as many as a tier holds.
func (t *Tier) AdmitBudget(o *policyv1.PodDisruptionBudget) error {
	if !t.budgets[messages.NamePodBudget(o.Namespace, o.Name)] && len(t.budgets) >= MostBudgets {
		return fmt.Errorf("there are %d PodDisruptionBudgets already, which is the most", MostBudgets)
	}
	return nil
}

func (t *Tier) applyBudget(o *policyv1.PodDisruptionBudget) error {
	if err := t.AdmitBudget(o); err != nil {
		return err
	}
	name := messages.NamePodBudget(o.Namespace, o.Name)
	if len(t.budgets) == 0 {
		for _, of := range slices.Sorted(maps.Keys(t.owners)) {
			t.tellScale(of)
		}
	}
	t.budgets[name] = true
	t.kernel.Post(serverAt, &messages.PutPodBudget{Object: o})
	return nil
}

// tellScale tells the API server how many pods an owner must have: as long as there are budgets, which alone ask for it.
func (t *Tier) tellScale(name messages.OwnerName) {
	if replicas, known := t.Replicas(name); known {
		t.kernel.Post(serverAt, &messages.OwnerScaled{Owner: name, Replicas: int32(replicas)})
	}
}

func (t *Tier) deleteBudget(name messages.PodBudgetName) bool {
	if !t.budgets[name] {
		return false
	}
	delete(t.budgets, name)
	t.kernel.Post(serverAt, &messages.DeletePodBudget{Budget: name})
	return true
}

func (t *Tier) applyPod(o *corev1.Pod, settled bool) {
	p := o.DeepCopy()
	owner := t.controllerOf(p)
	if settled && owner != "" {
		t.announce(p, owner)
	}
	t.kernel.Post(serverAt, &messages.PutPod{Object: p, Owner: owner})
}

// announce has an owner know of a pod that it has already, before it finds that one is missing.
func (t *Tier) announce(p *corev1.Pod, owner messages.OwnerName) {
	if p.UID == "" {
		p.UID = types.UID(p.Namespace + "/" + p.Name)
	}
	t.kernel.Post(at(messages.KindOwner, string(owner)), &messages.OwnedPodViewed{
		Pod: messages.NamePod(p.Namespace, p.Name), UID: p.UID, Node: messages.NodeName(p.Spec.NodeName), Phase: p.Status.Phase, Terminating: p.DeletionTimestamp != nil,
	})
}

// controllerOf is the owner that controls a pod: of a ReplicaSet that a Deployment made, the Deployment.
func (t *Tier) controllerOf(p *corev1.Pod) messages.OwnerName {
	for _, r := range p.OwnerReferences {
		if r.Controller == nil || !*r.Controller {
			continue
		}
		if name := messages.NameOwner(r.Kind, p.Namespace, r.Name); t.owners[name] != nil {
			return name
		}
		if r.Kind == messages.KindNameReplicaSet {
			return t.deploymentOf(p)
		}
	}
	return ""
}

// deploymentOf is the Deployment whose selector a pod of some ReplicaSet matches.
func (t *Tier) deploymentOf(p *corev1.Pod) messages.OwnerName {
	for _, name := range slices.Sorted(maps.Keys(t.owners)) {
		if deploys(name, t.owners[name], p) {
			return name
		}
	}
	return ""
}

// Delete deletes an object as a user does. It reports whether the tier had it.
func (t *Tier) Delete(key api.Key) bool {
	switch key.Kind {
	case "Node":
		if t.server.Node(messages.NodeName(key.Name)) == nil {
			return false
		}
		t.kernel.Post(serverAt, &messages.DeleteNode{Node: messages.NodeName(key.Name), Cause: apiserver.ByUser})
		return true
	case "Pod":
		return t.DeletePod(messages.NamePod(key.Namespace, key.Name), nil)
	case kindBudget:
		return t.deleteBudget(messages.NamePodBudget(key.Namespace, key.Name))
	case "PriorityClass":
		_, had := t.classes[key.Name]
		delete(t.classes, key.Name)
		return had
	}
	name := messages.NameOwner(key.Kind, key.Namespace, key.Name)
	if t.owners[name] == nil {
		return false
	}
	delete(t.owners, name)
	delete(t.sets, name)
	t.kernel.Post(at(messages.KindOwner, string(name)), &messages.OwnerDeleted{})
	t.kernel.Post(serverAt, &messages.OwnerWatches{Owner: name, Over: true})
	if len(t.budgets) > 0 {
		t.kernel.Post(serverAt, &messages.OwnerScaled{Owner: name, Gone: true})
	}
	return true
}

// DeletePod deletes a pod as a user does, within a grace period of so many seconds in place of its own where one is given. It reports
// whether there is one.
func (t *Tier) DeletePod(name messages.PodName, gracePeriod *int64) bool {
	p := t.server.Pod(name)
	if p == nil {
		return false
	}
	t.kernel.Post(serverAt, &messages.DeletePod{Pod: name, UID: p.UID, GracePeriodSeconds: gracePeriod, Cause: apiserver.ByUser})
	return true
}

// Edit changes a node as a user asks. It is an error if there is none.
func (t *Tier) Edit(m *messages.EditNode) error {
	if err := t.mustHave(m.Node); err != nil {
		return err
	}
	t.kernel.Post(serverAt, m)
	return nil
}

// Drain cordons a node and evicts its pods, as kubectl drain does. It is an error if there is no such node.
func (t *Tier) Drain(name messages.NodeName, o *messages.DrainOptions, by string) error {
	unschedulable := true
	if err := t.Edit(&messages.EditNode{Node: name, Unschedulable: &unschedulable, By: by}); err != nil {
		return err
	}
	a := at(messages.KindDrain, string(name))
	if !t.kernel.Has(a) {
		host[messages.ToDrain](t, a, drain.New(name))
	}
	t.kernel.Post(a, &messages.BeginDrain{Options: *o})
	t.kernel.Post(serverAt, &messages.ListPods{Node: name})
	return nil
}

// Report has the kubelet of a node report conditions. It is an error if there is no such node.
func (t *Tier) Report(name messages.NodeName, conditions ...corev1.NodeCondition) error {
	return t.tellKubelet(name, &messages.ConditionsObserved{Conditions: conditions})
}

// Stop stops the kubelet of a node, Start lets it run again. It is an error if there is no such node.
func (t *Tier) Stop(name messages.NodeName) error {
	return t.tellKubelet(name, &messages.KubeletSwitched{Down: true})
}

// Start lets the kubelet of a node run again.
func (t *Tier) Start(name messages.NodeName) error {
	return t.tellKubelet(name, &messages.KubeletSwitched{})
}

// Refuse has the API server refuse every request with that verb of the controller that evicts pods; without an error no longer.
func (t *Tier) Refuse(verb messages.APIVerb, err string) {
	t.kernel.Post(at(messages.KindAPIClient, string(client)), &messages.RequestsRefused{Verb: verb, Error: err})
}

func (t *Tier) tellKubelet(name messages.NodeName, m messages.ToKubelet) error {
	if err := t.mustHave(name); err != nil {
		return err
	}
	t.kernel.Post(at(messages.KindKubelet, string(name)), m)
	return nil
}

func (t *Tier) mustHave(name messages.NodeName) error {
	if t.server.Node(name) == nil {
		return fmt.Errorf("there is no node %q", name)
	}
	return nil
}

// Node is a node as it is stored, nil if there is none. It must not be changed.
func (t *Tier) Node(name messages.NodeName) *corev1.Node { return t.server.Node(name) }

// Pod is a pod as it is stored, nil if there is none. It must not be changed.
func (t *Tier) Pod(name messages.PodName) *corev1.Pod { return t.server.Pod(name) }

// OwnerOf is what keeps a pod up, empty for nothing; false: there is no such pod.
func (t *Tier) OwnerOf(name messages.PodName) (messages.OwnerName, bool) {
	return t.server.OwnerOf(name)
}

// Budget is a PodDisruptionBudget as it is stored, nil if there is none. It must not be changed.
func (t *Tier) Budget(name messages.PodBudgetName) *policyv1.PodDisruptionBudget {
	return t.server.Budget(name)
}

// Budgets are the names of all PodDisruptionBudgets, sorted.
func (t *Tier) Budgets() []messages.PodBudgetName { return t.server.Budgets() }

// EachPod yields all pods in any order, with what keeps each up, empty for nothing. They must not be changed.
func (t *Tier) EachPod(yield func(*corev1.Pod, messages.OwnerName) bool) { t.server.EachPod(yield) }

// Replicas is how many pods a Deployment, a ReplicaSet or a StatefulSet must have; false: it is none of these, or is gone.
func (t *Tier) Replicas(name messages.OwnerName) (replicas int, known bool) {
	spec := t.owners[name]
	if spec == nil || spec.Template == nil || strings.HasPrefix(string(name), "daemonset/") || strings.HasPrefix(string(name), "job/") {
		return 0, false
	}
	return int(spec.Replicas), true
}

// Fewer is how many pods fewer than its replicas a Deployment may have while it replaces those of an older template; 0: it replaces none.
func (t *Tier) Fewer(name messages.OwnerName) int {
	spec := t.owners[name]
	switch {
	case spec == nil || !t.rolled[name] || !strings.HasPrefix(string(name), "deployment/"):
		return 0
	case spec.Recreate:
		return int(spec.Replicas)
	}
	_, unavailable := owner.Rolling(spec)
	return unavailable
}

// Nodes are the names of all nodes, sorted.
func (t *Tier) Nodes() []messages.NodeName { return t.server.Nodes() }

// Pods are the names of all pods, sorted.
func (t *Tier) Pods() []messages.PodName { return t.server.Pods() }

// PodsOn are the names of the pods that are bound to a node, sorted.
func (t *Tier) PodsOn(name messages.NodeName) []messages.PodName { return t.server.PodsOn(name) }

// kindOfOwner is the kind of an owner of pods or nodes, empty for what is none.
func kindOfOwner(o api.Object) string {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return messages.KindNameDeployment
	case *appsv1.ReplicaSet:
		return messages.KindNameReplicaSet
	case *appsv1.StatefulSet:
		return messages.KindNameStatefulSet
	case *appsv1.DaemonSet:
		return messages.KindNameDaemonSet
	case *batchv1.Job:
		return messages.KindNameJob
	case *unstructured.Unstructured:
		if o.GetKind() == messages.KindNameMachineSet && o.GetAPIVersion() == machineAPI {
			return messages.KindNameMachineSet
		}
	}
	return ""
}

// kindBudget is the kind of a PodDisruptionBudget.
const kindBudget = "PodDisruptionBudget"

// machineAPI is the API of the MachineSets of OpenShift.
const machineAPI = "machine.openshift.io/v1beta1"

// SyncNode takes over a node as another API server stores it; nil: it was deleted there.
func (t *Tier) SyncNode(name messages.NodeName, o *corev1.Node) {
	t.kernel.Post(serverAt, &messages.NodeSynced{Node: name, Object: o})
}

// SyncPod takes over a pod as another API server stores it; nil: it is gone there.
func (t *Tier) SyncPod(name messages.PodName, o *corev1.Pod) {
	t.kernel.Post(serverAt, &messages.PodSynced{Pod: name, Object: o})
}

// SyncBudget takes over a PodDisruptionBudget as another API server stores it; nil: it was deleted there.
func (t *Tier) SyncBudget(name messages.PodBudgetName, o *policyv1.PodDisruptionBudget) {
	t.kernel.Post(serverAt, &messages.PodBudgetSynced{Budget: name, Object: o})
}

// SyncScale says how many pods an owner must have that another controller keeps up: what percentages of PodDisruptionBudgets are of. Other
// objects change nothing.
func (t *Tier) SyncScale(o api.Object, gone bool) {
	kind := kindOfOwner(o)
	if kind == "" || kind == messages.KindNameDaemonSet || kind == messages.KindNameJob {
		return
	}
	spec, err := ownerSpec(o)
	if err != nil {
		return // it was admitted, and is no MachineSet
	}
	t.kernel.Post(serverAt, &messages.OwnerScaled{Owner: messages.NameOwner(kind, o.GetNamespace(), o.GetName()), Replicas: spec.Replicas, Gone: gone})
}

// Renewed says when a real kubelet renewed the Lease of its node.
func (t *Tier) Renewed(name messages.NodeName, at time.Time) {
	if t.server.Node(name) != nil {
		t.kernel.Post(nodeAt(name), &messages.KubeletSilent{Last: at})
	}
}

func nodeAt(name messages.NodeName) messages.Address { return at(messages.KindNode, string(name)) }

// TakeEdits returns what the machines have edited since the last call.
func (t *Tier) TakeEdits() *apiserver.Edits { return t.server.TakeEdits() }
