package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"leeward/actors/rules/disruption"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/nodetier"
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
type eviction struct {
	store *registry.Store
	*keeper
}

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

// Create deletes a pod as an Eviction asks for, unless its PodDisruptionBudget does not allow that.
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
	if err := e.allow(ctx, name, len(how.DryRun) > 0); err != nil {
		return nil, err
	}
	if _, _, err := e.store.Delete(ctx, name, rest.ValidateAllObjectFunc, how); err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}

const (
	// attemptsAtBudget is how often a budget is read again that another request changed meanwhile.
	attemptsAtBudget = 20
	// mostDisrupted is how many evictions of a budget may be unconfirmed. Source: MaxDisruptedPodSize of Kubernetes.
	mostDisrupted = 2000
)

// allow asks the budget of a pod for a disruption, and takes it. Source: the eviction subresource of Kubernetes.
func (e eviction) allow(ctx context.Context, name string, dryRun bool) error {
	for range attemptsAtBudget {
		got, err := e.store.Get(ctx, name, &metav1.GetOptions{})
		if err != nil {
			return err
		}
		p := got.(*corev1.Pod)
		budgets := e.budgetsOf(p)
		if r := disruption.Evict(p, budgets, false); r != nil {
			return refusedBy(r)
		}
		if !disruption.Spends(p, budgets) {
			return nil
		}
		b := budgets[0].Object
		switch {
		case b.Status.ObservedGeneration < b.Generation:
			return tooMany(disruption.Violates, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name), 10)
		case len(b.Status.DisruptedPods) >= mostDisrupted:
			return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), b.Name, errors.New("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
		case dryRun:
			return nil
		}
		err = e.engine.Commit(engine.Update(engine.Key(catalog.PodBudgets.Name(), b.Namespace, b.Name), e.spent(b, p.Name), engine.VersionOf(b)))
		if !errors.As(err, new(*engine.Conflict)) {
			return err
		}
	}
	return tooMany(fmt.Sprintf("couldn't update PodDisruptionBudget of pod %s due to conflicts", name), "", 10)
}

// spent is a budget that has allowed the disruption of a pod.
func (e eviction) spent(b *policyv1.PodDisruptionBudget, pod string) *policyv1.PodDisruptionBudget {
	o := *b
	o.Status.DisruptionsAllowed--
	o.Status.DisruptedPods = maps.Clone(b.Status.DisruptedPods)
	if o.Status.DisruptedPods == nil {
		o.Status.DisruptedPods = map[string]metav1.Time{}
	}
	o.Status.DisruptedPods[pod] = metav1.Time{Time: e.now()}
	return &o
}

// budgetsOf are the budgets that select a pod, as they are stored.
func (e eviction) budgetsOf(p *corev1.Pod) (budgets []disruption.Budget) {
	for _, o := range e.engine.Table(catalog.PodBudgets.Name()).Snapshot().Under(engine.Key(catalog.PodBudgets.Name(), p.Namespace, ""), "") {
		b := o.(*policyv1.PodDisruptionBudget)
		if selector, err := disruption.Selector(&b.Spec); err == nil && selector.Matches(labels.Set(p.Labels)) {
			budgets = append(budgets, disruption.Stored(b))
		}
	}
	return budgets
}

func refusedBy(r *disruption.Refusal) error {
	if !r.Later {
		return apierrors.NewInternalError(errors.New(r.Error))
	}
	return tooMany(r.Error, r.Detail, 0)
}

// tooMany is the answer 429 Too Many Requests, with what the budget lacks.
func tooMany(message, detail string, retryAfter int) error {
	err := apierrors.NewTooManyRequests(message, retryAfter)
	if detail != "" {
		err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: detail})
	}
	return err
}

// mostOf is how many nodes, pods and PodDisruptionBudgets a server keeps that has nodes: of nodes and pods twice, and more than three times, what one
// cluster of Kubernetes supports.
var mostOf = map[*catalog.Resource]int{catalog.Nodes: 10_000, catalog.Pods: 500_000, catalog.PodBudgets: nodetier.MostBudgets}

// admitNodesAndPods has a store of nodes, pods or budgets refuse more than the most, and complete nodes and pods as the admission plugins do.
func (k *keeper) admitNodesAndPods(kind *kind, store *registry.Store) {
	most, bounded := mostOf[kind.Resource]
	if !bounded || k.engine.Table(catalog.Nodes.Name()) == nil {
		return
	}
	store.BeginCreate = func(_ context.Context, o runtime.Object, _ *metav1.CreateOptions) (registry.FinishFunc, error) {
		name := o.(api.Object).GetName()
		if k.engine.Table(kind.Name()).Len() >= most {
			return nil, apierrors.NewForbidden(kind.Name(), name, fmt.Errorf("there are %d %s already, which is the most", most, kind.Plural))
		}
		if ns := o.(api.Object).GetNamespace(); kind.Resource == catalog.PodBudgets && k.countIn(kind, ns) >= budgetsOfNamespace {
			return nil, apierrors.NewForbidden(kind.Name(), name, fmt.Errorf("namespace %s has %d %s already, which is the most", ns, budgetsOfNamespace, kind.Plural))
		}
		return finished, k.admit(kind, o, true)
	}
	store.BeginUpdate = func(_ context.Context, o, _ runtime.Object, _ *metav1.UpdateOptions) (registry.FinishFunc, error) {
		return finished, k.admit(kind, o, false)
	}
}

// budgetsOfNamespace is how many PodDisruptionBudgets a namespace may have: each may select every pod of it, and is counted whenever one of
// them changes.
const budgetsOfNamespace = 100

func (k *keeper) countIn(kind *kind, namespace string) int64 {
	return k.engine.Table(kind.Name()).Snapshot().Count(engine.Key(kind.Name(), namespace, ""), "")
}

func finished(context.Context, bool) {}

// admit completes a node or a pod. It is an error if the namespace of a pod does not allow its tolerations.
func (k *keeper) admit(kind *kind, o runtime.Object, created bool) error {
	switch o := o.(type) {
	case *corev1.Node:
		if created {
			admission.AdmitNode(o, k.settings())
		}
	case *corev1.Pod:
		admission.Default(o, k.settings(), k.now())
		if created {
			if err := admission.Prioritize(o, k.priorityClasses(o.Spec.PriorityClassName)); err != nil {
				return apierrors.NewForbidden(kind.Name(), o.Name, err)
			}
		}
		var annotations map[string]string
		if ns, _ := k.engine.Table(catalog.Namespaces.Name()).Get(engine.Key(catalog.Namespaces.Name(), "", o.Namespace)); ns != nil {
			annotations = ns.GetAnnotations()
		}
		if err := admission.AdmitPod(o, created, annotations, k.settings()); err != nil {
			return apierrors.NewForbidden(kind.Name(), o.Name, err)
		}
	}
	return nil
}

// priorityClasses is the class of a name, or all where there is no name.
func (k *keeper) priorityClasses(name string) iter.Seq[*schedulingv1.PriorityClass] {
	table, of := k.engine.Table(catalog.PriorityClasses.Name()), catalog.PriorityClasses.Name()
	return func(yield func(*schedulingv1.PriorityClass) bool) {
		if name != "" {
			if o, _ := table.Get(engine.Key(of, "", name)); o != nil {
				yield(o.(*schedulingv1.PriorityClass))
			}
			return
		}
		for _, o := range table.Snapshot().Under(engine.Prefix(of), "") {
			if !yield(o.(*schedulingv1.PriorityClass)) {
				return
			}
		}
	}
}
