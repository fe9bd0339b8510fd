package cluster

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

func (c *Cluster) setCondition(now time.Time, m *messages.ConditionReported, by string, out *actors.Outbox) {
	c.setConditions(now, []*messages.ConditionReported{m}, by, out)
}

// setConditions takes over reports. Whatever differs, be it the message alone, makes policies judge again, as in Karmada.
func (c *Cluster) setConditions(now time.Time, reports []*messages.ConditionReported, by string, out *actors.Outbox) {
	if c.conditions.take(now, c.name, reports, by, out) {
		c.changed(now, false, out)
		c.judging.reopen()
	}
}

// restoreObservation takes over what was held back before a restart. Where timers do not last, it is as
// if there was no probe before, and the first one counts immediately. Source: Karmada's cluster status
// controller.
func (c *Cluster) restoreObservation(now time.Time, o *api.ReadyObservation, out *actors.Outbox) {
	if o == nil {
		return
	}
	c.observed = observation{since: o.Since.Time, word: &messages.ConditionReported{
		Observed: true, Type: api.ConditionReady, Status: o.Status, Reason: o.Reason, Message: o.Message,
	}}
	if !c.ways().PersistentClusterTimers() {
		c.settleObservation(now, out)
	}
}

// observe takes in what a probe found. A status that differs from the last one found starts the time again.
func (c *Cluster) observe(now time.Time, m *messages.ConditionReported, out *actors.Outbox) {
	before := c.observed
	c.observed = observation{word: m, since: now}
	if before.word != nil && before.word.Status == m.Status {
		c.observed.since = before.since
	}
	due := c.observedDue()
	switch {
	case !due.After(now):
		if before.word != nil && m.Status == c.conditions.ready() {
			out.Record(&messages.ReadyObserved{Cluster: c.name, Status: m.Status, Reason: m.Reason, Message: m.Message})
		}
		c.settleObservation(now, out)
	case c.observed.since.Equal(now):
		out.Record(&messages.ReadyObserved{Cluster: c.name, Status: m.Status, Reason: m.Reason, Message: m.Message, Deadline: due})
	}
}

// observedDue is when what probes find counts; zero: they find nothing new.
func (c *Cluster) observedDue() time.Time {
	if c.observed.word == nil {
		return time.Time{}
	}
	return c.observed.since.Add(c.wholeProbes(c.threshold(c.observed.word.Status)))
}

// threshold is how long a status must be found before it counts. Only the step into Ready=True, and the
// one out of it, take time.
func (c *Cluster) threshold(found metav1.ConditionStatus) time.Duration {
	switch is := c.conditions.ready(); {
	case is == "" || is == found:
		return 0
	case is == metav1.ConditionTrue:
		return c.settings.ClusterFailureThreshold
	case found == metav1.ConditionTrue:
		return c.settings.ClusterSuccessThreshold
	default:
		return 0
	}
}

// settleObservation makes what probes find the condition.
func (c *Cluster) settleObservation(now time.Time, out *actors.Outbox) {
	word := c.observed.word
	c.observed = observation{}
	if word.Reason != reasonNotReachable {
		c.lease.word = word
	}
	c.setCondition(now, word, "probe", out)
}

// expireObservation does so when its time has come.
func (c *Cluster) expireObservation(now time.Time, out *actors.Outbox) {
	if due := c.observedDue(); !due.IsZero() && !due.After(now) {
		c.settleObservation(now, out)
	}
}

// wholeProbes is how long it takes until a probe finds that a time has passed since another.
func (c *Cluster) wholeProbes(d time.Duration) time.Duration {
	frequency := c.settings.ClusterStatusUpdateFrequency
	if frequency <= 0 {
		return d
	}
	return (d + frequency - 1) / frequency * frequency
}
