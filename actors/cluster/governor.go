package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// byGovernor takes NoExecute taints back during a blackout.
var byGovernor = api.TaintCause{By: "governor", Because: "all clusters seem to be unreachable"}

// showGovernor says what is new for the governor, if a setting has it look at clusters at all. A cluster that has
// never said whether it is Ready has only joined, and does not count as failed.
func (c *Cluster) showGovernor(out *actors.Outbox) {
	m := messages.ClusterObserved{Cluster: c.name, Region: c.region, Unhealthy: c.conditions.ready() != metav1.ConditionTrue}
	if c.conditions.ready() == "" && c.shown == (messages.ClusterObserved{}) {
		return
	}
	if c.settings.WatchesFleet() && m != c.shown {
		c.shown = m
		out.TellGovernor(&m)
	}
}

// blackoutDeclared takes back what would empty the cluster, or asks policies and probes again what should.
func (c *Cluster) blackoutDeclared(now time.Time, blind bool, out *actors.Outbox) {
	if c.blackout == blind {
		return
	}
	c.blackout = blind
	c.judging.reopen()
	c.retaint(now, out)
}

// withhold keeps the taints by which conditions would empty the cluster out of a revision during a blackout.
// What people ask for stays, be it a taint, a drain or a deletion.
func (c *Cluster) withhold(r *revision) {
	if !c.blackout {
		return
	}
	var kept []corev1.Taint
	for i := range r.taints {
		if !follows(&r.taints[i], r.causes[i].By) {
			kept = append(kept, r.taints[i])
		}
	}
	if len(kept) < len(r.taints) {
		r.become(kept, func(*corev1.Taint) api.TaintCause { return byGovernor })
	}
}

// follows reports whether a taint empties the cluster because of a condition: one of a policy, or that of the
// system for Ready.
func follows(t *corev1.Taint, by string) bool {
	if t.Effect != corev1.TaintEffectNoExecute {
		return false
	}
	return by == byPolicy || by == bySystem && (t.Key == api.TaintNotReady || t.Key == api.TaintUnreachable)
}
