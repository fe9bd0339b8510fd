package messages

import (
	"time"

	"leeward/messages/api"
)

// GovernorChanged says that evictions from a region, or from the fleet where no region is named, are governed
// otherwise from now on.
type GovernorChanged struct {
	Region  string `json:"region,omitempty"`
	State   string `json:"state"`
	Message string `json:"message"`
	// EvictionsPerSecond is the rate that the state sets; zero: no evictions; nil: it sets none.
	EvictionsPerSecond *float64 `json:"evictionsPerSecond,omitempty"`
	// Until is when the state ends by itself; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

// BreakerChanged says that the breaker of a region, of the workloads of a priority, or of the fleet where neither is
// named, is in another state.
type BreakerChanged struct {
	Region   string `json:"region,omitempty"`
	Priority *int32 `json:"priority,omitempty"`
	State    string `json:"state"`
	Message  string `json:"message"`
	// Moved is how many were permitted to go within the window, of all Copies that there were in it.
	Moved  int `json:"moved"`
	Copies int `json:"copies"`
	// Until is when the state ends by itself; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

// EvictionsPermitted says who may leave which cluster from now on, where a rate or a breaker counts that, and how
// far these have come by it. Timelines omit it.
type EvictionsPermitted struct {
	Permits []Permit `json:"permits"`
	// Returned are those of the instant that were given back for want of a destination: they count no longer.
	Returned []Permit `json:"returned,omitempty"`
	// Counts are those that the permits changed.
	Counts []api.PermitCount `json:"counts"`
}

// StartsCounted says how starts fare on a cluster where some failed of late: how many may be under way at the same time, why, and
// until when. Timelines omit what changes nothing of that.
type StartsCounted struct {
	api.StartBackoff
	// Limits is set where another number may be under way from now on, or for another time.
	Limits bool `json:"limits,omitempty"`
}

// Permit lets a binding leave a cluster.
type Permit struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Priority int32       `json:"priority,omitempty"`
}

func (*GovernorChanged) Kind() string { return "GovernorChanged" }
func (*BreakerChanged) Kind() string  { return "BreakerChanged" }
func (*StartsCounted) Kind() string   { return "StartsCounted" }

func (f *StartsCounted) AboutCluster() ClusterName { return ClusterName(f.Cluster) }

func (*EvictionsPermitted) Kind() string { return "EvictionsPermitted" }

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

// BudgetChanged says the state of a budget from now on.
type BudgetChanged struct {
	Budget BudgetName               `json:"budget"`
	Status api.EvictionBudgetStatus `json:"status"`
}

// BudgetExceeded says that an eviction was permitted against a budget, because people want it so.
type BudgetExceeded struct {
	Budget  BudgetName  `json:"budget"`
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	// AllowedBy is what carries the permission, "its resource", "its binding" or "cluster e1", Reason what they gave, Message what
	// the budget had against it.
	AllowedBy string `json:"allowedBy"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

func (*BudgetChanged) Kind() string  { return "BudgetChanged" }
func (*BudgetExceeded) Kind() string { return "BudgetExceeded" }

func (f *BudgetExceeded) AboutBinding() BindingName { return f.Binding }
func (f *BudgetExceeded) AboutCluster() ClusterName { return f.Cluster }
