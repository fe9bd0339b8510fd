package cluster

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

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
