package messages

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
)

// ToScheduler is what the scheduler understands.
type ToScheduler interface{ toScheduler() }

// ClusterViewed carries a cluster as it now is. From: cluster. To: scheduler.
type ClusterViewed struct {
	View *ClusterView
	// SpecChanged is set where labels, taints or other parts of the spec changed: Karmada looks again
	// at bindings only then.
	SpecChanged bool
}

// ClusterGone says that a cluster left the fleet. From: cluster. To: scheduler.
type ClusterGone struct{ Name ClusterName }

// PlaceBinding carries all that the scheduler must know of a binding, whenever any of it changed;
// it replaces what an earlier one said. The scheduler decides whether that calls for a placement, at
// the end of the instant, in order of priority, waiting time and name.
// From: binding. To: scheduler.
type PlaceBinding struct {
	Binding BindingName
	// Since is when the need arose. By it, the priority and the name requests are served.
	Since time.Time
	// Request counts the binding's requests.
	Request    uint64
	APIVersion string
	Kind       string
	UID        types.UID

	// Numbers and flags stand together: who places a fleet sends, and keeps, as many of these as there are workloads.
	Priority int32
	Replicas int32
	// Unreplaced counts the replicas, or whole sets, on clusters of Evicting which no other cluster runs yet and that keep
	// their quota.
	Unreplaced  int32
	HasReplicas bool
	// Late is set where no workload has to wait for what is Starting: nothing is evicted for it, or the handover is overdue.
	Late bool
	// Lapses is set where leave to go holds for this instant only: what of Leaving is held then, is sought from then on.
	Lapses bool
	// Purges is set where the old copy of one of Leaving or Seeking goes before its replacement is healthy.
	Purges bool
	// Alone is set where a budget lets nothing move along with those of Leaving or Seeking: it would go immediately.
	Alone bool
	// Suspended is set where the binding is not to be placed for the time being: it holds what it has.
	Suspended bool

	// Untold are clusters that are told nothing for now: none is a destination. Nil: there are none.
	Untold       *api.SuspensionClusters
	Requirements *api.ReplicaRequirements
	// Set goes whole to every cluster, in place of replicas; nil: there is none.
	Set       *ComponentSet
	Placement *api.Placement
	// Applied is the placement of the last success; nil: never placed.
	Applied *api.Placement
	Targets []api.TargetCluster
	// Evicting are the clusters with a graceful eviction task.
	Evicting []ClusterName
	// Cooling are clusters that were evicted from for the application's health too short a time ago.
	Cooling []ClusterName
	// Full are clusters that say that they have no capacity for more of its replicas.
	Full []ClusterName
	// Starting are targets on which no copy was healthy yet; nil where they are not counted.
	Starting []ClusterName
	// Leaving are targets that the binding must leave, once a placement without them is found; in
	// the order of their deadlines.
	Leaving []ClusterName
	// Seeking are targets that the binding must leave, and asks leave for once it hears that a placement without them
	// is found; in the order of their deadlines.
	Seeking  []ClusterName
	Affinity string
	// Groups are the groups of workloads that this one belongs to, within its namespace; nil: none.
	Groups *api.WorkloadAffinityGroups
	// RescheduleAt asks for a fresh placement if it is after LastScheduled.
	RescheduleAt  time.Time
	LastScheduled time.Time
	// Home is nil where the workload is not to return anywhere.
	Home *FailbackState
}

// TasksEnded says that a binding that has its place has no eviction task any more: all is as the scheduler last heard or
// decided but for what is given here. A quarter of a PlaceBinding, for every failover ends with it. It takes it that nothing
// changes: only a change is an answer. From: binding. To: scheduler.
type TasksEnded struct {
	Binding BindingName
	// These are as in PlaceBinding.
	Request                 uint64
	Targets                 []api.TargetCluster
	Cooling, Full, Starting []ClusterName
	Home                    *FailbackState
}

// BindingGone says that a binding ended. From: binding. To: scheduler.
type BindingGone struct{ Binding BindingName }

// StartsLimited says that no more than Most workloads that had to leave another cluster may start on a cluster at the same time,
// and why; zero: as many as settings have it. From: governor. To: scheduler.
type StartsLimited struct {
	Cluster ClusterName
	Most    int
	Why     string
}

// QuotaApplied carries the limits of a FederatedResourceQuota, new or changed. From: ingress. To: scheduler.
type QuotaApplied struct {
	Namespace, Name string
	Limits          corev1.ResourceList
}

// QuotaDeleted ends a FederatedResourceQuota. From: ingress. To: scheduler.
type QuotaDeleted struct{ Namespace, Name string }

// GoOn has the scheduler make the next decisions of an instant that brought very many. From: scheduler. To: itself.
type GoOn struct{}

func (*ClusterViewed) toScheduler()   {}
func (*ClusterGone) toScheduler()     {}
func (*PlaceBinding) toScheduler()    {}
func (*TasksEnded) toScheduler()      {}
func (*BindingGone) toScheduler()     {}
func (*StartsLimited) toScheduler()   {}
func (*QuotaApplied) toScheduler()    {}
func (*QuotaDeleted) toScheduler()    {}
func (*GoOn) toScheduler()            {}
func (*SettingsChanged) toScheduler() {}
func (*Woken) toScheduler()           {}

// ComponentSet is what a workload of several pod templates runs on every cluster that it goes to: all of its
// components or nothing. It is shared and must not change.
type ComponentSet struct {
	Components []api.Component
	// Targets are the components as a target cluster lists them.
	Targets *api.TargetComponents
}

// NewComponentSet returns the set of some components, nil for none.
func NewComponentSet(components []api.Component) *ComponentSet {
	if len(components) == 0 {
		return nil
	}
	targets := make(api.TargetComponents, len(components))
	for i := range components {
		targets[i] = api.TargetComponent{Name: components[i].Name, Replicas: components[i].Replicas}
	}
	return &ComponentSet{Components: components, Targets: &targets}
}
