package api

import (
	"time"
)

// FailbackMode says whether a workload returns by itself to where its policy wants it first.
type FailbackMode string

// The failback modes; empty is FailbackNever. A WorkloadRebalancer asks for a return by hand in either.
const (
	FailbackNever     FailbackMode = "Never"
	FailbackAutomatic FailbackMode = "Automatic"
)

// Failback says when a workload returns to where it was: from a later affinity group to an earlier one, once
// that has been able to take all of it for the whole of StabilizationSeconds; within a group to each cluster
// that it was evicted from, once that has been able to take for as long what it ran. What takes its place
// meanwhile goes, or shrinks, when the copies on the preferred clusters are healthy. Leeward's own.
type Failback struct {
	Mode FailbackMode `json:"mode,omitempty"`
	// StabilizationSeconds counts for a group as a whole, or for each cluster by itself. It is 300 where it is omitted.
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
}

// Stabilization returns for how long an earlier group must have been able to take the workload.
func (f *Failback) Stabilization() time.Duration {
	if f.StabilizationSeconds == nil {
		return 5 * time.Minute
	}
	return time.Duration(*f.StabilizationSeconds) * time.Second
}

// Handover says how an old copy gives way to its replacement. Leeward's own.
type Handover string

// The ways of handing over; empty is HandoverWhole, as in Karmada. Gradually is for PurgeGracefully only.
const (
	// HandoverWhole keeps the old copy as it is until its whole replacement is healthy.
	HandoverWhole Handover = "Whole"
	// HandoverGradual takes replicas off the old copy as others begin to serve in their place.
	HandoverGradual Handover = "Gradual"
)

// ReconnectStrategy says who stays when a cluster that was cut off, and left for that, comes back with its old
// copy. Empty: the setting withdrawOnRecovery decides while the handover is under way, and after it the
// replacement stays. Leeward's own.
type ReconnectStrategy string

// The reconnect strategies.
const (
	// ReconnectKeepReplacement removes the old copy, as Karmada does.
	ReconnectKeepReplacement ReconnectStrategy = "KeepReplacement"
	// ReconnectKeepOriginal gives the old copy its place back, if it is healthy.
	ReconnectKeepOriginal ReconnectStrategy = "KeepOriginal"
	// ReconnectKeepHealthiest does so if it has at least as many replicas ready as took its place.
	ReconnectKeepHealthiest ReconnectStrategy = "KeepHealthiest"
)
