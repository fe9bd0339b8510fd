package kubeapi

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"leeward/messages/admission"
)

// beginPod gives a new pod the status that an API server does, and what decides about its end. Source: kubernetes,
// pkg/registry/core/pod and pkg/apis/core/v1.
func beginPod(o runtime.Object) {
	p, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: admission.QOSClassOf(p)}
	if p.Spec.RestartPolicy == "" {
		p.Spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if p.Spec.TerminationGracePeriodSeconds == nil {
		p.Spec.TerminationGracePeriodSeconds = ptr.To(int64(corev1.DefaultTerminationGracePeriodSeconds))
	}
}

// podStrategy deletes pods gracefully: the kubelet of the node deletes one for good when its containers have ended.
type podStrategy struct{ strategy }

var _ rest.RESTGracefulDeleteStrategy = podStrategy{}

// CheckGracefulDelete decides how long a pod may take to end. One that no kubelet runs is deleted immediately. Source:
// kubernetes, pkg/registry/core/pod.
func (podStrategy) CheckGracefulDelete(_ context.Context, o runtime.Object, options *metav1.DeleteOptions) bool {
	p := o.(*corev1.Pod)
	period := ptr.Deref(p.Spec.TerminationGracePeriodSeconds, 0)
	if options.GracePeriodSeconds != nil {
		period = *options.GracePeriodSeconds
	}
	switch {
	case p.Spec.NodeName == "", p.Status.Phase == corev1.PodFailed, p.Status.Phase == corev1.PodSucceeded:
		period = 0
	case period < 0:
		period = 1
	}
	options.GracePeriodSeconds = &period
	return true
}

// eviction serves the evictions of pods, which "kubectl drain" asks for.
type eviction struct{ store *registry.Store }

var (
	_ rest.NamedCreater             = eviction{}
	_ rest.GroupVersionKindProvider = eviction{}
)

func (eviction) New() runtime.Object { return &policyv1.Eviction{} }

// Destroy leaves everything to the store.
func (eviction) Destroy() {}

func (eviction) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return policyv1.SchemeGroupVersion.WithKind("Eviction")
}

// Create deletes a pod as an Eviction asks for. PodDisruptionBudgets are not served, so none can be broken by it.
func (e eviction) Create(ctx context.Context, name string, o runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	asked, ok := o.(*policyv1.Eviction)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("an Eviction is wanted, not a %T", o))
	}
	if asked.Name != name {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata.name: %q is not the pod of the path, %q", asked.Name, name))
	}
	if validate != nil {
		if err := validate(ctx, asked.DeepCopy()); err != nil {
			return nil, err
		}
	}
	how := asked.DeleteOptions.DeepCopy()
	if how == nil {
		how = &metav1.DeleteOptions{}
	}
	if len(options.DryRun) > 0 {
		how.DryRun = options.DryRun
	}
	if _, _, err := e.store.Delete(ctx, name, rest.ValidateAllObjectFunc, how); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}
