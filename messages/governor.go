package messages

import (
	"time"

	"leeward/messages/api"
)

// ToGovernor is what the governor understands.
type ToGovernor interface {
	Message
	toGovernor()
}

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
}

// WithdrawRequest takes a request back. From: binding. To: governor.
type WithdrawRequest struct {
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

// GovernorRestored tells a new governor how things stood. From: the host, after a restart. To: governor.
type GovernorRestored struct{ Status *api.GovernorStatus }

// SettingsChanged carries the settings that hold from now on. From: ingress. To: every machine.
type SettingsChanged struct{ Settings Settings }

func (*RequestEviction) message()  {}
func (*WithdrawRequest) message()  {}
func (*ClusterObserved) message()  {}
func (*GovernorRestored) message() {}
func (*SettingsChanged) message()  {}

func (*RequestEviction) toGovernor()  {}
func (*WithdrawRequest) toGovernor()  {}
func (*ClusterObserved) toGovernor()  {}
func (*ClusterGone) toGovernor()      {}
func (*GovernorRestored) toGovernor() {}
func (*SettingsChanged) toGovernor()  {}
func (*Woken) toGovernor()            {}
