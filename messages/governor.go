package messages

import "time"

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
}

// WithdrawRequest takes a request back. From: binding. To: governor.
type WithdrawRequest struct {
	Binding BindingName
	Cluster ClusterName
}

// ClusterObserved says in which region a cluster is, if in any. From: cluster. To: governor.
type ClusterObserved struct {
	Cluster ClusterName
	Region  string
}

// SettingsChanged carries the settings that hold from now on. From: ingress. To: every machine.
type SettingsChanged struct{ Settings Settings }

func (*RequestEviction) message() {}
func (*WithdrawRequest) message() {}
func (*ClusterObserved) message() {}
func (*SettingsChanged) message() {}

func (*RequestEviction) toGovernor() {}
func (*WithdrawRequest) toGovernor() {}
func (*ClusterObserved) toGovernor() {}
func (*SettingsChanged) toGovernor() {}
func (*Woken) toGovernor()           {}
