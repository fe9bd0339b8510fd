package messages

import (
	"time"

	"leeward/messages/api"
)

// ToGovernor is what the governor understands.
type ToGovernor interface{ toGovernor() }

// RequestEviction asks for a permit to leave a cluster. Requests of one instant are served in order
// of priority, waiting time, binding and cluster. From: binding. To: governor.
type RequestEviction struct {
	Binding  BindingName
	Cluster  ClusterName
	Priority int32
	// Since is the deadline that has passed.
	Since time.Time
	// Unlimited is set where no limit is meant for it: it waits only where people hold it.
	Unlimited bool
	// Told is set where the binding says what it waits for, and must hear when that is over.
	Told bool
}

// WithdrawRequest takes a request back. From: binding. To: governor.
type WithdrawRequest struct {
	Binding BindingName
	Cluster ClusterName
}

// PermitReturned gives a permit back in its instant, for it could not be used: there is no destination.
// From: binding. To: governor.
type PermitReturned struct {
	Binding BindingName
	Cluster ClusterName
}

// ClusterObserved says in which region a cluster is, if in any, and whether it is anything but Ready.
// From: cluster. To: governor.
type ClusterObserved struct {
	Cluster   ClusterName
	Region    string
	Unhealthy bool
}

// CopiesCounted says how many copies are placed on clusters, and how many of workloads of one priority: of those
// for which that changed. The first says that counting has begun. From: scheduler. To: governor.
type CopiesCounted struct {
	Clusters   []ClusterCopies
	Priorities []PriorityCopies
}

// ClusterCopies is how many copies are placed on a cluster.
type ClusterCopies struct {
	Cluster ClusterName
	Copies  int
}

// PriorityCopies is how many copies of workloads of a priority are placed.
type PriorityCopies struct {
	Priority int32
	Copies   int
}

// TrialConcluded says how an eviction on trial ended: whether the workload serves, elsewhere or, because it need
// not go after all, where it was. From: binding. To: governor.
type TrialConcluded struct {
	Binding BindingName
	Cluster ClusterName
	Serves  bool
}

// StartFailed says that a copy did not become healthy in the time for its handover, or was given up before it was.
// From: binding. To: governor.
type StartFailed struct {
	Binding BindingName
	Cluster ClusterName
	// Began is when the handover did.
	Began time.Time
}

// StartsSucceeded names the clusters that back off and on which a copy became healthy all the same.
// From: scheduler. To: governor.
type StartsSucceeded struct{ Clusters []ClusterName }

// GovernorRestored tells a new governor the state before. From: the host, after a restart. To: governor.
type GovernorRestored struct{ Status *api.GovernorStatus }

// SettingsChanged carries the settings that hold from now on. From: ingress. To: every machine.
type SettingsChanged struct{ Settings Settings }

func (*RequestEviction) toGovernor()  {}
func (*WithdrawRequest) toGovernor()  {}
func (*PermitReturned) toGovernor()   {}
func (*ClusterObserved) toGovernor()  {}
func (*ClusterGone) toGovernor()      {}
func (*CopiesCounted) toGovernor()    {}
func (*TrialConcluded) toGovernor()   {}
func (*StartFailed) toGovernor()      {}
func (*StartsSucceeded) toGovernor()  {}
func (*GovernorRestored) toGovernor() {}
func (*SettingsChanged) toGovernor()  {}
func (*Woken) toGovernor()            {}

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
