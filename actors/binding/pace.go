package binding

import (
	"fmt"
	"slices"
	"time"

	"leeward/actors"
	"leeward/actors/rules/eviction"
	"leeward/messages"
	"leeward/messages/api"
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

// hops are the latest application failovers, oldest first.
func (b *Binding) hops() []hop {
	if b.past == nil {
		return nil
	}
	return b.past.hops
}

// Reasons of holds that time ends.
const (
	hopLimit    = "HopLimit"
	coolingDown = "CoolingDown"
)

// pace is what bounds the binding's application failovers: the policy's, or the settings'.
func (b *Binding) pace() (limit int, window, cooldown time.Duration) {
	limit, window, cooldown = b.settings.ApplicationFailoverLimit, b.settings.ApplicationFailoverWindow, b.settings.ApplicationCooldown
	if b.spec.Failover == nil || b.spec.Failover.Application == nil || b.spec.Failover.Application.Pace == nil {
		return limit, window, cooldown
	}
	p := b.spec.Failover.Application.Pace
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
func (b *Binding) hopped(now time.Time, k *task) {
	if k.Reason != api.EvictionReasonApplicationFailure {
		return
	}
	b.hop(hop{from: messages.ClusterName(k.FromCluster), at: now})
}

// hop adds an application failover to those that are remembered.
func (b *Binding) hop(h hop) {
	p := b.remembers()
	hops := append(p.hops, h)
	p.hops = hops[max(0, len(hops)-eviction.Remembered):]
}

// remembers returns the past, new if there was none.
func (b *Binding) remembers() *past {
	if b.past == nil {
		b.past = &past{}
	}
	return b.past
}

// leftInNoTime notes a task that ends in the instant in which it began, where the scheduler may bring the binding
// back to a cluster that it must leave, and that is noticed at once.
func (b *Binding) leftInNoTime(now time.Time, k *task) {
	if b.settings.PlacementHonoursDeadlines || b.settings.TaintRelistPeriod > 0 || k.CreationTimestamp.Time.Before(b.taskTime(now).Time) {
		return
	}
	p := b.remembers()
	p.left = append(slices.DeleteFunc(p.left, func(l hop) bool { return l.at.Before(now) }), hop{messages.ClusterName(k.FromCluster), now})
}

// goesRound reports whether the binding has left a cluster in this instant already. None is left twice in one for a
// taint, or what returns at once would go round in circles in no time.
func (b *Binding) goesRound(now time.Time, c messages.ClusterName) bool {
	return b.past != nil && slices.Contains(b.past.left, hop{c, now})
}

// nextTry is when what goes round in circles may go on.
func nextTry(now time.Time) time.Time { return now.Add(time.Second) }

// restoreHops takes over the application failovers of a stored history.
func (b *Binding) restoreHops(history []api.FailoverRecord) {
	b.past = nil
	for i := range history {
		if r := &history[i]; r.Reason == api.EvictionReasonApplicationFailure {
			b.hop(hop{from: messages.ClusterName(r.FromCluster), at: r.StartTime.Time})
		}
	}
}

// failOver goes on with an application failover that is due, unless it is one too many.
func (b *Binding) failOver(now time.Time, t *target, out *actors.Outbox) {
	if next := b.paced(now, t, t.leave); next.at.After(now) {
		b.putOff(t, next, out)
		return
	}
	if t.leave.held.reason == hopLimit {
		t.leave.held = hold{}
	}
	b.depart(now, t, out)
}

// paced puts off what is due for a target's health while there were as many failovers as may be within
// the window. One that is under way already stays so.
func (b *Binding) paced(now time.Time, t *target, l leave) leave {
	if l.at.IsZero() || l.at.After(now) || sickAndGoing(t) {
		return l
	}
	limit, window, _ := b.pace()
	next := eviction.NextFailover(b.hopTimes(t), limit, window)
	if next.After(now) {
		l.at = next
		l.held = hold{hopLimit, fmt.Sprintf("no more than %d application failovers within %s", limit, window), next}
	} else if slices.Contains(b.hops(), hop{t.cluster, now}) {
		l.at = nextTry(now) // as a copy that starts would go round, too
	}
	return l
}

// sickAndGoing reports whether a target is being left for its health, and only waits for a permit or a destination.
func sickAndGoing(t *target) bool {
	return t.leave.due && t.leave.sick()
}

// hopTimes are when failovers started, and when those of other targets came due that wait for a destination.
func (b *Binding) hopTimes(except *target) []time.Time {
	var times []time.Time
	for _, h := range b.hops() {
		times = append(times, h.at)
	}
	for i := range b.targets {
		if t := &b.targets[i]; t.cluster != except.cluster && sickAndGoing(t) {
			times = append(times, t.leave.at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times
}

// putOff makes a departure wait for its time and says so, if that is news.
func (b *Binding) putOff(t *target, next leave, out *actors.Outbox) {
	why := next.held
	next.held = t.leave.held
	if b.restoring {
		next.held = why
	}
	t.leave = next
	b.heldBack(t, why, nil, out)
}

// hopFreed has those that were one too many look again, because one of those before them stays, or goes for a taint.
func (b *Binding) hopFreed(now time.Time) {
	for i := range b.targets {
		if l := &b.targets[i].leave; l.held.reason == hopLimit && !l.due {
			l.at = now
		}
	}
}

// coolingAt are the clusters that the binding left for its sickness less than the cool-down ago.
func (b *Binding) coolingAt(now time.Time) []messages.ClusterName {
	_, _, cooldown := b.pace()
	var clusters []messages.ClusterName
	for _, h := range b.hops() {
		if h.at.Add(cooldown).After(now) && b.target(h.from) == nil && b.task(h.from) == nil && !slices.Contains(clusters, h.from) {
			clusters = append(clusters, h.from)
		}
	}
	return clusters
}

// coolsAt is when the first of the clusters that cool down has done so; zero without any.
func (b *Binding) coolsAt(now time.Time) (first time.Time) {
	if b.past == nil {
		return time.Time{}
	}
	_, _, cooldown := b.pace()
	cooling := b.coolingAt(now)
	for _, h := range b.hops() {
		if end := h.at.Add(cooldown); end.After(now) && slices.Contains(cooling, h.from) {
			first = actors.Earlier(first, end)
		}
	}
	return first
}

// coolDown tells the scheduler which clusters may be chosen again.
func (b *Binding) coolDown(now time.Time, out *actors.Outbox) {
	if b.past != nil && len(b.past.cooling) > 0 && !slices.Equal(b.past.cooling, b.coolingAt(now)) {
		b.ask(now, out)
	}
}

// keepClear are the clusters that the scheduler is to keep clear of, which is noted.
func (b *Binding) keepClear(now time.Time) []messages.ClusterName {
	if b.past == nil {
		return nil
	}
	b.past.cooling = b.coolingAt(now)
	return b.past.cooling
}

// rests says of a departure without a destination that clusters cool down, and until when, if they do.
func (b *Binding) rests(now time.Time, why hold) hold {
	if at := b.coolsAt(now); !at.IsZero() {
		return hold{coolingDown, why.message, at}
	}
	return why
}
