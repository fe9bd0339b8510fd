package live

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/engine"
	"leeward/runtime/world"
)

// clusterChanged tells a cluster what is new of it, one by one: what the world changed meanwhile stays.
func (f *Fleet) clusterChanged(c *engine.Change) {
	if c.Object == nil {
		f.world.Delete(api.KeyOf(c.Previous))
		return
	}
	now := c.Object.(*api.Cluster)
	f.remainsToLeave(messages.ClusterName(now.Name))
	before, known := c.Previous.(*api.Cluster)
	if !known || f.world.Store().Cluster(messages.ClusterName(now.Name)) == nil {
		o := api.Shallow(now)
		f.refused(o, f.world.Apply(o))
		f.joining = append(f.joining, messages.ClusterName(now.Name))
		f.reconcileDrain(now)
		return
	}
	name := messages.ClusterName(now.Name)
	f.world.Store().Note(api.KeyOf(now)) // what the machines take back at once is no change to them
	f.refused(now, editCluster(f.world, before, now))
	for _, m := range reports(&before.Status, &now.Status) {
		f.world.TellCluster(name, m)
	}
	if !equality.Semantic.DeepEqual(before.Status.ResourceSummary, now.Status.ResourceSummary) {
		f.world.TellCluster(name, &messages.ResourcesReported{Summary: now.Status.ResourceSummary})
	}
	if !equality.Semantic.DeepEqual(before.Status.APIEnablements, now.Status.APIEnablements) {
		f.world.TellCluster(name, &messages.EnablementsReported{APIs: now.Status.APIEnablements})
	}
}

// editCluster has a world do with a cluster what people did: its labels and where it lies by its manifest, taints one
// by one.
func editCluster(w *world.World, before, now *api.Cluster) error {
	name := messages.ClusterName(now.Name)
	if now.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
		w.Delete(api.KeyOf(now))
	}
	var err error
	rest, old := now.Spec, before.Spec
	rest.Taints, old.Taints = nil, nil
	if !equality.Semantic.DeepEqual(rest, old) || !maps.Equal(now.Labels, before.Labels) || !maps.Equal(now.Annotations, before.Annotations) {
		o := api.Shallow(now).(*api.Cluster)
		o.Spec.Taints = w.Store().Cluster(name).Spec.Taints
		err = w.Apply(o)
	}
	if edits := taintEdits(before.Spec.Taints, now.Spec.Taints); len(edits) > 0 {
		w.TellCluster(name, &messages.TaintsEdited{Edits: edits})
	}
	if d := drainOf(now); d != drainOf(before) {
		w.TellCluster(name, d.message())
	}
	return err
}

// taintEdits are the edits that make one list of taints of another.
func taintEdits(before, now []corev1.Taint) []messages.TaintEdit {
	var edits []messages.TaintEdit
	for i := range before {
		if taint.Find(now, before[i].Key, before[i].Effect) < 0 {
			edits = append(edits, messages.TaintEdit{Taint: before[i], Remove: true})
		}
	}
	for i := range now {
		if j := taint.Find(before, now[i].Key, now[i].Effect); j < 0 || before[j].Value != now[i].Value || !before[j].TimeAdded.Equal(now[i].TimeAdded) {
			edits = append(edits, messages.TaintEdit{Taint: now[i]})
		}
	}
	return edits
}

// reports are the conditions that one status has otherwise than another, in the order of their list; those that it
// has no more come last.
func reports(before, now *api.ClusterStatus) []*messages.ConditionReported {
	var news []*messages.ConditionReported
	for i := range now.Conditions {
		c := &now.Conditions[i]
		if !slices.Contains(before.Conditions, *c) {
			news = append(news, &messages.ConditionReported{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
	}
	for i := range before.Conditions {
		if kind := before.Conditions[i].Type; meta.FindStatusCondition(now.Conditions, kind) == nil {
			news = append(news, &messages.ConditionReported{Type: kind})
		}
	}
	return news
}

// drain is whether people want a cluster emptied, and until when; with a zero deadline, at some time.
type drain struct {
	wanted   bool
	deadline time.Time
}

// drainOf reads the annotation, whose value admission has seen.
func drainOf(c *api.Cluster) drain {
	value, wanted := c.Annotations[api.AnnotationDrain]
	deadline, _ := time.Parse(time.RFC3339, value) // empty: none
	return drain{wanted, deadline.UTC()}
}

// reconcileDrain begins or ends a drain that was asked for, or taken back, while nobody listened.
func (f *Fleet) reconcileDrain(c *api.Cluster) {
	under := drain{wanted: c.Status.Drain != nil}
	if under.wanted && c.Status.Drain.Deadline != nil {
		under.deadline = c.Status.Drain.Deadline.UTC()
	}
	if d := drainOf(c); d != under {
		f.world.TellCluster(messages.ClusterName(c.Name), d.message())
	}
}

func (d drain) message() messages.ToCluster {
	if d.wanted {
		return &messages.DrainRequested{Deadline: d.deadline}
	}
	return &messages.DrainCancelled{}
}
