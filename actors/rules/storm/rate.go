// Package storm holds the rules that keep a storm of failures from becoming a storm of moves: how many
// evictions may go in a span of time, and what the share of failed clusters says of the fleet.
package storm

import "time"

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
