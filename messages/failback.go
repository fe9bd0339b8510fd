package messages

import (
	"time"

	"leeward/messages/api"
)

// FailbackState is what a binding tells the scheduler of its failback.
type FailbackState struct {
	// ToGroup is set where the policy lets the workload return to an earlier affinity group; MayReturn is what
	// the binding last heard of that, ReturnDue is set when it asks to go.
	ToGroup, MayReturn, ReturnDue bool
	// Shares are what clusters ran before the first of them failed, in the order of their names.
	Shares []PreferredShare
	// Returning is set while a return is under way.
	Returning bool
}

// PreferredShare is what one preferred cluster ran before the eviction.
type PreferredShare struct {
	api.TargetCluster
	// Able is what the binding last heard of whether the cluster can take it again, Due is set when it asks for
	// it to be given back.
	Able, Due bool
	// Kept is set while the cluster runs its old copy.
	Kept bool
}

// ReturnJudged says whether an earlier affinity group than the one in use can take the workload, or whether a
// cluster of its home can take its share. From: scheduler, when that changes. To: bindings that may return.
type ReturnJudged struct {
	Possible bool
	// Affinity is the earlier group, Cluster the one of home; one of the two is empty.
	Affinity string
	Cluster  ClusterName
}

func (*ReturnJudged) toBinding() {}

// FailbackScheduled says that an earlier affinity group can take a workload again, and when it will return if
// that stays so.
type FailbackScheduled struct {
	Binding  BindingName `json:"binding"`
	Affinity string      `json:"affinity"`
	At       time.Time   `json:"-"`
}

// FailbackCancelled says that the earlier group cannot take the workload after all.
type FailbackCancelled struct {
	Binding BindingName `json:"binding"`
}

// FailbackStarted says that a workload returns to an earlier affinity group, or to clusters that it was
// evicted from.
type FailbackStarted struct {
	Binding  BindingName `json:"binding"`
	Affinity string      `json:"affinity,omitempty"`
	// Clusters have back what they ran before the eviction.
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

// FailbackTargetsChanged says where a workload ran before it had to leave the first cluster for a failure, which is where
// it may return to; without Clusters, that it is there again or has no such place any more.
type FailbackTargetsChanged struct {
	Binding  BindingName         `json:"binding"`
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

// ShareFailbackScheduled says that a cluster can take again what it ran before the eviction, and when that will return if it
// stays so.
type ShareFailbackScheduled struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	At      time.Time   `json:"-"`
}

// ShareFailbackCancelled says that the cluster cannot take it after all.
type ShareFailbackCancelled struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// OriginalKept says that a cluster which was cut off came back with its old copy, and that the copy runs on
// until it is judged whether it takes its place back.
type OriginalKept struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
}

// OriginalReleased says that the replacement of such a copy stays, and why.
type OriginalReleased struct {
	Binding BindingName `json:"binding"`
	Cluster ClusterName `json:"cluster"`
	Message string      `json:"message"`
}

// ScaleDownBlocked says that clusters which are to run fewer replicas run on what they have until those that gain
// them serve.
type ScaleDownBlocked struct {
	Binding BindingName `json:"binding"`
	// Reason is that of the tasks which would be written for clusters that are evicted from.
	Reason string `json:"reason"`
	// Clusters say how many replicas each goes on running.
	Clusters []api.TargetCluster `json:"clusters"`
}

// ScaleDownEnded says that clusters shrink to their shares now. The reason is that of an EvictionEnded.
type ScaleDownEnded struct {
	Binding BindingName `json:"binding"`
	Reason  string      `json:"reason"`
	// After is how long they ran on.
	After time.Duration `json:"-"`
}

func (*FailbackScheduled) Kind() string      { return "FailbackScheduled" }
func (*FailbackCancelled) Kind() string      { return "FailbackCancelled" }
func (*FailbackStarted) Kind() string        { return "FailbackStarted" }
func (*FailbackTargetsChanged) Kind() string { return "FailbackTargetsChanged" }
func (*ShareFailbackScheduled) Kind() string { return "ShareFailbackScheduled" }
func (*ShareFailbackCancelled) Kind() string { return "ShareFailbackCancelled" }
func (*ScaleDownBlocked) Kind() string       { return "ScaleDownBlocked" }
func (*ScaleDownEnded) Kind() string         { return "ScaleDownEnded" }

func (f *FailbackScheduled) AboutBinding() BindingName      { return f.Binding }
func (f *FailbackCancelled) AboutBinding() BindingName      { return f.Binding }
func (f *FailbackStarted) AboutBinding() BindingName        { return f.Binding }
func (f *FailbackTargetsChanged) AboutBinding() BindingName { return f.Binding }
func (f *ShareFailbackScheduled) AboutBinding() BindingName { return f.Binding }
func (f *ShareFailbackCancelled) AboutBinding() BindingName { return f.Binding }
func (f *ScaleDownBlocked) AboutBinding() BindingName       { return f.Binding }
func (f *ScaleDownEnded) AboutBinding() BindingName         { return f.Binding }

func (f *ShareFailbackScheduled) AboutCluster() ClusterName { return f.Cluster }
func (f *ShareFailbackCancelled) AboutCluster() ClusterName { return f.Cluster }

func (*OriginalKept) Kind() string     { return "OriginalKept" }
func (*OriginalReleased) Kind() string { return "OriginalReleased" }

func (f *OriginalKept) AboutBinding() BindingName     { return f.Binding }
func (f *OriginalReleased) AboutBinding() BindingName { return f.Binding }

func (f *OriginalKept) AboutCluster() ClusterName     { return f.Cluster }
func (f *OriginalReleased) AboutCluster() ClusterName { return f.Cluster }
