package messages

import "time"

// ObjectApplied says that people applied a manifest and it was admitted.
type ObjectApplied struct {
	// Object is "Deployment default/nginx".
	Object string `json:"object"`
	// Created is false where the object was there before.
	Created bool `json:"created,omitempty"`
}

// ObjectDeleted says that people deleted an object.
type ObjectDeleted struct {
	Object string `json:"object"`
}

// ObjectExpired says that an object's work was done long enough ago for it to be deleted by itself.
type ObjectExpired struct {
	Object string `json:"object"`
	// After is for how long it outlived its work.
	After time.Duration `json:"-"`
}

// ObjectRejected says that a manifest was refused, with every reason; nothing changed.
type ObjectRejected struct {
	Object   string   `json:"object"`
	Problems []string `json:"problems"`
}

// Scaled says that people changed a workload's replicas.
type Scaled struct {
	Object   string `json:"object"`
	Replicas int32  `json:"replicas"`
	Before   int32  `json:"before"`
}

// SettingChanged says that a setting holds from now on.
type SettingChanged struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// Crashed says that the engine's process died: its machines are gone, and what was on its way between them.
type Crashed struct{}

// ClockStepped says that the engine's clock was set: ahead, which makes all due immediately that would have
// been meanwhile, or back (negative), which makes its time stand still for so long.
type ClockStepped struct {
	By time.Duration `json:"-"`
}

// Restarted says that the engine lost its memory and recovered from its objects.
type Restarted struct{}

// OverridesAwaited says which of its dependentOverrides a propagation policy waits for before it gives
// anything to what it selects; none: it waits no more.
type OverridesAwaited struct {
	Policy    PropagationName `json:"policy"`
	Overrides []string        `json:"overrides,omitempty"`
}

func (*ObjectApplied) Kind() string    { return "ObjectApplied" }
func (*ObjectDeleted) Kind() string    { return "ObjectDeleted" }
func (*ObjectExpired) Kind() string    { return "ObjectExpired" }
func (*ObjectRejected) Kind() string   { return "ObjectRejected" }
func (*Scaled) Kind() string           { return "Scaled" }
func (*SettingChanged) Kind() string   { return "SettingChanged" }
func (*OverridesAwaited) Kind() string { return "OverridesAwaited" }
func (*Crashed) Kind() string          { return "Crashed" }
func (*ClockStepped) Kind() string     { return "ClockStepped" }
func (*Restarted) Kind() string        { return "Restarted" }

// OutageBegan says that an outage of a cluster began: what really happens there, whatever the engine hears of it.
type OutageBegan struct {
	Cluster ClusterName `json:"cluster"`
	Outage  OutageKind  `json:"outage"`
	// Until is when it ends; zero: not within the run.
	Until time.Time `json:"until,omitzero"`
}

// OutageEnded says that an outage of a cluster is over.
type OutageEnded struct {
	Cluster ClusterName `json:"cluster"`
	Outage  OutageKind  `json:"outage"`
}

// AvailabilityChanged says how many replicas of a copy serve users from now on, whatever its cluster reports.
type AvailabilityChanged struct {
	Binding   BindingName `json:"binding"`
	Cluster   ClusterName `json:"cluster"`
	Available int32       `json:"available"`
	Before    int32       `json:"before"`
	// Outage is the outage that replicas were lost by; empty: none were, or otherwise.
	Outage OutageKind `json:"outage,omitempty"`
}

func (*OutageBegan) Kind() string         { return "OutageBegan" }
func (*OutageEnded) Kind() string         { return "OutageEnded" }
func (*AvailabilityChanged) Kind() string { return "AvailabilityChanged" }

func (f *AvailabilityChanged) AboutBinding() BindingName { return f.Binding }

func (f *OutageBegan) AboutCluster() ClusterName         { return f.Cluster }
func (f *OutageEnded) AboutCluster() ClusterName         { return f.Cluster }
func (f *AvailabilityChanged) AboutCluster() ClusterName { return f.Cluster }
