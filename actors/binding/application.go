package binding

import (
	"time"

	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
)

// leaveForHealth is application failover: a copy that stays Unhealthy for longer than the policy
// tolerates is left. Source: Karmada's application failover controllers.
func (b *Binding) leaveForHealth(now time.Time, t *target) leave {
	failover := b.spec.Failover
	if failover == nil || failover.Application == nil || b.task(t.cluster) != nil {
		return leave{}
	}
	c := b.copy(t.cluster)
	if c == nil || c.health != api.Unhealthy {
		return leave{}
	}
	if mode := failover.Application.PurgeMode; (mode == api.PurgeGracefully || mode == "") && !b.settings.GracefulEviction {
		return leave{held: noGrace}
	}
	evict, recheck := eviction.Unhealthy(b.knownSince(now, c), tolerationSeconds(failover.Application), now, b.settings.PersistentFailoverTimers)
	l := leave{at: recheck, grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure}}
	if evict {
		l.at = b.sickDeadline(now, t, c)
	}
	l.grounds.Deadline = l.at
	return l
}

// sickDeadline is when a copy that has been unhealthy for long enough had been so. Where timers are not
// exact, that is when it is first noticed.
func (b *Binding) sickDeadline(now time.Time, t *target, c *copyState) time.Time {
	switch {
	case b.settings.PersistentFailoverTimers:
		return c.unhealthySince.Add(time.Duration(tolerationSeconds(b.spec.Failover.Application)) * time.Second)
	case t.leave.due && t.leave.grounds.Reason == api.EvictionReasonApplicationFailure:
		return t.leave.at
	default:
		return now
	}
}

// knownSince is since when a copy is known to be unhealthy; zero at first sight, which lasts for its
// instant.
func (b *Binding) knownSince(now time.Time, c *copyState) time.Time {
	if !b.settings.PersistentFailoverTimers && !now.After(c.unhealthySince) {
		return time.Time{}
	}
	return c.unhealthySince
}

func tolerationSeconds(a *api.ApplicationFailover) int32 {
	if a.DecisionConditions.TolerationSeconds == nil {
		return 300
	}
	return *a.DecisionConditions.TolerationSeconds
}
