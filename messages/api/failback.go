package api

import "time"

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
