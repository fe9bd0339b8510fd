package node

import (
	"time"

	"leeward/actors"
)

// lease is what is known of the Lease of a node. Renewals are not told one by one: the kubelet says when it begins and when it stops.
type lease struct {
	// beats is set while the kubelet renews it, at from and every so often after it.
	beats bool
	from  time.Time
	every time.Duration
	// last is the last renewal of those before from; zero: there is none.
	last time.Time
}

// renewed returns the last renewal at or before an instant; zero: there is none.
func (l *lease) renewed(at time.Time) time.Time {
	switch {
	case !l.beats || at.Before(l.from):
		return l.last
	case l.every <= 0:
		return at
	}
	return actors.Later(l.last, at.Add(-(at.Sub(l.from) % l.every)))
}

// lapses reports whether a grace period can pass without a renewal.
func (l *lease) lapses(at time.Time, grace time.Duration) bool {
	return !l.beats || at.Before(l.from) || l.every > grace
}
