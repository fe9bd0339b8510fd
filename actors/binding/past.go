package binding

import (
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
	// left are the latest evictions that ended in the instant in which they began, where the binding may return in that instant, too.
	left []hop
	// shown are the evictions that the status had at a restart, for the instant of it.
	shown []api.Eviction
}

// hop is one failover of the binding.
type hop struct {
	from messages.ClusterName
	at   time.Time
}

// Reasons that time ends.
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

// hop adds an application failover to those that are remembered.
func (p *past) hop(h hop) {
	hops := append(p.hops, h)
	p.hops = hops[max(0, len(hops)-eviction.Remembered):]
}

// leaveInNoTime notes that an eviction from a cluster ended in the instant in which it began, where the scheduler may bring the binding
// back to it, and that it must be evicted again is noticed immediately.
func (p *past) leaveInNoTime(now time.Time, c messages.ClusterName) {
	p.left = append(slices.DeleteFunc(p.left, func(l hop) bool { return l.at.Before(now) }), hop{c, now})
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

// rests says of an eviction without a destination that clusters cool down, and until when, if they do.
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
