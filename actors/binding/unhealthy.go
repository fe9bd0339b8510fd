package binding

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// healthCountdown is application failover: a copy that stays Unhealthy for longer than the policy
// tolerates is evicted. What is known of an old copy that is still being evicted says nothing of the one to come.
// Source: Karmada's application failover controllers.
func (v *view) healthCountdown(now time.Time, t *target) countdown {
	failover := v.spec.Failover
	if !v.failsOver() || v.handover.task(t.cluster) != nil {
		return countdown{}
	}
	c := v.copy(t.cluster)
	if c == nil || c.removing || c.health != api.Unhealthy {
		return countdown{}
	}
	if mode := failover.Application.PurgeMode; (mode == api.PurgeGracefully || mode == "") && !v.settings.GracefulEviction {
		return countdown{blocked: noGrace}
	}
	if why := v.stateless(t, api.EvictionReasonApplicationFailure); why != (blocked{}) {
		return countdown{blocked: why}
	}
	evict, recheck := v.ways().Unhealthy(v.failingSince(c), c.unhealthySince, tolerationSeconds(failover.Application), now)
	l := countdown{at: recheck, grounds: messages.Grounds{Reason: api.EvictionReasonApplicationFailure}}
	if evict {
		l.at = v.unhealthyDeadline(now, t, c)
	}
	l.grounds.Deadline = l.at
	return v.paced(now, t, l)
}

// unhealthyDeadline is when a copy that has been unhealthy for long enough had been so. Where timers are not
// exact, that is when it is first noticed.
func (v *view) unhealthyDeadline(now time.Time, t *target, c *copyState) time.Time {
	switch {
	case v.ways().PersistentTimers():
		return v.failingSince(c).Add(time.Duration(tolerationSeconds(v.spec.Failover.Application)) * time.Second)
	case t.countdown.due && t.countdown.grounds.Reason == api.EvictionReasonApplicationFailure:
		return t.countdown.at
	case t.countdown.blocked.reason == hopLimit:
		return t.countdown.grounds.Deadline
	default:
		return now
	}
}

// failingSince is since when a copy counts as unhealthy.
func (d *declared) failingSince(c *copyState) time.Time {
	grace := d.settings.ApplicationStartupGrace
	if s := d.spec.Failover.Application.DecisionConditions.StartupSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	return eviction.UnhealthySince(c.unhealthySince, c.startingSince, grace)
}

func tolerationSeconds(a *api.ApplicationFailover) int32 {
	if a.DecisionConditions.TolerationSeconds == nil {
		return 300
	}
	return *a.DecisionConditions.TolerationSeconds
}

// tooSoon puts an application failover off that is one too many, and reports whether it is.
func (v *view) tooSoon(now time.Time, t *target, out *actors.Outbox) bool {
	if next := v.paced(now, t, t.countdown); next.at.After(now) {
		v.putOff(t, next, out)
		return true
	}
	if t.countdown.blocked.reason == hopLimit {
		t.countdown.blocked = blocked{}
	}
	return false
}

// paced puts off what is due for a target's health while there were as many failovers as may be within
// the window. One that is under way already stays so.
func (v *view) paced(now time.Time, t *target, l countdown) countdown {
	if l.at.IsZero() || l.at.After(now) || unhealthyAndEvicted(t) {
		return l
	}
	limit, window, _ := v.limits()
	waiting := v.othersWait(t)
	if limit > 0 && waiting >= limit { // each of them may start at any time, however long it has waited
		l.at, l.blocked = now.Add(hopAgain), blocked{hopLimit, fmt.Sprintf("no more than %d application failovers within %s, and as many wait to start", limit, window), time.Time{}}
		if old := &t.countdown; old.blocked == l.blocked && old.at.After(now) {
			l.at = old.at
		}
		return l
	}
	next := eviction.NextFailover(v.hopTimes(), limit-waiting, window)
	if next.After(now) {
		l.at = next
		l.blocked = blocked{hopLimit, fmt.Sprintf("no more than %d application failovers within %s", limit, window), next}
	} else if slices.Contains(v.past.failovers(), hop{t.cluster, now}) {
		l.at = nextTry(now) // as a copy that starts would go round, too
	}
	return l
}

// hopAgain is when one that others keep from starting looks again if nothing of them is heard.
const hopAgain = 24 * time.Hour

// hopTimes are when failovers started, oldest first.
func (v *view) hopTimes() []time.Time {
	times := lists.Of(v.past.failovers(), func(h hop) time.Time { return h.at })
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// unhealthyAndEvicted reports whether a target is evicted from for its health, and only waits for a permit or a destination.
func unhealthyAndEvicted(t *target) bool {
	return t.countdown.due && t.countdown.unhealthy()
}

// othersWait counts the failovers of other targets that are due, and wait for a permit or a destination.
func (v *view) othersWait(except *target) (n int) {
	for i := range v.targets {
		if t := &v.targets[i]; t.cluster != except.cluster && unhealthyAndEvicted(t) {
			n++
		}
	}
	return n
}

// hopFreed has those that were one too many look again, because one of those before them starts, stays, or goes for a taint.
func (ts targets) hopFreed(now time.Time) {
	for i := range ts {
		if l := &ts[i].countdown; l.blocked.reason == hopLimit && !l.due {
			l.at = now
		}
	}
}
