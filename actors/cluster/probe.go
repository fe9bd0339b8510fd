package cluster

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
)

func (c *Cluster) contactLost(now time.Time, m *messages.ContactLost, out *actors.Outbox) {
	if !c.probed {
		c.leaseStale(m.RenewedAt, out)
		return
	}
	frequency := c.settings.ClusterStatusUpdateFrequency
	c.probes = probes{lost: true, at: monitored(m.At, frequency)}
	if k := c.conditions.readiness(); k == nil || k.Reason != reasonNotReachable {
		deadline := c.probes.at.Add(c.wholeProbes(c.threshold(metav1.ConditionFalse)))
		out.Record(&messages.HeartbeatStopped{Cluster: c.name, RenewedAt: m.At.Truncate(frequency), Deadline: deadline, Probed: true})
	}
	if m.At.Before(c.watched) && !c.ways().PersistentClusterTimers() {
		c.probes.at = time.Time{}
		c.observed.word = notReachable
		c.settleObservation(now, out)
	}
}

func (c *Cluster) contactRestored(now time.Time, out *actors.Outbox) {
	if c.probes.lost || !c.lease.renewedAt.IsZero() {
		out.Record(&messages.HeartbeatReturned{Cluster: c.name, Probed: c.probed})
	}
	if !c.probed {
		c.leaseRenewed(now, out)
		return
	}
	c.probes.lost = false
	if c.probes.at.After(now) { // no probe has failed
		c.probes.at = time.Time{}
		return
	}
	c.probes.at = monitored(now, c.settings.ClusterStatusUpdateFrequency)
}

// probeAgain has the next probe contradict what another reports of a cluster that does not answer.
func (c *Cluster) probeAgain(now time.Time) {
	if c.probes.lost {
		c.probes.at = monitored(now, c.settings.ClusterStatusUpdateFrequency)
	}
}

// probe takes in what a probe finds that finds something else than the one before.
func (c *Cluster) probe(now time.Time, out *actors.Outbox) {
	if c.probes.at.IsZero() || c.probes.at.After(now) {
		return
	}
	c.probes.at = time.Time{}
	if c.probes.lost {
		c.observe(now, notReachable, out)
		return
	}
	c.observe(now, cmp.Or(c.lease.word, agentIsBack), out)
}
