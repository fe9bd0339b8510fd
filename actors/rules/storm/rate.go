// Package storm holds the rules that keep a storm of failures from becoming a storm of moves: how many
// evictions may go in a span of time, and what the share of failed clusters says of the fleet.
package storm

import (
	"time"
)

// Rate is so many evictions a second, in bursts of up to Burst. No evictions a second: no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Limits reports whether there is a limit at all.
func (r Rate) Limits() bool { return r.PerSecond > 0 }

// interval is the time that one eviction takes.
func (r Rate) interval() time.Duration { return time.Duration(float64(time.Second) / r.PerSecond) }

// LatencyBucket counts evictions against a rate. It holds an instant and no count, so that nothing has to be
// filled up as time goes by: it is when the evictions so far are all paid for. The zero Bucket is full.
type Bucket struct{ paid time.Time }

// PaidUntil returns the bucket of evictions that are paid for at an instant.
func PaidUntil(paid time.Time) Bucket { return Bucket{paid} }

// Paid is when the evictions so far are paid for; zero: there were none.
func (b *Bucket) Paid() time.Time { return b.paid }

// FreeAt is when the next eviction may go, at the earliest now. Evictions that went at a lower rate are
// charged at this one from now on.
func (b *Bucket) FreeAt(now time.Time, r Rate) time.Time {
	if !r.Limits() {
		return now
	}
	step, burst := r.interval(), time.Duration(max(r.Burst, 1))
	if most := now.Add(burst * step); b.paid.After(most) {
		b.paid = most
	}
	if free := b.paid.Add(-(burst - 1) * step); free.After(now) {
		return free
	}
	return now
}

// Take charges for an eviction that goes now.
func (b *Bucket) Take(now time.Time, r Rate) {
	if !r.Limits() {
		return
	}
	if b.paid.Before(now) {
		b.paid = now
	}
	b.paid = b.paid.Add(r.interval())
}

// Return takes back the charge for an eviction that did not go.
func (b *Bucket) Return(r Rate) {
	if r.Limits() {
		b.paid = b.paid.Add(-r.interval())
	}
}

// State says how the clusters of a fleet, or of a region, fare as a whole.
type State string

// The states. Source: Kubernetes' node lifecycle controller, whose zones are Normal, PartialDisruption or
// FullDisruption; a fleet without a sound cluster is its "master disruption".
const (
	// Normal: evictions go at their full rates.
	Normal State = "Normal"
	// Partial: so many clusters are unhealthy that evictions slow down, or stop where clusters are few.
	Partial State = "PartialDisruption"
	// Full: all clusters of a region are unhealthy while others are not. It is evicted from at the full rates.
	Full State = "FullDisruption"
	// Blackout: the fleet seems to be down, so the observer is taken to be blind. Nothing is evicted.
	Blackout State = "Blackout"
	// Cooldown: evictions still go slowly, because a short time ago they had to be slowed.
	Cooldown State = "Cooldown"
)

// Thresholds say which share of unhealthy clusters means what.
type Thresholds struct {
	// Unhealthy is the share from which on the disruption is partial, if more than two clusters are
	// unhealthy. Zero: it never is.
	Unhealthy float64
	// Large is the number of clusters above which a partial disruption slows evictions to Secondary, a
	// second; up to it they stop.
	Large     int
	Secondary float64
	// Blackout is the share from which on a fleet of more than one cluster is not believed to be down. Zero:
	// it always is.
	Blackout float64
	// Cooldown is how long evictions go on at Secondary once they need no longer be slowed.
	Cooldown time.Duration
	// Region is set where there is a fleet around the clusters.
	Region bool
}

// Regime is a state and what it does to evictions.
type Regime struct {
	State State
	// Until is the end of a cooldown.
	Until time.Time
	// Limited is set where no more than PerSecond evictions go; zero: none at all.
	Limited   bool
	PerSecond float64
}

// Stops reports whether no evictions.
func (v Regime) Stops() bool { return v.Limited && v.PerSecond == 0 }

// Judge returns the regime that follows on another now that so many of all clusters are unhealthy.
func Judge(before Regime, unhealthy, all int, t Thresholds, now time.Time) Regime {
	slow := Regime{State: Cooldown, Limited: true, PerSecond: t.Secondary}
	switch {
	case t.Blackout > 0 && all > 1 && reaches(unhealthy, all, t.Blackout):
		return Regime{State: Blackout, Limited: true}
	case t.Region && t.Unhealthy > 0 && all > 0 && unhealthy == all:
		return Regime{State: Full}
	case t.Unhealthy > 0 && unhealthy > 2 && reaches(unhealthy, all, t.Unhealthy):
		return partial(all, t)
	case before.State == Cooldown && before.Until.After(now):
		slow.Until = before.Until
		return slow
	case before.State != Cooldown && before.Limited && t.Cooldown > 0:
		slow.Until = now.Add(t.Cooldown)
		return slow
	default:
		return Regime{State: Normal}
	}
}

func partial(all int, t Thresholds) Regime {
	v := Regime{State: Partial, Limited: true}
	if all > t.Large {
		v.PerSecond = t.Secondary
	}
	return v
}

func reaches(n, all int, share float64) bool { return float64(n) >= share*float64(all) }
