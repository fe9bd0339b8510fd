package binding

import (
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// leaveForHealth is application failover: a copy that stays Unhealthy for longer than the policy
// tolerates is left. What is known of an old copy that is still on its way out says nothing of the one to come.
// Source: Karmada's application failover controllers.
func (v *view) leaveForHealth(now time.Time, t *target) leave {
	failover := v.spec.Failover
	if !v.failsOver() || v.task(t.cluster) != nil {
		return leave{}
	}
	c := v.copy(t.cluster)
	if c == nil || c.removing || c.health != api.Unhealthy {
		return leave{}
	}
	if mode := failover.Application.PurgeMode; (mode == api.PurgeGracefully || mode == "") && !v.settings.GracefulEviction {
		return leave{held: noGrace}
	}
	if why := v.stateless(t, api.EvictionReasonApplicationFailure); why != (hold{}) {
		return leave{held: why}
	}
	since := v.sickSince(c)
	exact := v.settings.PersistentFailoverTimers || since.After(now)
	known := since
	if !exact && !now.After(c.unhealthySince) {
		known = time.Time{} // first sight, which lasts for its instant
	}
	evict, recheck := eviction.Unhealthy(known, tolerationSeconds(failover.Application), now, exact)
	l := leave{at: recheck, grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure}}
	if evict {
		l.at = v.sickDeadline(now, t, c)
	}
	l.grounds.Deadline = l.at
	return v.paced(now, t, l)
}

// failsOver reports whether the policy has a sick application leave.
func (v *view) failsOver() bool {
	return v.spec.Failover != nil && v.spec.Failover.Application != nil
}

// sickDeadline is when a copy that has been unhealthy for long enough had been so. Where timers are not
// exact, that is when it is first noticed.
func (v *view) sickDeadline(now time.Time, t *target, c *copyState) time.Time {
	switch {
	case v.settings.PersistentFailoverTimers:
		return v.sickSince(c).Add(time.Duration(tolerationSeconds(v.spec.Failover.Application)) * time.Second)
	case t.leave.due && t.leave.grounds.Reason == api.EvictionReasonApplicationFailure:
		return t.leave.at
	case t.leave.held.reason == hopLimit:
		return t.leave.grounds.Deadline
	default:
		return now
	}
}

// sickSince is since when a copy counts as unhealthy.
func (v *view) sickSince(c *copyState) time.Time {
	grace := v.settings.ApplicationStartupGrace
	if s := v.spec.Failover.Application.DecisionConditions.StartupSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	return eviction.SickSince(c.unhealthySince, c.startingSince, grace)
}

// heard notes what a report says of how long a copy has been unhealthy, and whether it is still starting.
func (c *copyState) heard(now time.Time, h api.ResourceHealth) {
	if h != api.Unhealthy {
		c.unhealthySince = time.Time{}
	} else if c.unhealthySince.IsZero() {
		c.unhealthySince = now
	}
	if h == api.Healthy {
		c.startingSince = time.Time{}
	} else if !c.reported {
		c.startingSince = now
	}
}

func tolerationSeconds(a *api.ApplicationFailover) int32 {
	if a.DecisionConditions.TolerationSeconds == nil {
		return 300
	}
	return *a.DecisionConditions.TolerationSeconds
}
