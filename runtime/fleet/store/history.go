package store

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// departed begins a record of the history with a new task.
func (b *Binding) departed(at time.Time, task *api.GracefulEvictionTask) {
	b.Status.FailoverHistory = eviction.Remember(b.Status.FailoverHistory, api.FailoverRecord{
		FromCluster: task.FromCluster, Reason: task.Reason, Producer: task.Producer, StartTime: metav1.MicroTime{Time: at},
	})
}

// closeRecord ends the record of a handover and reports whether there was one to end.
func (b *Binding) closeRecord(at time.Time, from messages.ClusterName, outcome string) bool {
	return b.amend(from, func(r *api.FailoverRecord) {
		r.CompletionTime, r.Outcome = &metav1.MicroTime{Time: at}, outcome
	})
}

// amend changes the latest record of a cluster, if it is still open, and reports whether it is.
func (b *Binding) amend(from messages.ClusterName, change func(*api.FailoverRecord)) bool {
	history := b.Status.FailoverHistory
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].FromCluster != string(from) {
			continue
		}
		if history[i].CompletionTime != nil {
			return false
		}
		b.Status.FailoverHistory = slices.Clone(history)
		change(&b.Status.FailoverHistory[i])
		return true
	}
	return false
}
