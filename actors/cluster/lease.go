package cluster

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// lease is what a cluster knows of its agent's signs of life.
type lease struct {
	// deadline is when a silent agent makes the cluster Unknown; zero: it is not silent.
	deadline time.Time
	// answer is the agent's last word on Ready; it says so again when it is back.
	answer metav1.ConditionStatus
	// lost is set while Ready is Unknown because of silence.
	lost bool
}

func (c *Cluster) leaseStale(renewedAt time.Time, out *actors.Outbox) {
	grace := c.settings.ClusterMonitorGracePeriod
	if c.status(api.ConditionReady) == "" {
		grace = c.settings.ClusterStartupGracePeriod
	}
	c.lease.deadline = monitored(renewedAt.Add(grace), c.settings.ClusterMonitorPeriod)
	out.Record(&messages.HeartbeatStopped{Cluster: c.name, RenewedAt: renewedAt, Deadline: c.lease.deadline})
}

// monitored returns the first look of a monitor, which looks every period, at which an instant is
// strictly past; the instant itself where the period is zero. Source: Karmada's cluster controller.
func monitored(at time.Time, period time.Duration) time.Time {
	if period <= 0 {
		return at
	}
	return at.Truncate(period).Add(period)
}

func (c *Cluster) leaseRenewed(now time.Time, out *actors.Outbox) {
	out.Record(&messages.HeartbeatReturned{Cluster: c.name})
	c.lease.deadline = time.Time{}
	if !c.lease.lost {
		return
	}
	c.lease.lost = false
	c.setCondition(now, &messages.ConditionReported{
		Type: api.ConditionReady, Status: c.lease.answer, Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads",
	}, "", out)
}

// expire makes the cluster Unknown when its agent has been silent for too long.
func (l *lease) expire(now time.Time, c *Cluster, out *actors.Outbox) {
	if l.deadline.IsZero() || now.Before(l.deadline) {
		return
	}
	reason := "ClusterStatusUnknown"
	if c.status(api.ConditionReady) == "" {
		reason = "ClusterStatusNeverUpdated"
	}
	l.deadline, l.lost = time.Time{}, true
	c.setCondition(now, &messages.ConditionReported{
		Type: api.ConditionReady, Status: metav1.ConditionUnknown, Reason: reason, Message: "the cluster's agent stopped renewing its lease",
	}, "monitor", out)
}
