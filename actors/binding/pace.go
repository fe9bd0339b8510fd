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

// past is what a binding remembers of its application failovers, and of others, and of a restart, as long as their instant
// lasts.
type past struct {
	// hops are the latest, oldest first; cooling are the clusters that the scheduler was last told to keep clear
	// of for their sake.
	hops    []hop
	cooling []messages.ClusterName
	// left are the latest departures that were over in no time, where the binding may return in none.
	left []hop
	// shown are the evictions that the status had at a restart, for the instant of it.
	shown []api.Eviction
}

// hop is one failover of the binding.
type hop struct {
	from messages.ClusterName
	at   time.Time
}

// Reasons of holds that time ends.
const (
	hopLimit    = "HopLimit"
	coolingDown = "CoolingDown"
)

// failovers are the latest for the application's health, oldest first.
func (p *past) failovers() []hop {
	if p == nil {
		return nil
	}
	return p.hops
}

// limits is what bounds the binding's application failovers: the policy's, or the settings'.
func (d *declared) limits() (limit int, window, cooldown time.Duration) {
	limit, window, cooldown = d.settings.ApplicationFailoverLimit, d.settings.ApplicationFailoverWindow, d.settings.ApplicationCooldown
	if d.spec.Failover == nil || d.spec.Failover.Application == nil || d.spec.Failover.Application.Pace == nil {
		return limit, window, cooldown
	}
	p := d.spec.Failover.Application.Pace
	if p.MaxFailovers != nil {
		limit = int(*p.MaxFailovers)
	}
	if p.WindowSeconds != nil {
		window = time.Duration(*p.WindowSeconds) * time.Second
	}
	if p.CooldownSeconds != nil {
		cooldown = time.Duration(*p.CooldownSeconds) * time.Second
	}
	return limit, window, cooldown
}

// hopped notes an application failover.
func (v *view) hopped(now time.Time, k *task) {
	if k.Reason != api.EvictionReasonApplicationFailure {
		return
	}
	owned(&v.past).hop(hop{from: messages.ClusterName(k.FromCluster), at: now})
}

// hop adds an application failover to those that are remembered.
func (p *past) hop(h hop) {
	hops := append(p.hops, h)
	p.hops = hops[max(0, len(hops)-eviction.Remembered):]
}

// leftInNoTime notes a task that ends in the instant in which it began, where the scheduler may bring the binding
// back to a cluster that it must leave, and that is noticed immediately.
func (v *view) leftInNoTime(now time.Time, k *task) {
	if !v.ways().ReturnsInNoTime() || k.CreationTimestamp.Time.Before(v.taskTime(now).Time) {
		return
	}
	p := owned(&v.past)
	p.left = append(slices.DeleteFunc(p.left, func(l hop) bool { return l.at.Before(now) }), hop{messages.ClusterName(k.FromCluster), now})
}

// goesRound reports whether the binding was evicted from a cluster in this instant already. None is evicted from twice in one for a
// taint, or what returns immediately would go round in circles in no time.
func (p *past) goesRound(now time.Time, c messages.ClusterName) bool {
	return p != nil && slices.Contains(p.left, hop{c, now})
}

// nextTry is when what goes round in circles may go on.
func nextTry(now time.Time) time.Time { return now.Add(time.Second) }

// pastOf takes over the application failovers of a stored history.
func pastOf(history []api.FailoverRecord) (p *past) {
	for i := range history {
		if r := &history[i]; r.Reason == api.EvictionReasonApplicationFailure {
			owned(&p).hop(hop{from: messages.ClusterName(r.FromCluster), at: r.StartTime.Time})
		}
	}
	return p
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

// unhealthyAndEvicted reports whether a target is evicted from for its health, and only waits for a permit or a destination.
func unhealthyAndEvicted(t *target) bool {
	return t.countdown.due && t.countdown.unhealthy()
}

// hopAgain is when one that others keep from starting looks again if nothing of them is heard.
const hopAgain = 24 * time.Hour

// hopTimes are when failovers started, oldest first.
func (v *view) hopTimes() []time.Time {
	times := lists.Of(v.past.failovers(), func(h hop) time.Time { return h.at })
	slices.SortFunc(times, time.Time.Compare)
	return times
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

// coolingAt are the clusters that the binding was evicted from for its health less than the cool-down ago.
func (v *view) coolingAt(now time.Time) []messages.ClusterName {
	_, _, cooldown := v.limits()
	var clusters []messages.ClusterName
	for _, h := range v.past.failovers() {
		if h.at.Add(cooldown).After(now) && v.targets.of(h.from) == nil && v.handover.task(h.from) == nil && !slices.Contains(clusters, h.from) {
			clusters = append(clusters, h.from)
		}
	}
	return clusters
}

// coolsAt is when the first of the clusters that cool down has done so; zero without any.
func (v *view) coolsAt(now time.Time) (first time.Time) {
	if v.past == nil {
		return time.Time{}
	}
	_, _, cooldown := v.limits()
	cooling := v.coolingAt(now)
	for _, h := range v.past.failovers() {
		if end := h.at.Add(cooldown); end.After(now) && slices.Contains(cooling, h.from) {
			first = actors.Earlier(first, end)
		}
	}
	return first
}

// keepClear are the clusters that the scheduler is to keep clear of, which is noted.
func (v *view) keepClear(now time.Time) []messages.ClusterName {
	if v.past == nil {
		return nil
	}
	v.past.cooling = v.coolingAt(now)
	return v.past.cooling
}

// rests says of a departure without a destination that clusters cool down, and until when, if they do.
func (v *view) rests(now time.Time, why blocked) blocked {
	if at := v.coolsAt(now); !at.IsZero() {
		return blocked{coolingDown, why.message, at}
	}
	return why
}

// cooledDown reports whether the scheduler must hear that clusters may be chosen again.
func (v *view) cooledDown(now time.Time) bool {
	return v.past != nil && len(v.past.cooling) > 0 && !slices.Equal(v.past.cooling, v.coolingAt(now))
}
