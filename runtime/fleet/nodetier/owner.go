package nodetier

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"leeward/actors/owner"
	"leeward/messages"
	"leeward/messages/api"
)

// applyOwner has an owner keep up what its object says. One that is new hears of its nodes, if its kind looks at nodes.
func (t *Tier) applyOwner(kind string, o api.Object) error {
	if controller := metav1.GetControllerOf(o); kind == messages.KindNameReplicaSet && controller != nil && controller.Kind == messages.KindNameDeployment {
		t.revise(o.(*appsv1.ReplicaSet), messages.NameOwner(messages.KindNameDeployment, o.GetNamespace(), controller.Name))
		return nil // as in a dump of a cluster: its Deployment keeps its pods up
	}
	spec, err := ownerSpec(o)
	if err != nil {
		return fmt.Errorf("%s %s/%s: %w", kind, o.GetNamespace(), o.GetName(), err)
	}
	name := messages.NameOwner(kind, o.GetNamespace(), o.GetName())
	a := at(messages.KindOwner, string(name))
	if !t.kernel.Has(a) {
		machine, err := owner.New(kind, o.GetNamespace(), o.GetName(), t.seed, t.settings.NumericTolerations)
		if err != nil {
			return err
		}
		host[messages.ToOwner](t, a, machine)
		t.stayDown(a)
	}
	if t.owners[name] == nil && kind == messages.KindNameDaemonSet {
		t.kernel.Post(serverAt, &messages.OwnerWatches{Owner: name})
	}
	spec.Hash = t.hashOf(name, spec)
	isNew := t.owners[name] == nil
	if before := t.owners[name]; before != nil && !equality.Semantic.DeepEqual(before.Template, spec.Template) {
		t.rolled[name] = true
	}
	t.owners[name] = spec
	t.kernel.Post(a, &messages.OwnerApplied{Spec: spec})
	if isNew && kind == messages.KindNameMachineSet {
		t.adoptAll(name)
	}
	if len(t.budgets) > 0 {
		t.tellScale(name)
	}
	return nil
}

// revise notes a ReplicaSet of a Deployment, as in a dump of a cluster. Where the template of the Deployment is that of the ReplicaSet, its pods go on
// having the hash of that: others count them as of one kind.
func (t *Tier) revise(s *appsv1.ReplicaSet, of messages.OwnerName) {
	t.sets[of] = append(slices.DeleteFunc(t.sets[of], func(other *appsv1.ReplicaSet) bool { return other.Name == s.Name }), s)
	spec := t.owners[of]
	if spec == nil || spec.Hash != "" {
		return
	}
	if hash := t.hashOf(of, spec); hash != "" {
		known := *spec
		known.Hash = hash
		t.owners[of] = &known
		t.kernel.Post(at(messages.KindOwner, string(of)), &messages.OwnerApplied{Spec: &known})
	}
}

// hashOf is the hash of the ReplicaSet that a Deployment has for its template, empty where there is none. Source: FindNewReplicaSet.
func (t *Tier) hashOf(of messages.OwnerName, spec *messages.OwnerSpec) string {
	for _, s := range t.sets[of] {
		template := s.Spec.Template.DeepCopy()
		hash := template.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
		delete(template.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		if equality.Semantic.DeepEqual(template, spec.Template) {
			return hash
		}
	}
	return ""
}

// partition is the first ordinal whose pod a rolling update replaces.
func partition(r *appsv1.RollingUpdateStatefulSetStrategy) int32 {
	if r == nil {
		return 0
	}
	return ptr.Deref(r.Partition, 0)
}

// deploymentSpec is what a Deployment keeps up, and how it rolls a new template out. By default a quarter more pods, and a quarter fewer.
func deploymentSpec(d *appsv1.DeploymentSpec) *messages.OwnerSpec {
	quarter := intstr.FromString("25%")
	spec := &messages.OwnerSpec{
		Replicas: ptr.Deref(d.Replicas, 1), Selector: d.Selector, Template: &d.Template, MaxSurge: quarter, MaxUnavailable: quarter,
		Paused: d.Paused, Recreate: d.Strategy.Type == appsv1.RecreateDeploymentStrategyType, MinReady: time.Duration(d.MinReadySeconds) * time.Second,
	}
	if r := d.Strategy.RollingUpdate; r != nil {
		spec.MaxSurge, spec.MaxUnavailable = ptr.Deref(r.MaxSurge, quarter), ptr.Deref(r.MaxUnavailable, quarter)
	}
	return spec
}

// ownerSpec is what an owner keeps up, with the defaults of the API.
func ownerSpec(o api.Object) (*messages.OwnerSpec, error) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return deploymentSpec(&o.Spec), nil
	case *appsv1.ReplicaSet:
		return &messages.OwnerSpec{Replicas: ptr.Deref(o.Spec.Replicas, 1), Selector: o.Spec.Selector, Template: &o.Spec.Template}, nil
	case *appsv1.StatefulSet:
		return &messages.OwnerSpec{
			Replicas: ptr.Deref(o.Spec.Replicas, 1), Selector: o.Spec.Selector, Template: &o.Spec.Template,
			Parallel: o.Spec.PodManagementPolicy == appsv1.ParallelPodManagement, MinReady: time.Duration(o.Spec.MinReadySeconds) * time.Second,
			Rolls: o.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType, Partition: partition(o.Spec.UpdateStrategy.RollingUpdate),
		}, nil
	case *appsv1.DaemonSet:
		spec := &messages.OwnerSpec{
			Selector: o.Spec.Selector, Template: &o.Spec.Template, MinReady: time.Duration(o.Spec.MinReadySeconds) * time.Second,
			Rolls: o.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType, MaxUnavailable: intstr.FromInt32(1),
		}
		if r := o.Spec.UpdateStrategy.RollingUpdate; r != nil {
			spec.MaxUnavailable, spec.MaxSurge = ptr.Deref(r.MaxUnavailable, spec.MaxUnavailable), ptr.Deref(r.MaxSurge, spec.MaxSurge)
		}
		return spec, nil
	case *batchv1.Job:
		return &messages.OwnerSpec{
			Selector: o.Spec.Selector, Template: &o.Spec.Template,
			Parallelism: ptr.Deref(o.Spec.Parallelism, 1), Completions: ptr.Deref(o.Spec.Completions, 0), BackoffLimit: ptr.Deref(o.Spec.BackoffLimit, 6),
		}, nil
	case *unstructured.Unstructured:
		return machineSetSpec(o)
	}
	return nil, fmt.Errorf("a %T keeps up no pods", o)
}

// Annotations of a MachineSet that say what its machines offer. Source: the cluster autoscaler's provider for OpenShift.
const (
	annotationCPU     = "machine.openshift.io/vCPU"
	annotationMemory  = "machine.openshift.io/memoryMb"
	annotationMaxPods = "capacity.cluster-autoscaler.kubernetes.io/maxPods"
)

// machineSetSpec reads a MachineSet of OpenShift.
func machineSetSpec(o *unstructured.Unstructured) (*messages.OwnerSpec, error) {
	var set struct {
		Spec struct {
			Replicas *int32 `json:"replicas"`
			Template struct {
				Spec struct {
					metav1.ObjectMeta `json:"metadata"`
					Taints            []corev1.Taint `json:"taints"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &set); err != nil {
		return nil, err
	}
	offers, err := machineOffers(o.GetAnnotations())
	if err != nil {
		return nil, err
	}
	return &messages.OwnerSpec{Replicas: ptr.Deref(set.Spec.Replicas, 1), Machine: &messages.MachineTemplate{
		Labels: set.Spec.Template.Spec.Labels, Taints: set.Spec.Template.Spec.Taints, Allocatable: offers,
	}}, nil
}

func machineOffers(annotations map[string]string) (corev1.ResourceList, error) {
	offers := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	for _, o := range []struct {
		annotation, unit string
		name             corev1.ResourceName
	}{
		{annotationCPU, "", corev1.ResourceCPU}, {annotationMemory, "Mi", corev1.ResourceMemory}, {annotationMaxPods, "", corev1.ResourcePods},
	} {
		text, ok := annotations[o.annotation]
		if !ok {
			continue
		}
		q, err := resource.ParseQuantity(text + o.unit)
		if err != nil || q.Sign() < 0 {
			return nil, fmt.Errorf("metadata.annotations[%s]: %q is not a quantity of 0 or more", o.annotation, text)
		}
		offers[o.name] = q
	}
	return offers, nil
}

// deploys reports whether a pod is one of a Deployment.
func deploys(name messages.OwnerName, spec *messages.OwnerSpec, p *corev1.Pod) bool {
	if !strings.HasPrefix(string(name), "deployment/"+p.Namespace+"/") {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
	return err == nil && spec.Selector != nil && selector.Matches(labels.Set(p.Labels))
}
