package replay

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// lastStart is when a run begins at the latest, so that its end has a date that can be written.
var lastStart = time.Date(9000, time.January, 1, 0, 0, 0, 0, time.UTC)

// StartOf is when virtual time begins: when a recording did; else at world.Start, or, with manifests of a fleet that ran, on the
// first whole minute at which all happened that they tell of, so that their tasks and tolerations go on.
func StartOf(s *scenario.Scenario) (time.Time, error) {
	if s.Began != nil {
		return s.Began.At, nil
	}
	start := world.Start
	for _, d := range s.Objects {
		newest := newestOf(d.Object)
		if newest.After(lastStart) {
			return start, fmt.Errorf("%s: %s: tells of %s, which is after %s", d.Place.File, d.Place.Object, newest.Format(time.RFC3339), lastStart.Format(time.RFC3339))
		}
		start = actors.Later(start, newest)
	}
	if whole := start.Truncate(time.Minute); whole.Before(start) {
		start = whole.Add(time.Minute)
	}
	return start, nil
}

// newestOf is the newest instant at which something happened to a cluster, a binding, a node or a pod that decisions go by; zero: none.
func newestOf(o api.Object) (newest time.Time) {
	switch o := o.(type) {
	case *api.Cluster:
		return actors.Later(newestTaint(o.Spec.Taints), newestChange(o.Status.Conditions))
	case *corev1.Node:
		newest = newestTaint(o.Spec.Taints)
		for i := range o.Status.Conditions {
			c := &o.Status.Conditions[i]
			newest = actors.Later(newest, actors.Later(c.LastTransitionTime.Time, c.LastHeartbeatTime.Time))
		}
		return newest
	case *corev1.Pod:
		for i := range o.Status.Conditions {
			newest = actors.Later(newest, o.Status.Conditions[i].LastTransitionTime.Time)
		}
		return newest
	}
	b := store.AsBinding(o)
	if b == nil {
		return newest
	}
	for i := range b.Spec.GracefulEvictionTasks {
		newest = actors.Later(newest, instantOf(b.Spec.GracefulEvictionTasks[i].CreationTimestamp))
	}
	newest = actors.Later(newest, instantOf(b.Status.LastScheduledTime))
	return actors.Later(newest, newestChange(b.Status.Conditions))
}

func newestTaint(taints []corev1.Taint) (newest time.Time) {
	for i := range taints {
		newest = actors.Later(newest, instantOf(taints[i].TimeAdded))
	}
	return newest
}

func newestChange(conditions []metav1.Condition) (newest time.Time) {
	for i := range conditions {
		newest = actors.Later(newest, conditions[i].LastTransitionTime.Time)
	}
	return newest
}

func instantOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
