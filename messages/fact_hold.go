package messages

import "time"

// HoldPlaced says that people have evictions wait: within the scope, whatever the limits.
type HoldPlaced struct {
	HoldScope
	Reason string    `json:"reason"`
	Until  time.Time `json:"until,omitzero"`
}

// HoldEnded says that a hold is over, and why.
type HoldEnded struct {
	HoldScope
	Reason string `json:"reason"`
}

// ReleaseGranted says that evictions of a binding wait for nothing from now on, as people wish.
type ReleaseGranted struct {
	HoldScope
	Reason string `json:"reason"`
}

// ReleaseEnded says that evictions of a binding wait for permits again.
type ReleaseEnded struct{ HoldScope }

// The ends of a hold.
const (
	HoldLifted  = "it was lifted"
	HoldExpired = "its time is over"
)

func (*HoldPlaced) Kind() string     { return "HoldPlaced" }
func (*HoldEnded) Kind() string      { return "HoldEnded" }
func (*ReleaseGranted) Kind() string { return "ReleaseGranted" }
func (*ReleaseEnded) Kind() string   { return "ReleaseEnded" }
