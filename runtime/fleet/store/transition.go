package store

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// transitions are the conditions of bindings whose status changed in an instant, as they were when it began. What ends
// an instant as it began it has not changed: how often it did meanwhile depends on which message came first.
type transitions struct {
	at     time.Time
	before map[transition]metav1.Condition
}

// transition names a condition of a binding.
type transition struct {
	of        *Binding
	condition string
}

// flipped notes the conditions of a binding that have another status than a moment ago, and gives those that are back
// at the status of the instant's beginning the time of that. The list is the binding's own since then.
func (t *transitions) flipped(at time.Time, b *Binding, before []metav1.Condition) {
	for i := range b.Status.Conditions {
		c := &b.Status.Conditions[i]
		if i >= len(before) || before[i].Status == c.Status { // they stand in the order in which they came
			continue
		}
		if !t.at.Equal(at) {
			t.at, t.before = at, map[transition]metav1.Condition{}
		}
		key := transition{b, c.Type}
		switch first, known := t.before[key]; {
		case !known:
			t.before[key] = before[i]
		case first.Status == c.Status:
			c.LastTransitionTime = first.LastTransitionTime
		}
	}
}
