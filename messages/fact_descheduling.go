package messages

import (
	"time"

	"leeward/messages/api"
)

// UnschedulableChanged says how many replicas of its copy a cluster cannot start.
type UnschedulableChanged struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	// Waiting are all that wait, on any cluster.
	Waiting []api.UnschedulableReplicas `json:"-"`
}

// BindingDescheduled says that a cluster gives up replicas that it could not start for too long.
type BindingDescheduled struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	Before   int32       `json:"before"`
	// Since is when the first of them was found to wait.
	Since    time.Time           `json:"since"`
	Clusters []api.TargetCluster `json:"clusters"`
	// Waiting are all that wait still, on any cluster.
	Waiting []api.UnschedulableReplicas `json:"-"`
}

func (*UnschedulableChanged) Kind() string { return "UnschedulableChanged" }
func (*BindingDescheduled) Kind() string   { return "BindingDescheduled" }

func (f *UnschedulableChanged) AboutBinding() BindingName { return f.Binding }
func (f *BindingDescheduled) AboutBinding() BindingName   { return f.Binding }

func (f *UnschedulableChanged) AboutCluster() ClusterName { return f.Cluster }
func (f *BindingDescheduled) AboutCluster() ClusterName   { return f.Cluster }
