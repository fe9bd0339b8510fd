package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages/api"
)

// ToBinding is what a binding understands.
type ToBinding interface{ toBinding() }

// WorkloadApplied carries the resource that the binding is for, new or changed; or, after a restart, as
// it was: only people's edits bring along what a policy with activationPreference Lazy says now.
// From: ingress. To: its binding.
type WorkloadApplied struct {
	Workload  *Workload
	Recovered bool
}

// WorkloadDeleted ends the binding and every copy. From: ingress. To: its binding.
type WorkloadDeleted struct{}

// ClaimMade says that a policy selects the binding's resource, with all that the policy gives it. A
// binding settles the claims of one instant together: order does not matter.
// From: propagation. To: binding.
type ClaimMade struct {
	Policy PropagationName
	// Life tells a policy from those of its name that were deleted before: the later has the higher.
	Life int
	// ClusterScoped is set for a ClusterPropagationPolicy.
	ClusterScoped bool
	Priority      int32
	// Rank is how closely the selector matched; higher is closer.
	Rank int
	// Preempts takes the resource from a policy of lower priority.
	Preempts bool
	// Waits is set while not all dependentOverrides of the policy exist: it gives nothing, and leaves the
	// resource to no policy that comes after it.
	Waits bool
	Spec  *api.PropagationSpec
}

// ClaimWithdrawn ends a claim. From: propagation. To: binding.
type ClaimWithdrawn struct {
	Policy PropagationName
	// Life is that of the policy whose claim ends: a claim of a later one stays, whichever was heard first.
	Life int
}

// BindingApplied carries a binding's own manifest, or the stored object after a restart.
// From: ingress. To: the binding.
type BindingApplied struct {
	Spec   *api.BindingSpec
	Status *api.BindingStatus
	// Applied is the placement of the annotation policy.karmada.io/applied-placement; nil: none.
	Applied *api.Placement
	// Owner is the policy that has the resource; empty: none.
	Owner PropagationName
	// Recovered is set after a restart.
	Recovered bool
	// Managed is set where the scheduler is to place the binding. Karmada places those only that carry
	// the label of a policy.
	Managed bool
}

// TaintsChanged carries all NoExecute taints of a cluster. From: cluster. To: bindings placed on it.
type TaintsChanged struct {
	Cluster ClusterName
	Taints  []corev1.Taint
	// Causes says of each taint who put it there and why.
	Causes []api.TaintCause
	// Since is when the bindings of the cluster were last looked at: the phase of the re-list.
	Since time.Time
	// News is false where the binding came to the cluster: it was not looked at yet.
	News bool
}

// ConsiderTaints asks whether a binding would have to leave a cluster that had these NoExecute taints. It
// changes nothing, and is answered with TaintsConsidered. From: cluster. To: bindings placed on it.
type ConsiderTaints struct {
	Cluster ClusterName
	// Policy is the ClusterTaintPolicy that would have it so.
	Policy PolicyName
	Taints []corev1.Taint
}

// EvictionPermitted lets the binding leave a cluster now, if it still must.
// From: governor. To: binding.
type EvictionPermitted struct {
	Cluster ClusterName
	// Trial asks for a TrialConcluded.
	Trial bool
}

// ReportTrial asks a binding that left a cluster on trial before a restart for a TrialConcluded.
// From: governor. To: binding.
type ReportTrial struct{ Cluster ClusterName }

// TakeEvictionBack has the binding withdraw an eviction that was decided on and is not committed, for people hold it by now.
// From: ingress. To: binding.
type TakeEvictionBack struct{ Cluster ClusterName }

// EvictionDelayed says why the binding may not leave a cluster yet. From: governor. To: binding.
type EvictionDelayed struct {
	Cluster         ClusterName
	Reason, Message string
	// Until is when that ends by itself; zero: that is not known.
	Until time.Time
}

// PlacementOutcome is what the scheduler came to.
type PlacementOutcome uint8

// The outcomes.
const (
	// PlacementKept says that nothing needs to change.
	PlacementKept PlacementOutcome = iota
	// PlacementChosen carries a new result.
	PlacementChosen
	// PlacementFailed carries a reason; with Cleared the old result is void too.
	PlacementFailed
)

// PlacementDecided answers a PlaceBinding, or follows a change of the fleet.
// From: scheduler. To: binding.
type PlacementDecided struct {
	// Request is the number of the PlaceBinding that this decision rests on; a binding that has sent
	// a newer one ignores it.
	Request uint64
	Outcome PlacementOutcome
	Targets []api.TargetCluster
	// Leaving are the clusters that the binding may leave now because Targets does without them;
	// Held are those that it may not leave yet, because of Obstacle.
	Leaving  []ClusterName
	Held     []ClusterName
	Obstacle *Obstacle
	// Move is why those of Leaving are evicted from by choice: EvictionReasonFailback, EvictionReasonRebalance or
	// EvictionReasonReschedule; clusters that shrink while others grow then run on what they have until those serve.
	Move string
	// Affinity is the name of the affinity group used.
	Affinity string
	// Trigger says why the binding was scheduled.
	Trigger string
	// Reason (Success, NoClusterFit, Unschedulable, QuotaExceeded, SchedulerError) and Message are for the
	// condition Scheduled, whatever is held.
	Reason  string
	Message string
	Cleared bool
	// Missing counts the replicas that have no place in Targets, for the reason given.
	Missing int32
	// Rejections are the clusters that did not fit, for the reason given.
	Rejections []Rejection
}

// DestinationFound says that a placement without some clusters of Seeking is found. Its capacity is reserved until the bindings
// that hear so have asked for leave. From: scheduler. To: binding.
type DestinationFound struct {
	// Request is as in PlacementDecided.
	Request  uint64
	Clusters []ClusterName
}

// Obstacle is why no placement does without some clusters, in the terms of PlacementDecided.
type Obstacle struct {
	Reason, Message string
	Rejections      []Rejection
}

// CopyReported is a cluster's report of its copy. From: member. To: binding.
type CopyReported struct {
	Cluster ClusterName
	Health  api.ResourceHealth
	// Ready counts the replicas that serve, Unschedulable those for which the cluster has no capacity.
	Ready, Unschedulable int32
	// Revision is the version of the pod template that the replicas that serve run; zero: there was only one.
	Revision int32
	// Full is set where the cluster has no capacity for more replicas of this copy.
	Full bool
	// Status is a JSON object that the copy says of itself beside its replicas; empty: nothing.
	Status string
	// Refused says why the cluster does not have what it was told to run; empty: it has.
	Refused string
	// ForPlacement is the RunCopy.Placement that the member was running when it reported.
	ForPlacement int64
	// Kept is set where the copy was to be removed while its cluster was silent, and runs on to be judged.
	Kept bool
}

// CopyRemoved says that a cluster runs no copy any more. From: member. To: binding.
type CopyRemoved struct{ Cluster ClusterName }

// CopyEdited says that a user changed by hand what a cluster was told to run. From: agent. To: binding.
type CopyEdited struct{ Cluster ClusterName }

// CopyLeft says that a copy was found at a start which the stored binding may not tell of: the engine was killed before it was
// removed. From: ingress. To: binding.
type CopyLeft struct{ Cluster ClusterName }

// RescheduleTriggered asks for a fresh placement. From: ingress. To: binding.
type RescheduleTriggered struct {
	At time.Time
	// By names the WorkloadRebalancer.
	By string
}

func (*WorkloadApplied) toBinding()     {}
func (*WorkloadDeleted) toBinding()     {}
func (*ClaimMade) toBinding()           {}
func (*ClaimWithdrawn) toBinding()      {}
func (*BindingApplied) toBinding()      {}
func (*TaintsChanged) toBinding()       {}
func (*ConsiderTaints) toBinding()      {}
func (*EvictionPermitted) toBinding()   {}
func (*ReportTrial) toBinding()         {}
func (*TakeEvictionBack) toBinding()    {}
func (*EvictionDelayed) toBinding()     {}
func (*PlacementDecided) toBinding()    {}
func (*DestinationFound) toBinding()    {}
func (*CopyReported) toBinding()        {}
func (*CopyRemoved) toBinding()         {}
func (*CopyEdited) toBinding()          {}
func (*CopyLeft) toBinding()            {}
func (*RescheduleTriggered) toBinding() {}
func (*SettingsChanged) toBinding()     {}
func (*Woken) toBinding()               {}
