package member

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// What an agent reports of its cluster's API server. Source: Karmada's cluster status controller.
var (
	apiServerFailed = messages.ConditionReported{
		Type: api.ConditionReady, Status: metav1.ConditionFalse,
		Reason: "ClusterNotHealthy", Message: "the cluster's API server does not answer",
	}
	apiServerAnswers = messages.ConditionReported{
		Type: api.ConditionReady, Status: metav1.ConditionTrue,
		Reason: "ClusterReady", Message: "cluster is healthy and ready to accept workloads",
	}
)

// outagesSet lets outages begin and end. A member that is seen again renews its lease, reports all copies and does what
// it was told meanwhile.
func (m *Member) outagesSet(now time.Time, s *messages.OutagesSet, out *actors.Outbox) {
	before := m.outages
	m.outages = s.Outages
	returned := before.Power && !m.outages.Power
	if m.outages.Power && !before.Power {
		m.powerLost(out)
	}
	m.heartbeat(now, before, s.RenewedAt, out)
	m.tellAPIServer(before, out)
	if returned {
		m.startAll(now, out)
	}
	if before.Unseen() && !m.outages.Unseen() {
		m.sayAgain(out)
		if !returned || m.behaviour.ByPods { // else all copies have reported
			m.reportAll(out)
		}
		m.catchUp(now, out)
	}
}

// powerLost lets all copies die. They start up again when power returns.
func (m *Member) powerLost(out *actors.Outbox) {
	var dead []*copyState
	for c := range m.copies.all() {
		if !m.behaviour.ByPods {
			c.up, c.ready, c.servesAt = false, 0, time.Time{}
		}
		dead = append(dead, c)
	}
	slices.SortFunc(dead, func(a, b *copyState) int { return cmp.Compare(a.binding, b.binding) })
	for _, c := range dead {
		m.serve(c, 0, messages.OutagePower, out)
	}
}

// heartbeat tells the cluster where its agent falls silent, or is heard again.
func (m *Member) heartbeat(now time.Time, before messages.Outages, renewedAt time.Time, out *actors.Outbox) {
	switch {
	case m.outages.Silent() && !before.Silent():
		m.silentSince, m.renewedAt = now, renewedAt
		if m.renewedAt.IsZero() {
			m.renewedAt = m.lastRenewal(now)
		}
		m.tellSilence(out)
	case before.Silent() && !m.outages.Silent():
		m.backAt = now
		out.TellCluster(m.cluster, &messages.ContactRestored{})
	}
}

// tellAPIServer reports a cluster whose API server fails as not ready, and as ready when it answers again. What a silent
// agent cannot say it says when it is heard again; an end that it could not say counts without thresholds, for the
// cluster then goes by the agent's last word.
func (m *Member) tellAPIServer(before messages.Outages, out *actors.Outbox) {
	if m.outages.Silent() || m.outages.APIServer == m.toldFailure {
		return
	}
	m.toldFailure = m.outages.APIServer
	word := apiServerAnswers
	if m.toldFailure {
		word = apiServerFailed
	}
	word.Observed = m.toldFailure || !before.Silent()
	m.clusterSays(&word, out)
}

// serve records how many replicas of a copy serve users, where that changed.
func (m *Member) serve(c *copyState, available int32, outage messages.OutageKind, out *actors.Outbox) {
	if available != c.available {
		out.Record(&messages.AvailabilityChanged{Binding: c.binding, Cluster: m.cluster, Available: available, Before: c.available, Outage: outage})
		c.available = available
	}
}

// available is how many replicas of a copy serve users: the ready ones that there is capacity for, unless the application is
// unhealthy. A health that is Unknown takes nothing from users.
func (m *Member) available(c *copyState) int32 {
	if m.behaviour.ByPods {
		return m.availablePods(c)
	}
	if m.health(c) == api.Unhealthy {
		return 0
	}
	serve := min(c.ready, c.replicas)
	if capacity, limited := m.capacity[c.binding]; limited {
		serve = min(serve, capacity)
	}
	return serve
}
