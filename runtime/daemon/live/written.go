package live

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/uuid"

	"leeward/messages/api"
)

// ClusterFinalizer keeps a cluster that was deleted until nothing is placed on it any more. Source: Karmada.
const ClusterFinalizer = "karmada.io/cluster-controller"

// written returns what an object of the engine becomes by the world's, and whether that changes it. Each kind has
// fields that the machines decide; all others stay as people and agents write them. Where old is nil the world made
// the object. Decided is whether facts changed it: what people wrote of it may be the same.
func written(ours, old api.Object, decided bool) (next api.Object, changes bool) {
	switch ours := ours.(type) {
	case *api.Cluster:
		return writtenCluster(ours, old, decided)
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		return writtenBinding(ours, old, decided)
	case *api.Governor:
		if old == nil {
			next = api.Shallow(ours)
			next.SetUID(uuid.NewUUID())
			return next, true
		}
		return writtenStatus(ours, old, decided)
	case *api.ClusterTaintPolicy, *api.FederatedResourceQuota, *api.WorkloadRebalancer:
		return writtenStatus(ours, old, decided)
	default:
		return writtenTemplate(ours, old)
	}
}

// writtenStatus gives an object its status.
func writtenStatus(ours, old api.Object, decided bool) (api.Object, bool) {
	if old == nil {
		return nil, false
	}
	next := api.Shallow(old)
	statusOf(next).Set(statusOf(ours))
	return next, decided || !equality.Semantic.DeepEqual(old, next)
}

// writtenCluster gives a cluster its taints and what the machines know of it; what agents report stays.
func writtenCluster(ours *api.Cluster, before api.Object, decided bool) (api.Object, bool) {
	old, ok := before.(*api.Cluster)
	if !ok {
		return leavingAgain(ours)
	}
	next := *old
	decideCluster(&next, ours)
	next.Status.Conditions = ours.Status.Conditions
	joining := joins(old)
	if joining {
		next.Finalizers = append(slices.Clip(old.Finalizers), ClusterFinalizer)
	}
	if !equality.Semantic.DeepEqual(old.Spec.Taints, next.Spec.Taints) {
		next.Generation++
		return &next, true
	}
	return &next, decided || joining || !equality.Semantic.DeepEqual(old.Status, next.Status)
}

// decideCluster gives a cluster what only machines decide of it: conditions are reported by agents, too.
func decideCluster(c, ours *api.Cluster) {
	s := &ours.Status
	c.Spec.Taints = ours.Spec.Taints
	c.Status.RemovedConditions = s.RemovedConditions
	c.Status.TaintCauses, c.Status.TaintPreviews = s.TaintCauses, s.TaintPreviews
	c.Status.ReadyObservation, c.Status.Drain = s.ReadyObservation, s.Drain
	c.Status.WorkloadsStay = s.WorkloadsStay
}

// leavingAgain makes the object again of a cluster that was taken out of the store while workloads were placed on it, which our finalizer
// prevents as soon as it is there: it is being deleted until they have left it, and a start knows that, too.
func leavingAgain(ours *api.Cluster) (api.Object, bool) {
	if ours.DeletionTimestamp == nil {
		return nil, false
	}
	next := *ours
	next.ResourceVersion, next.ManagedFields, next.Finalizers = "", nil, []string{ClusterFinalizer}
	return &next, true
}

// joins reports whether a cluster still needs the finalizer that keeps it until nothing runs on it.
func joins(c api.Object) bool {
	return c.GetDeletionTimestamp() == nil && !slices.Contains(c.GetFinalizers(), ClusterFinalizer)
}

// writtenBinding takes over the world's binding whole, but for its identity.
func writtenBinding(ours, old api.Object, decided bool) (api.Object, bool) {
	next := ours // no other goroutine has this snapshot
	if old == nil {
		next.SetUID(uuid.NewUUID())
		return next, true
	}
	next.SetUID(old.GetUID())
	next.SetCreationTimestamp(old.GetCreationTimestamp())
	next.SetManagedFields(old.GetManagedFields())
	next.SetFinalizers(old.GetFinalizers())
	next.SetOwnerReferences(old.GetOwnerReferences())
	next.SetDeletionTimestamp(old.GetDeletionTimestamp())
	next.SetResourceVersion(old.GetResourceVersion())
	return next, decided || !equality.Semantic.DeepEqual(old, next)
}

// writtenTemplate numbers the pod templates of a resource; nothing else of it is the world's.
func writtenTemplate(ours, old api.Object) (api.Object, bool) {
	revision, numbered := ours.GetAnnotations()[api.AnnotationRevision]
	if old == nil || !numbered || old.GetAnnotations()[api.AnnotationRevision] == revision {
		return nil, false
	}
	next := api.Shallow(old)
	annotations := maps.Clone(old.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[api.AnnotationRevision] = revision
	next.SetAnnotations(annotations)
	return next, true
}
