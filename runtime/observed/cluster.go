// Package observed reads what API objects say: what people and agents did to a cluster between two versions of it,
// whose copy a Work is, and what its agent says of that.
package observed

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// TaintEdits are the edits that make one list of taints of another.
func TaintEdits(before, now []corev1.Taint) []messages.TaintEdit {
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

// Conditions are those that one status has otherwise than another, in the order of their list; those that it
// has no more come last.
func Conditions(before, now *api.ClusterStatus) []*messages.ConditionReported {
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

// Drain is whether people want a cluster emptied, and until when; with a zero deadline, at some time.
type Drain struct {
	Wanted   bool
	Deadline time.Time
}

// DrainOf reads the annotation, whose value admission has seen.
func DrainOf(c *api.Cluster) Drain {
	value, wanted := c.Annotations[api.AnnotationDrain]
	deadline, _ := time.Parse(time.RFC3339, value) // empty: none
	return Drain{wanted, deadline.UTC()}
}

// Message tells the cluster of it.
func (d Drain) Message() messages.ToCluster {
	if d.Wanted {
		return &messages.DrainRequested{Deadline: d.Deadline}
	}
	return &messages.DrainCancelled{}
}
