package storm

import (
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/runtime/fleet/world"
)

// Nodes is a Kubernetes cluster to build: nodes in zones of the same size, and Deployments that together have so many pods.
type Nodes struct {
	Nodes, Pods, Zones int
	// Tolerations mixes how long pods tolerate that their node is not ready or unreachable: none, forever, or a time.
	Tolerations Mix
	// Startup is how long a pod takes to be ready once it has a node, by the cluster's time.
	Startup time.Duration
}

const (
	// podsOfDeployment is how many pods a Deployment has at most.
	podsOfDeployment = 100
	// podsOfNode is how many pods a node can take. Source: the default of a kubelet's --max-pods.
	podsOfNode = 110
	// mostNodes and mostPods bound what a slip of the pen can ask for. Source: scenarios have the same bounds.
	mostNodes, mostPods = 10_000, 500_000
)

// Validate reports what cannot be built.
func (n *Nodes) Validate() error {
	var problems []error
	within := func(flag string, value, least, most int) {
		if value < least || value > most {
			problems = append(problems, fmt.Errorf("--%s %d: want %d to %d", flag, value, least, most))
		}
	}
	within("nodes", n.Nodes, 1, mostNodes)
	within("pods", n.Pods, 1, mostPods)
	within("zones", n.Zones, 1, max(1, n.Nodes))
	if len(problems) == 0 && n.Pods > n.Nodes*podsOfNode {
		problems = append(problems, fmt.Errorf("--pods %d: %d nodes take %d pods at most, %d each", n.Pods, n.Nodes, n.Nodes*podsOfNode, podsOfNode))
	}
	return errors.Join(problems...)
}

// zoneName is a, b, and so on to z, and then a2.
func zoneName(i int) string {
	name := string(rune('a' + i%26))
	if i >= 26 {
		name += fmt.Sprint(i/26 + 1)
	}
	return name
}

func (n *Nodes) kubelets() map[messages.NodeName]messages.KubeletBehaviour {
	all := make(map[messages.NodeName]messages.KubeletBehaviour, n.Nodes)
	for i := range n.Nodes {
		all[messages.NodeName(n.nodeName(i))] = messages.KubeletBehaviour{StartupMin: n.Startup, StartupMax: n.Startup, LeasePhase: true}
	}
	return all
}

func (n *Nodes) nodeName(i int) string {
	return fmt.Sprintf("%s-%05d", zoneName(i%n.Zones), i/n.Zones+1)
}

// build has a world made of them.
func (n *Nodes) build(w *world.World) error {
	for i := range n.Nodes {
		name := n.nodeName(i)
		o := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelTopologyZone: zoneName(i % n.Zones),
		}}}
		o.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: *resource.NewQuantity(podsOfNode, resource.DecimalSI),
		}
		o.Status.Capacity = o.Status.Allocatable
		o.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
		if err := w.Nodes().Settle(o); err != nil {
			return err
		}
	}
	for i := 0; i*podsOfDeployment < n.Pods; i++ {
		if err := w.Apply(n.deployment(i, min(podsOfDeployment, n.Pods-i*podsOfDeployment))); err != nil {
			return err
		}
	}
	return nil
}

// deployments is how many there are.
func (n *Nodes) deployments() int { return (n.Pods + podsOfDeployment - 1) / podsOfDeployment }

func (n *Nodes) deployment(i, pods int) *appsv1.Deployment {
	name, replicas := fmt.Sprintf("app-%05d", i+1), int32(pods)
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
	}}}
	if len(n.Tolerations) > 0 {
		d.Spec.Template.Spec.Tolerations = tolerationsOfNodes(n.Tolerations[n.Tolerations.pick(uint64(i))].Kind)
	}
	return d
}

// tolerationsOfNodes are those of a kind of the mix: without any, admission adds those of 300 seconds.
func tolerationsOfNodes(kind string) (all []corev1.Toleration) {
	like := corev1.Toleration{TolerationSeconds: new(int64)}
	if kind != tolerateNothing {
		like = tolerations(kind)[0]
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: like.TolerationSeconds})
	}
	return all
}

// places are the nodes, in their order.
func (n *Nodes) places() []place {
	all := make([]place, n.Nodes)
	for i := range all {
		all[i] = place{name: n.nodeName(i), zone: zoneName(i % n.Zones)}
	}
	return all
}

// What a storm of nodes takes at least: each node and each pod, with what is recorded of it. Measured; docs/storms.md has the figures.
const needNode, needPod = 24 << 10, 9 << 10

// need is how many bytes a storm takes at least.
func (n *Nodes) need() int64 {
	return needProgram + int64(n.Nodes)*needNode + int64(n.Pods)*needPod
}
