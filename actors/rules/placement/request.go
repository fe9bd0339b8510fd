package placement

import (
	"leeward/messages"
	"leeward/messages/api"
)

// Request asks where a resource should run.
type Request struct {
	// Placement is the policy's; nil asks for nothing. A Planner knows it by its address, so requests
	// of one policy should share it. It must not change.
	Placement *api.Placement
	// APIVersion and Kind are the resource's.
	APIVersion, Kind string
	// Workload is set for a resource with replicas (perhaps none at present); anything else goes to
	// every chosen cluster as it is.
	Workload     bool
	Replicas     int32
	Requirements *api.ReplicaRequirements
	// Set is what a workload of several pod templates runs. It goes whole to every chosen cluster, and there
	// are no replicas to divide. Nil: the workload has no or one template.
	Set *messages.ComponentSet
	// UID decides ties.
	UID string
	// Previous is where the resource runs. These clusters are preferred, and fit despite their taints.
	Previous []api.TargetCluster
	// Evicting are clusters that the resource is leaving, Leaving those that it is to leave: they do not fit.
	Evicting, Leaving []messages.ClusterName
	// Cooling are clusters that the resource was evicted from for its own health a short time ago: they do not fit.
	Cooling []messages.ClusterName
	// Full are clusters that say that they have no capacity for more replicas of the resource.
	Full []messages.ClusterName
	// Busy are clusters that start as many copies for others as they may: they do not fit unless it runs there.
	Busy []BusyCluster
	// Untold are clusters that are told nothing for now: they do not fit unless it runs there, and take nothing more.
	Untold []string
	// Together are the clusters that run others of the resource's group, and Apart those that run others
	// which it must not share a cluster with. Empty: any cluster will do.
	Together, Apart []messages.ClusterName
	// Affinity is the name of the affinity term in use; empty: none, or the placement has none.
	Affinity string
	// Fresh decides everything again: from the first term on, and whatever the replicas' present places.
	Fresh bool
	// Return keeps off clusters whose taints have been tolerated for long enough, whatever the settings: what returns
	// by itself must not move again immediately.
	Return bool
}

// BusyCluster is one that starts as many copies as it may, and how many that are, in words.
type BusyCluster struct {
	Cluster messages.ClusterName
	Most    string
}

// Decision is the answer. With an empty Reason, Targets are the new places, in the order of their
// names, and Affinity is the term that they come from. Otherwise the request is not met: Reason is one of
// api.ReasonNoClusterFit, api.ReasonUnschedulable and api.ReasonSchedulerError, Message says more. Part of
// the replicas may have found a place even so: Targets are those, and Missing counts the others.
type Decision struct {
	Targets  []api.TargetCluster
	Affinity string
	Reason   string
	Message  string
	Missing  int32
	// Rejections are the clusters that did not fit, where the request is not met.
	Rejections []messages.Rejection
}

// Partial reports whether some replicas, but not all, found a place.
func (d *Decision) Partial() bool { return d.Missing > 0 }

// Clears reports whether a resource must give up its present places: no cluster fits. Any other
// failure leaves it where it is.
func (d *Decision) Clears() bool { return d.Reason == api.ReasonNoClusterFit }
