package messages

import "time"

// HoldScope says whose evictions people hold: those of one binding, those from one cluster, or, where it
// names neither, all.
type HoldScope struct {
	Binding BindingName `json:"binding,omitempty"`
	Cluster ClusterName `json:"cluster,omitempty"`
}

// Scope returns the scope, for those that embed it.
func (s HoldScope) Scope() HoldScope { return s }

// HoldChanged carries people's word that evictions wait, or that they need not any more. It replaces what they
// said of the same scope before. From: ingress. To: governor.
type HoldChanged struct {
	HoldScope
	// Reason: empty ends the hold.
	Reason string
	// Until is when it ends by itself; zero: it does not.
	Until time.Time
}

// ReleaseChanged carries people's word that evictions of a binding wait for nothing. From: ingress. To: governor.
type ReleaseChanged struct {
	Binding BindingName
	// Reason: empty ends the release.
	Reason string
}

// HoldsAnnounced says whether people hold any evictions: then all who are to leave a cluster ask first, for
// whatever reason they leave. From: ingress. To: every binding.
type HoldsAnnounced struct{ Held bool }

// ReturnsHeld says whether workloads within a scope may return by themselves to where they were. From: governor.
// To: scheduler.
type ReturnsHeld struct {
	HoldScope
	Held bool
}

func (*HoldChanged) toGovernor()    {}
func (*ReleaseChanged) toGovernor() {}
func (*HoldsAnnounced) toBinding()  {}
func (*ReturnsHeld) toScheduler()   {}
