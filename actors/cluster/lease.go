package cluster

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// Reasons of Ready where the cluster does not give its own, as Karmada's controllers give them: of Unknown, and
// of False.
const (
	reasonUnknown      = "ClusterStatusUnknown"
	reasonNeverUpdated = "ClusterStatusNeverUpdated"
	reasonNotReachable = "ClusterNotReachable"
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

// agentIsBack is the word of an agent that had said nothing before.
var agentIsBack = &messages.ConditionReported{
	Type: api.ConditionReady, Status: metav1.ConditionTrue,
	Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads",
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

// leaseStale starts the grace period, unless it ended before a restart. Where timers do not last, one that
// a restart interrupts starts again. Source: Karmada's cluster controller.
func (c *Cluster) leaseStale(renewedAt time.Time, out *actors.Outbox) {
	if c.lease.renewedAt = renewedAt; !c.ways().PersistentClusterTimers() && c.conditions.ready() != "" && renewedAt.Before(c.watched) {
		c.lease.renewedAt = c.watched
	}
	if !c.lease.lost {
		out.Record(&messages.HeartbeatStopped{Cluster: c.name, RenewedAt: renewedAt, Deadline: c.leaseDeadline()})
	}
}

// leaseDeadline is when silence makes the cluster Unknown; zero: it does not.
func (c *Cluster) leaseDeadline() time.Time {
	if c.lease.renewedAt.IsZero() || c.lease.lost {
		return time.Time{}
	}
	grace := c.settings.ClusterMonitorGracePeriod
	if c.conditions.ready() == "" {
		grace = c.settings.ClusterStartupGracePeriod
	}
	return monitored(c.lease.renewedAt.Add(grace), c.settings.ClusterMonitorPeriod)
}

// monitored returns the first look of a monitor, which looks every period, at which an instant is
// strictly past; the instant itself where the period is zero. Source: Karmada's cluster controller.
func monitored(at time.Time, period time.Duration) time.Time {
	if period <= 0 {
		return at
	}
	return at.Truncate(period).Add(period)
}

// expireLease makes the cluster Unknown when its agent has been silent for too long.
func (c *Cluster) expireLease(now time.Time, out *actors.Outbox) {
	if due := c.leaseDeadline(); due.IsZero() || now.Before(due) {
		return
	}
	reason := reasonUnknown
	if c.conditions.ready() == "" {
		reason = reasonNeverUpdated
	}
	c.lease.lost, c.observed = true, observation{}
	c.setCondition(now, &messages.ConditionReported{
		Type: api.ConditionReady, Status: metav1.ConditionUnknown, Reason: reason, Message: "the cluster's agent stopped renewing its lease",
	}, "monitor", out)
}

func (c *Cluster) leaseRenewed(now time.Time, out *actors.Outbox) {
	c.lease.renewedAt = time.Time{}
	if c.lease.lost {
		c.lease.lost = false
		c.setCondition(now, cmp.Or(c.lease.word, agentIsBack), "", out)
	}
}
