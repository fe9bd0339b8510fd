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
func (b *Binding) leaveForHealth(now time.Time, t *target) leave {
	failover := b.spec.Failover
	if !b.failsOver() || b.task(t.cluster) != nil {
		return leave{}
	}
	c := b.copy(t.cluster)
	if c == nil || c.removing || c.health != api.Unhealthy {
		return leave{}
	}
	if mode := failover.Application.PurgeMode; (mode == api.PurgeGracefully || mode == "") && !b.settings.GracefulEviction {
		return leave{held: noGrace}
	}
	if why := b.stateless(t, api.EvictionReasonApplicationFailure); why != (hold{}) {
		return leave{held: why}
	}
	since := b.sickSince(c)
	exact := b.settings.PersistentFailoverTimers || since.After(now)
	known := since
	if !exact && !now.After(c.unhealthySince) {
		known = time.Time{} // first sight, which lasts for its instant
	}
	evict, recheck := eviction.Unhealthy(known, tolerationSeconds(failover.Application), now, exact)
	l := leave{at: recheck, grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure}}
	if evict {
		l.at = b.sickDeadline(now, t, c)
	}
	l.grounds.Deadline = l.at
	return b.paced(now, t, l)
}

// failsOver reports whether the policy has a sick application leave.
func (b *Binding) failsOver() bool {
	return b.spec.Failover != nil && b.spec.Failover.Application != nil
}

// sickDeadline is when a copy that has been unhealthy for long enough had been so. Where timers are not
// exact, that is when it is first noticed.
func (b *Binding) sickDeadline(now time.Time, t *target, c *copyState) time.Time {
	switch {
	case b.settings.PersistentFailoverTimers:
		return b.sickSince(c).Add(time.Duration(tolerationSeconds(b.spec.Failover.Application)) * time.Second)
	case t.leave.due && t.leave.grounds.Reason == api.EvictionReasonApplicationFailure:
		return t.leave.at
	case t.leave.held.reason == hopLimit:
		return t.leave.grounds.Deadline
	default:
		return now
	}
}

// sickSince is since when a copy counts as unhealthy.
func (b *Binding) sickSince(c *copyState) time.Time {
	grace := b.settings.ApplicationStartupGrace
	if s := b.spec.Failover.Application.DecisionConditions.StartupSeconds; s != nil {
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
