package store

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// applyToCluster makes one fact true of a cluster and says whether that changed it.
func applyToCluster(c *api.Cluster, at time.Time, f messages.AboutCluster) bool {
	switch f := f.(type) {
	case *messages.ConditionChanged:
		return conditionChanged(c, at, f)
	case *messages.ReadyObserved:
		return readyObserved(c, at, f)
	case *messages.ConditionRemoved:
		return conditionRemoved(c, at, f)
	case *messages.TaintAdded:
		return taintAdded(c, f)
	case *messages.TaintAdopted:
		return setCause(c, f.Taint, f.Cause)
	case *messages.TaintRemoved:
		return taintRemoved(c, f)
	case *messages.TaintsPreviewed:
		return taintsPreviewed(c, f)
	case *messages.DrainProgressed:
		c.Status.Drain = &f.Drain
		return true
	case *messages.DrainMissed:
		return drainMissed(c)
	case *messages.DrainEnded:
		c.Status.Drain = nil
		return true
	case *messages.WorkloadsStay:
		return replaced(&c.Status.WorkloadsStay, f.Reason)
	case *messages.LabelsChanged:
		return replaced(&c.Labels, f.Labels) // no part of the spec: the generation stays
	case *messages.ClusterSpecChanged:
		return clusterSpecChanged(c, f)
	case *messages.CapacityChanged:
		return replaced(&c.Status.ResourceSummary, f.Summary)
	case *messages.ResourceModelsChanged:
		return modelsChanged(c, f)
	case *messages.EnablementsChanged:
		return replaced(&c.Status.APIEnablements, f.APIs)
	case *messages.ClusterLeaving:
		return clusterLeaving(c, at)
	default:
		return false
	}
}

// reports reports whether a fact may tell of a cluster what another writer has stored of it already.
func reports(f messages.AboutCluster) bool {
	switch f.(type) {
	case *messages.ConditionChanged, *messages.LabelsChanged, *messages.ClusterSpecChanged, *messages.CapacityChanged,
		*messages.ResourceModelsChanged, *messages.EnablementsChanged, *messages.ClusterLeaving:
		return true
	default:
		return false
	}
}

func conditionChanged(c *api.Cluster, at time.Time, f *messages.ConditionChanged) (changed bool) {
	if f.Type == api.ConditionReady {
		c.Status.ReadyObservation = nil
	}
	c.Status.Conditions, changed = withCondition(c.Status.Conditions, metav1.Condition{
		Type:               f.Type,
		Status:             f.Status,
		Reason:             f.Reason,
		Message:            f.Message,
		LastTransitionTime: metav1.Time{Time: at},
	})
	return changed
}

// readyObserved keeps what does not count yet until it does, or is no more.
func readyObserved(c *api.Cluster, at time.Time, f *messages.ReadyObserved) bool {
	c.Status.ReadyObservation = nil
	if !f.Deadline.IsZero() {
		c.Status.ReadyObservation = &api.ReadyObservation{
			Status: f.Status, Reason: f.Reason, Message: f.Message, Since: metav1.Time{Time: at},
		}
	}
	return true
}

// conditionRemoved remembers when the cluster ceased to report the condition.
func conditionRemoved(c *api.Cluster, at time.Time, f *messages.ConditionRemoved) (changed bool) {
	ofType := func(o metav1.Condition) bool { return o.Type == f.Type }
	c.Status.Conditions, changed = without(c.Status.Conditions, ofType)
	if changed {
		c.Status.RemovedConditions = api.WithRemoved(c.Status.RemovedConditions, f.Type, at)
	}
	return changed
}

// taintAdded puts the taint in the place of the one with its key and effect, or at the end.
func taintAdded(c *api.Cluster, f *messages.TaintAdded) bool {
	taints := c.Spec.Taints
	i := slices.IndexFunc(taints, func(t corev1.Taint) bool { return f.Taint.MatchTaint(&t) })
	specChanged := true
	switch {
	case i < 0:
		c.Spec.Taints = append(slices.Clip(taints), f.Taint)
	case taints[i].Value == f.Taint.Value && taints[i].TimeAdded.Equal(f.Taint.TimeAdded):
		specChanged = false
	default:
		c.Spec.Taints = slices.Clone(taints)
		c.Spec.Taints[i] = f.Taint
	}
	if specChanged {
		c.Generation++
	}
	return setCause(c, f.Taint, f.Cause) || specChanged
}

// setCause remembers who asked for the taint and why.
func setCause(c *api.Cluster, t corev1.Taint, cause api.TaintCause) (changed bool) {
	cause.Key, cause.Effect = t.Key, t.Effect
	if slices.Contains(c.Status.TaintCauses, cause) {
		return false
	}
	rest, _ := without(c.Status.TaintCauses, causeOf(t))
	c.Status.TaintCauses = append(slices.Clip(rest), cause)
	return true
}

func causeOf(t corev1.Taint) func(api.TaintCause) bool {
	return func(c api.TaintCause) bool { return c.Key == t.Key && c.Effect == t.Effect }
}

func taintRemoved(c *api.Cluster, f *messages.TaintRemoved) (changed bool) {
	c.Spec.Taints, changed = without(c.Spec.Taints, func(t corev1.Taint) bool { return f.Taint.MatchTaint(&t) })
	if changed {
		c.Generation++
	}
	c.Status.TaintCauses, _ = without(c.Status.TaintCauses, causeOf(f.Taint))
	return changed
}

// taintsPreviewed puts a preview in the place of the policy's last one; one that is empty ends it.
func taintsPreviewed(c *api.Cluster, f *messages.TaintsPreviewed) bool {
	ofPolicy := func(p api.TaintPreview) bool { return p.Policy == f.Policy }
	rest, was := without(c.Status.TaintPreviews, ofPolicy)
	c.Status.TaintPreviews = rest
	if len(f.Add) == 0 && len(f.Remove) == 0 && len(f.Spared) == 0 {
		return was
	}
	c.Status.TaintPreviews = append(slices.Clip(rest), f.TaintPreview)
	return true
}

func drainMissed(c *api.Cluster) bool {
	if c.Status.Drain == nil {
		return false
	}
	drain := *c.Status.Drain
	drain.Missed = true
	c.Status.Drain = &drain
	return true
}

// replaced gives a field its new value, and says whether that changed it.
func replaced[T any](field *T, value T) bool {
	if equality.Semantic.DeepEqual(*field, value) {
		return false
	}
	*field = value
	return true
}

func clusterSpecChanged(c *api.Cluster, f *messages.ClusterSpecChanged) bool {
	spec := &c.Spec
	if spec.Provider == f.Provider && spec.Region == f.Region && slices.Equal(spec.Zones, f.Zones) {
		return false
	}
	spec.Provider, spec.Region, spec.Zones = f.Provider, f.Region, f.Zones
	c.Generation++
	return true
}

func modelsChanged(c *api.Cluster, f *messages.ResourceModelsChanged) bool {
	if !replaced(&c.Spec.ResourceModels, f.Models) {
		return false
	}
	c.Generation++
	return true
}

// clusterLeaving raises the generation too, as the Kubernetes API does when a deletion begins.
func clusterLeaving(c *api.Cluster, at time.Time) bool {
	if c.DeletionTimestamp != nil {
		return false
	}
	c.DeletionTimestamp = &metav1.Time{Time: at}
	c.Generation++
	return true
}
