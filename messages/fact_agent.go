package messages

import (
	"time"

	"leeward/messages/api"
)

// CopyWanted says what a cluster's Work is to ask for: a copy with so many replicas, new or changed.
type CopyWanted struct {
	Binding  BindingName `json:"binding"`
	Cluster  ClusterName `json:"cluster"`
	Replicas int32       `json:"replicas"`
	// Revision is the version of the pod template; zero: there was only one.
	Revision int32 `json:"revision,omitempty"`
	// Placement numbers the wish.
	Placement int64 `json:"-"`
	// Labels carry the state of the copy that a new one takes the place of.
	Labels map[string]string `json:"labels,omitempty"`
}

// CopyUnwanted says that a cluster's Work is to go.
type CopyUnwanted struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	// Preserved is set where what runs continues to run, managed by no binding.
	Preserved bool `json:"preserved,omitempty"`
}

func (*CopyWanted) Kind() string   { return "CopyWanted" }
func (*CopyUnwanted) Kind() string { return "CopyUnwanted" }

func (f *CopyWanted) AboutBinding() BindingName   { return f.Binding }
func (f *CopyUnwanted) AboutBinding() BindingName { return f.Binding }

func (f *CopyWanted) AboutCluster() ClusterName   { return f.Cluster }
func (f *CopyUnwanted) AboutCluster() ClusterName { return f.Cluster }

// DispatchSuspended says that a cluster is not told of a new or changed copy, because dispatching to it is
// suspended.
type DispatchSuspended struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// DispatchResumed says that a cluster is told what its copy must be after all, or that the copy is gone.
type DispatchResumed struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Gone    bool        `json:"gone,omitempty"`
}

func (*DispatchSuspended) Kind() string { return "DispatchSuspended" }
func (*DispatchResumed) Kind() string   { return "DispatchResumed" }

func (f *DispatchSuspended) AboutBinding() BindingName { return f.Binding }
func (f *DispatchResumed) AboutBinding() BindingName   { return f.Binding }

func (f *DispatchSuspended) AboutCluster() ClusterName { return f.Cluster }
func (f *DispatchResumed) AboutCluster() ClusterName   { return f.Cluster }

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
