package kubeapi

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// scale serves the replicas of workloads, which "kubectl scale" and autoscalers read and write alone.
type scale struct {
	of objects
	printer
}

// scaleKind is how scales look. Source of the columns: kubernetes, pkg/printers/internalversion.
var scaleKind = &kind{
	&catalog.Resource{Kind: autoscalingv1.SchemeGroupVersion.WithKind("Scale")},
	look{columns: []column{
		number(shown("Desired", func(s *autoscalingv1.Scale) any { return s.Spec.Replicas })),
		number(shown("Available", func(s *autoscalingv1.Scale) any { return s.Status.Replicas })),
		ageColumn,
	}},
}

var (
	_ rest.Patcher                  = scale{}
	_ rest.GroupVersionKindProvider = scale{}
)

func (s scale) New() runtime.Object { return &autoscalingv1.Scale{} }

// Destroy leaves everything to the store.
func (s scale) Destroy() {}

func (s scale) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return scaleKind.Kind
}

func (s scale) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	workload, err := s.of.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(workload)
}

// Update writes the replicas of a workload, and goes through all that a write of the workload does.
func (s scale) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc,
	validate rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	workload, _, err := s.of.Update(ctx, name, scaled{info}, rest.ValidateAllObjectFunc, toScales(validate), false, options)
	if err != nil {
		return nil, false, err
	}
	is, err := scaleOf(workload)
	return is, false, err
}

// scaled makes of a change of a scale one of the workload.
type scaled struct{ rest.UpdatedObjectInfo }

// UpdatedObject returns the workload with other replicas.
func (s scaled) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	was, err := scaleOf(old)
	if err != nil {
		return nil, err
	}
	wanted, err := s.UpdatedObjectInfo.UpdatedObject(ctx, was)
	if err != nil {
		return nil, err
	}
	is, ok := wanted.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("a scale is wanted, not a %T", wanted))
	}
	if is.Spec.Replicas < 0 {
		return nil, apierrors.NewBadRequest("spec.replicas: must be 0 or more")
	}
	next := old.DeepCopyObject()
	workload, replicas := counted(next)
	*replicas = new(is.Spec.Replicas)
	workload.SetResourceVersion(is.ResourceVersion)
	return next, nil
}

// toScales has what looks at scales look at those of workloads.
func toScales(validate rest.ValidateObjectUpdateFunc) rest.ValidateObjectUpdateFunc {
	return func(ctx context.Context, o, old runtime.Object) error {
		is, err := scaleOf(o)
		if err != nil {
			return err
		}
		was, err := scaleOf(old)
		if err != nil {
			return err
		}
		return validate(ctx, is, was)
	}
}

// scaleOf returns what there is of a workload.
func scaleOf(o runtime.Object) (*autoscalingv1.Scale, error) {
	workload, replicas := counted(o)
	if workload == nil {
		return nil, fmt.Errorf("a %T has no replicas", o)
	}
	is := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: workload.GetName(), Namespace: workload.GetNamespace(), UID: workload.GetUID(),
			ResourceVersion: workload.GetResourceVersion(), CreationTimestamp: workload.GetCreationTimestamp(),
		},
		Spec: autoscalingv1.ScaleSpec{Replicas: ptr.Deref(*replicas, 1)},
	}
	is.Status.Replicas, is.Status.Selector = running(o)
	return is, nil
}

// counted returns where a workload says how many replicas it wants; nil if it cannot say.
func counted(o runtime.Object) (metav1.Object, **int32) {
	replicas := api.WorkloadOf(o).Replicas
	if replicas == nil {
		return nil, nil
	}
	return o.(metav1.Object), replicas
}

// running returns how many replicas there are, and how to find them.
func running(o runtime.Object) (int32, string) {
	switch o := o.(type) {
	case *appsv1.Deployment:
		return o.Status.Replicas, metav1.FormatLabelSelector(o.Spec.Selector)
	case *appsv1.StatefulSet:
		return o.Status.Replicas, metav1.FormatLabelSelector(o.Spec.Selector)
	case *appsv1.ReplicaSet:
		return o.Status.Replicas, metav1.FormatLabelSelector(o.Spec.Selector)
	}
	return 0, ""
}
