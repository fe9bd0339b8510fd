package replay

import (
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// perform does one step of the timeline.
func (r *replay) perform(s *scenario.Step) error {
	err := r.act(s)
	if err == nil || s.Recorded {
		return nil
	}
	if errors.As(err, new(*world.Invalid)) {
		return err
	}
	return &world.Invalid{Problems: []error{fmt.Errorf("%s: at %s: %w", s.Source(), s.At, err)}}
}

func (r *replay) act(s *scenario.Step) error {
	w := r.world
	if on, is := s.Action.(interface{ OnNodes() []messages.NodeName }); is && on.OnNodes() != nil {
		return r.onNodes(s.Action, on.OnNodes())
	}
	switch a := s.Action.(type) {
	case *scenario.Condition:
		return r.condition(a)
	case *scenario.Taint:
		return r.editTaints(a.Clusters, taintEdits(a.Changes.Add, a.Changes.Remove))
	case *scenario.Cordon:
		return r.cordon(a)
	case *scenario.Drain:
		r.drain(a)
	case *scenario.Label:
		r.tellClusters(a.Clusters, &messages.LabelsEdited{Labels: a.Labels})
	case *scenario.Outage:
		r.outage(a)
	case *scenario.Health:
		r.tellMembers(a.Clusters, &messages.HealthForced{Binding: a.Binding, Health: a.Health})
	case *scenario.Status:
		r.tellMembers(a.Clusters, w.ReadStatus(a.Binding, a.Status))
	case *scenario.SchedulableReplicas:
		r.tellMembers(a.Clusters, &messages.SchedulableReplicasSet{Binding: a.Binding, Replicas: a.Replicas})
	case *scenario.APIEnablements:
		for _, c := range a.Clusters {
			r.hear(c, &messages.EnablementsReported{APIs: a.APIs})
		}
	case *scenario.Capacity:
		return r.capacity(a)
	case *scenario.Scale:
		return w.Scale(a.Workload, a.Replicas)
	case *scenario.Apply:
		return r.applyStep(a)
	case *scenario.Delete:
		return r.deleteKnown(a.Object)
	case *scenario.Config:
		return w.Set(a.Settings)
	case *scenario.Hold:
		return r.holdAll(a)
	case *scenario.Release:
		return w.Release(a.Binding, a.Reason)
	case *scenario.RecordedInput:
		r.said(a)
	case *scenario.Restart:
		return r.restart()
	case *scenario.Crash:
		return r.crash(a)
	case *scenario.Clock:
		return r.setClock(a)
	case *scenario.Reports:
		r.disturb(a)
	case *scenario.Refuse:
		w.Nodes().Refuse(a.Request, a.Error)
	case *scenario.RebootNodes:
		r.tellMembers(a.Clusters, &messages.Rebooted{})
	default:
		panic(fmt.Sprintf("replay: unknown action %T", a))
	}
	return nil
}

func (r *replay) tellClusters(names []messages.ClusterName, m messages.ToCluster) {
	for _, name := range names {
		r.world.TellCluster(name, m)
	}
}

func (r *replay) tellMembers(names []messages.ClusterName, m messages.ToMember) {
	for _, name := range names {
		r.world.TellMember(name, m)
	}
}

// said passes on what was said to one cluster and its member.
func (r *replay) said(a *scenario.RecordedInput) {
	for _, m := range a.ToIt {
		r.world.TellCluster(a.Cluster, m)
	}
	for _, m := range a.ToMember {
		r.world.TellMember(a.Cluster, m)
	}
}

func (r *replay) deleteKnown(key api.Key) error {
	if r.world.Nodes() != nil {
		if err := r.settle(); err != nil { // what an earlier step of the instant creates must be there
			return err
		}
	}
	if !r.world.Delete(key) {
		return fmt.Errorf("delete %s: there is no such object", key)
	}
	return nil
}

// cordonTaint is what keeps new workloads off a cordoned cluster. Source: karmadactl cordon.
var cordonTaint = corev1.Taint{Key: api.TaintUnschedulable, Effect: corev1.TaintEffectNoSchedule}

// cordon keeps new workloads off clusters, or ends that and what drains them.
func (r *replay) cordon(a *scenario.Cordon) error {
	if a.Off {
		r.tellClusters(a.Clusters, &messages.DrainCancelled{})
	}
	return r.editTaints(a.Clusters, []messages.TaintEdit{{Taint: cordonTaint, Remove: a.Off}})
}

func (r *replay) drain(a *scenario.Drain) {
	m := &messages.DrainRequested{}
	if a.Deadline > 0 {
		m.Deadline = r.world.Now().Add(a.Deadline)
	}
	r.tellClusters(a.Clusters, m)
}

// holdAll has the evictions of each scope wait. Who is no longer held is no longer released either.
func (r *replay) holdAll(a *scenario.Hold) error {
	var h *api.Hold
	if a.Reason != "" {
		h = &api.Hold{Reason: a.Reason}
		if end := a.Ends(r.start, r.world.Now()); !end.IsZero() {
			h.Until = &metav1.Time{Time: end}
		}
	}
	for _, of := range a.Scopes {
		if err := r.world.Hold(of, h); err != nil {
			return err
		}
		if of.Binding != "" && h == nil {
			if err := r.world.Release(of.Binding, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func taintEdits(add, remove []corev1.Taint) []messages.TaintEdit {
	edits := lists.Of(remove, func(t corev1.Taint) messages.TaintEdit { return messages.TaintEdit{Taint: t, Remove: true} })
	for _, t := range add {
		edits = append(edits, messages.TaintEdit{Taint: t})
	}
	return edits
}

// editTaints passes edits on that the clusters could have in their manifests, too.
func (r *replay) editTaints(clusters []messages.ClusterName, edits []messages.TaintEdit) error {
	for _, name := range clusters {
		c := r.world.Store().Cluster(name)
		if c == nil {
			return fmt.Errorf("edit the taints of cluster %s: there is no such cluster", name)
		}
		next := *c
		for _, e := range edits {
			if !e.Remove {
				next.Spec.Taints, _ = taint.Add(next.Spec.Taints, e.Taint)
			}
		}
		if problems := admission.Validate(&next, c, r.world.Settings()); len(problems) > 0 {
			return &world.Rejected{Object: store.ClusterKey(name), Problems: problems}
		}
		r.world.TellCluster(name, &messages.TaintsEdited{Edits: edits})
	}
	return nil
}

// condition reports a condition; to toggle one, what went before must be done.
func (r *replay) condition(a *scenario.Condition) error {
	if a.Toggle {
		if err := r.settle(); err != nil {
			return err
		}
	}
	for _, c := range a.Clusters {
		status := a.Status
		if a.Toggle {
			status = toggled(r.world.Store().Cluster(c), a)
		}
		r.hear(c, &messages.ConditionReported{Observed: a.Observed, Type: a.Type, Status: status, Reason: a.Reason, Message: a.Message})
	}
	return nil
}

// toggled turns True into False and anything else into True; where probes are what is toggled, the last
// one counts.
func toggled(c *api.Cluster, a *scenario.Condition) metav1.ConditionStatus {
	if c != nil {
		if o := c.Status.ReadyObservation; a.Observed && o != nil {
			return opposite(o.Status)
		}
		for i := range c.Status.Conditions {
			if k := &c.Status.Conditions[i]; k.Type == a.Type {
				return opposite(k.Status)
			}
		}
	}
	return metav1.ConditionTrue
}

func opposite(status metav1.ConditionStatus) metav1.ConditionStatus {
	if status == metav1.ConditionTrue {
		return metav1.ConditionFalse
	}
	return metav1.ConditionTrue
}

// capacity changes the resources that the step names and leaves the others.
func (r *replay) capacity(a *scenario.Capacity) error {
	for _, name := range a.Clusters {
		c := r.world.Store().Cluster(name)
		if c == nil {
			return fmt.Errorf("change the capacity of cluster %s: there is no such cluster", name)
		}
		next := &api.ResourceSummary{}
		if c.Status.ResourceSummary != nil {
			*next = *c.Status.ResourceSummary
		}
		next.Allocatable = merged(next.Allocatable, a.Capacity)
		next.Allocated = merged(next.Allocated, a.Allocated)
		r.hear(name, &messages.ResourcesReported{Summary: next})
	}
	return nil
}

func merged(have, edits corev1.ResourceList) corev1.ResourceList {
	all := maps.Clone(have)
	if all == nil {
		all = corev1.ResourceList{}
	}
	maps.Copy(all, edits)
	return all
}

// applyStep applies the manifests of a step. What may fail leaves its rejection in the journal.
func (r *replay) applyStep(a *scenario.Apply) error {
	if !a.MayFail {
		return r.world.ApplyAll(a.Documents)
	}
	for _, d := range a.Documents {
		var rejected *world.Rejected
		if err := r.world.Apply(api.Copy(d.Object)); err != nil && !errors.As(err, &rejected) {
			return err
		}
	}
	return nil
}

// restart lets the engine lose its memory once all that was asked of it is done.
func (r *replay) restart() error {
	if err := r.settle(); err != nil {
		return err
	}
	r.world.Restart()
	return r.settle()
}
