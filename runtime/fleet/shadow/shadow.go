// Package shadow has the words for what a control plane in shadow would have done, beside what the one that acts did, and sums them up.
package shadow

import (
	"slices"
	"strings"
	"time"

	"leeward/messages/api"
)

// Verdict says what the control plane that acts did, compared with what Leeward decided.
type Verdict string

// The verdicts.
const (
	// Agreed: both evict, at most Tolerance apart.
	Agreed Verdict = "agreed"
	// Earlier and Later: both evict, the other one earlier or later.
	Earlier Verdict = "earlier"
	Later   Verdict = "later"
	// Elsewhere: both place a workload, on other clusters or with other replicas.
	Elsewhere Verdict = "elsewhere"
	// Never: Leeward decides, and the other did not within Patience.
	Never Verdict = "never"
	// Unasked: the other decides what Leeward does not.
	Unasked Verdict = "unasked"
)

// Verdicts are all of them, in the order of reports.
var Verdicts = []Verdict{Agreed, Earlier, Later, Elsewhere, Never, Unasked}

// Kind is what was decided.
type Kind string

// The kinds.
const (
	// Eviction: a workload, or a pod, is evicted. Of pods there is no other kind.
	Eviction Kind = "eviction"
	// Placement: on which clusters a workload runs.
	Placement Kind = "placement"
	// Removal: the handover after an eviction has ended, and the old copy is removed.
	Removal Kind = "removal"
	// Taint: a taint of a cluster that no user set is added or removed.
	Taint Kind = "taint"
)

// Kinds are all of them.
var Kinds = []Kind{Eviction, Placement, Removal, Taint}

const (
	// Tolerance is how far two evictions may be apart that agree: the API stores whole seconds.
	Tolerance = 2 * time.Second
	// Patience is how long the other is waited for.
	Patience = 10 * time.Minute
)

// Decision is what one control plane decided, with its reason in its own words.
type Decision struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	// Clusters are where a placement has the workload run.
	Clusters []api.TargetCluster `json:"clusters,omitempty"`
}

// Comparison is one decision as both made it; nil: one did not.
type Comparison struct {
	Time     time.Time `json:"time"`
	Verdict  Verdict   `json:"verdict"`
	Kind     Kind      `json:"kind"`
	Workload string    `json:"workload"`
	// Pod, UID and Node are those of a pod that is evicted; Binding is that of a workload, Cluster what it is evicted from.
	Pod     string    `json:"pod,omitempty"`
	UID     string    `json:"uid,omitempty"`
	Node    string    `json:"node,omitempty"`
	Binding string    `json:"binding,omitempty"`
	Cluster string    `json:"cluster,omitempty"`
	Ours    *Decision `json:"ours,omitempty"`
	Theirs  *Decision `json:"theirs,omitempty"`
	// Why is why Leeward does not decide what the other does, as far as it said so.
	Why string `json:"why,omitempty"`
	// LastCopy is set where the other removed the last copy that was healthy, Cancelled where Leeward had cancelled the eviction.
	LastCopy  bool `json:"lastCopy,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
}

// Judge returns the verdict of two decisions, of which one may be missing.
func Judge(ours, theirs *Decision) Verdict {
	switch {
	case theirs == nil:
		return Never
	case ours == nil:
		return Unasked
	case !SameClusters(ours.Clusters, theirs.Clusters):
		return Elsewhere
	}
	switch later := theirs.At.Sub(ours.At); {
	case later > Tolerance:
		return Later
	case later < -Tolerance:
		return Earlier
	}
	return Agreed
}

// SameClusters reports whether two placements are the same, in whatever order.
func SameClusters(a, b []api.TargetCluster) bool {
	byName := func(a, b api.TargetCluster) int { return strings.Compare(a.Name, b.Name) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(a), byName), slices.SortedFunc(slices.Values(b), byName), api.TargetCluster.Equal)
}
