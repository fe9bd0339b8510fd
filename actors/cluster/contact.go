package cluster

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// lease is what a cluster knows of its agent's signs of life.
type lease struct {
	// renewedAt is the last sign of life of a silent agent; zero: it is not silent.
	renewedAt time.Time
	// lost is set while Ready is Unknown because of silence.
	lost bool
	// word is the last word of the cluster itself on Ready, which it says again when it is back.
	word *messages.ConditionReported
}

// probes are how a cluster without an agent answers. Most find what the one before found, and never come to
// pass: only the next one that finds something else has an instant.
type probes struct {
	// lost is set while nothing gets through to the cluster.
	lost bool
	// at is when a probe finds what changed; zero: nothing did.
	at time.Time
}

// observation is what probes find of Ready and does not count yet; without a word there is none.
type observation struct {
	word  *messages.ConditionReported
	since time.Time
}

// Reasons of Ready where the cluster does not give its own, as Karmada's controllers give them: of Unknown, and
// of False.
const (
	reasonUnknown      = "ClusterStatusUnknown"
	reasonNeverUpdated = "ClusterStatusNeverUpdated"
	reasonNotReachable = "ClusterNotReachable"
)

// agentIsBack is the word of an agent that had said nothing before.
var agentIsBack = &messages.ConditionReported{
	Type: api.ConditionReady, Status: metav1.ConditionTrue,
	Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads",
}

// notReachable is what probes find that get no answer. Source: Karmada's cluster status controller.
var notReachable = &messages.ConditionReported{
	Observed: true, Type: api.ConditionReady, Status: metav1.ConditionFalse,
	Reason: reasonNotReachable, Message: "cluster is not reachable",
}

// restore reads off the stored condition Ready, which may be nil, whether the agent was lost, and what it last said if not.
func (l *lease) restore(k *metav1.Condition) {
	if k == nil {
		return
	}
	l.lost = k.Status == metav1.ConditionUnknown && (k.Reason == reasonUnknown || k.Reason == reasonNeverUpdated)
	if !l.lost && k.Reason != reasonNotReachable {
		l.word = &messages.ConditionReported{Type: k.Type, Status: k.Status, Reason: k.Reason, Message: k.Message}
	}
}

// monitored returns the first look of a monitor, which looks every period, at which an instant is
// strictly past; the instant itself where the period is zero. Source: Karmada's cluster controller.
func monitored(at time.Time, period time.Duration) time.Time {
	if period <= 0 {
		return at
	}
	return at.Truncate(period).Add(period)
}
