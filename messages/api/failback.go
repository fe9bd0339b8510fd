package api

import "time"

// FailbackMode says whether a workload returns by itself to where its policy wants it first.
type FailbackMode string

// The failback modes; empty is FailbackNever. A WorkloadRebalancer asks for a return by hand in either.
const (
	FailbackNever     FailbackMode = "Never"
	FailbackAutomatic FailbackMode = "Automatic"
)

// Failback says when a workload that runs in a later affinity group returns to an earlier one: once that
// has been able to take all of it for the whole of StabilizationSeconds. The copies in the later group go
// when those in the earlier one are healthy. Leeward's own.
type Failback struct {
	Mode FailbackMode `json:"mode,omitempty"`
	// StabilizationSeconds is 300 where it is left out.
	StabilizationSeconds *int32 `json:"stabilizationSeconds,omitempty"`
}

// Stabilization returns for how long an earlier group must have been able to take the workload.
func (f *Failback) Stabilization() time.Duration {
	if f.StabilizationSeconds == nil {
		return 5 * time.Minute
	}
	return time.Duration(*f.StabilizationSeconds) * time.Second
}
