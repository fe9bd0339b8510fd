package messages

import "time"

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
