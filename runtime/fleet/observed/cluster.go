// Package observed reads what API objects say: what people and agents did to a cluster between two versions of it,
// whose copy a Work is, and what its agent says of that.
package observed

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// TaintEdits are the edits that make the taints of a cluster those of its next version, with the person who set them.
func TaintEdits(from, to *api.Cluster) []messages.TaintEdit {
	before, now := from.Spec.Taints, to.Spec.Taints
	var edits []messages.TaintEdit
	for i := range before {
		if taint.Find(now, before[i].Key, before[i].Effect) < 0 {
			edits = append(edits, messages.TaintEdit{Taint: before[i], Remove: true})
		}
	}
	for i := range now {
		if j := taint.Find(before, now[i].Key, now[i].Effect); j < 0 || before[j].Value != now[i].Value || !before[j].TimeAdded.Equal(now[i].TimeAdded) {
			edits = append(edits, messages.TaintEdit{Taint: now[i], Cause: setBy(to, &now[i])})
		}
	}
	return edits
}

// setBy is what the API server noted of the person who set a taint; zero: it noted none.
func setBy(c *api.Cluster, t *corev1.Taint) api.TaintCause {
	if cause := c.Status.CauseOf(t); cause != nil && cause.By == api.TaintCauseUser {
		return *cause
	}
	return api.TaintCause{}
}

// Conditions are those that one status has otherwise than another, in the order of their list; those that it
// has no more come last.
func Conditions(before, now *api.ClusterStatus) []*messages.ConditionReported {
	var news []*messages.ConditionReported
	was := make(map[string]*metav1.Condition, len(before.Conditions))
	for i := range before.Conditions {
		was[before.Conditions[i].Type] = &before.Conditions[i]
	}
	for i := range now.Conditions {
		c := &now.Conditions[i]
		if b := was[c.Type]; b == nil || *b != *c {
			news = append(news, &messages.ConditionReported{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
		delete(was, c.Type)
	}
	for i := range before.Conditions {
		if kind := before.Conditions[i].Type; was[kind] != nil {
			news = append(news, &messages.ConditionReported{Type: kind})
		}
	}
	return news
}

// DrainRequest is whether people want a cluster emptied, and until when; with a zero deadline, at some time.
type DrainRequest struct {
	Wanted   bool
	Deadline time.Time
}

// DrainOf reads the annotation, whose value admission has seen.
func DrainOf(c *api.Cluster) DrainRequest {
	value, wanted := c.Annotations[api.AnnotationDrain]
	deadline, _ := time.Parse(time.RFC3339, value) // empty: none
	return DrainRequest{wanted, deadline.UTC()}
}

// Message tells the cluster of it.
func (d DrainRequest) Message() messages.ToCluster {
	if d.Wanted {
		return &messages.DrainRequested{Deadline: d.Deadline}
	}
	return &messages.DrainCancelled{}
}
