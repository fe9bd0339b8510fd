package fakemember

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// leaseDuration is what Karmada's agents ask for; the daemon goes by its own settings.
const leaseDuration = 40

// report renews the lease and says how the cluster is; one that disappeared goes.
func (a *agent) report(ctx context.Context) error {
	if a.gone() {
		return a.fleet.Client.Delete(ctx, catalog.Clusters, "", a.cluster)
	}
	if err := a.renew(ctx); err != nil {
		return fmt.Errorf("renew the lease: %w", err)
	}
	o, err := a.fleet.Client.Get(ctx, catalog.Clusters, "", a.cluster)
	if apierrors.IsNotFound(err) && a.fleet.Create {
		if err = a.fleet.register(ctx, a.cluster); err == nil {
			o, err = a.fleet.Client.Get(ctx, catalog.Clusters, "", a.cluster)
		}
	}
	if err != nil {
		return fmt.Errorf("read cluster %s: %w", a.cluster, err)
	}
	c := o.(*api.Cluster)
	status := a.status(c, a.fleet.Clock.Now())
	if equality.Semantic.DeepEqual(status, &c.Status) {
		return nil
	}
	err = a.fleet.Client.Patch(ctx, &client.Patch{Resource: catalog.Clusters, Name: a.cluster, Subresource: "status", Body: map[string]any{
		"metadata": map[string]any{"resourceVersion": c.ResourceVersion},
		"status": map[string]any{
			"conditions": status.Conditions, "resourceSummary": status.ResourceSummary, "apiEnablements": status.APIEnablements,
			"kubernetesVersion": status.KubernetesVersion, "nodeSummary": status.NodeSummary,
		},
	}})
	if err != nil {
		return fmt.Errorf("write the status of cluster %s: %w", a.cluster, err)
	}
	return nil
}

func (a *agent) gone() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.suffers(Disappearance)
}

// renew renews the lease, or begins it.
func (a *agent) renew(ctx context.Context) error {
	now := metav1.MicroTime{Time: a.fleet.Clock.Now().UTC().Truncate(time.Microsecond)}
	err := a.fleet.Client.Patch(ctx, &client.Patch{
		Resource: catalog.Leases, Namespace: api.LeaseNamespace, Name: a.cluster,
		Body: map[string]any{"spec": map[string]any{"renewTime": now}},
	})
	if !apierrors.IsNotFound(err) {
		return err
	}
	holder, seconds := a.cluster, int32(leaseDuration)
	_, err = a.fleet.Client.Create(ctx, catalog.Leases, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.LeaseNamespace, Name: a.cluster},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
	})
	return err
}

// status is that of the cluster with what its agent knows of it; the conditions of others stay as they are.
func (a *agent) status(c *api.Cluster, now time.Time) *api.ClusterStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := c.Status
	s.Conditions = slices.Clone(s.Conditions)
	ready := metav1.Condition{Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads"}
	if a.suffers(NotReady) {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, "ClusterNotReachable", "cluster is not reachable"
	}
	for _, condition := range []metav1.Condition{
		ready, {Type: api.ConditionCompleteAPIEnablements, Status: metav1.ConditionTrue, Reason: "Succeeded", Message: "all APIs are known"},
	} {
		condition.LastTransitionTime = metav1.Time{Time: now.Truncate(time.Second)}
		meta.SetStatusCondition(&s.Conditions, condition)
	}
	s.KubernetesVersion, s.NodeSummary = "v1.37.2", &api.NodeSummary{TotalNum: 1, ReadyNum: 1}
	s.APIEnablements = slices.Concat(enablements, customEnablements(a.defined()))
	s.ResourceSummary = &api.ResourceSummary{Allocatable: a.fleet.Capacity, Allocated: a.allocated()}
	return &s
}

// allocated is what the copies take of the capacity. a.mu is held.
func (a *agent) allocated() corev1.ResourceList {
	sum := corev1.ResourceList{}
	for _, w := range a.works { // order-free: a sum
		if !w.isWorkload || w.removed {
			continue
		}
		add(sum, corev1.ResourcePods, *resource.NewQuantity(int64(w.replicas), resource.DecimalSI))
		for name, each := range w.requests { // order-free: a sum
			each = each.DeepCopy()
			each.Mul(int64(w.replicas))
			add(sum, name, each)
		}
	}
	return sum
}

func add(sum corev1.ResourceList, name corev1.ResourceName, q resource.Quantity) {
	q.Add(sum[name])
	sum[name] = q
}

// enablements are the kinds that a simulated cluster serves without a definition: all that can be propagated.
var enablements = func() (all []api.APIEnablement) {
	for _, r := range catalog.Kept() {
		if !r.Template() || r == catalog.Customs {
			continue
		}
		version := r.Kind.GroupVersion().String()
		if n := len(all); n == 0 || all[n-1].GroupVersion != version {
			all = append(all, api.APIEnablement{GroupVersion: version})
		}
		last := &all[len(all)-1]
		last.Resources = append(last.Resources, api.APIResource{Name: r.Plural, Kind: r.Kind.Kind})
	}
	return all
}()
