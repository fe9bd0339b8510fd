package api

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LeewardGroupVersion is that of the objects that Karmada has not.
const LeewardGroupVersion = "leeward.dev/v1alpha1"

// GovernorName is the name of the only Governor.
const GovernorName = "fleet"

// Governor shows how evictions from the fleet and its regions are governed. Leeward's own: the engine writes its
// status, once there is something to show, and users its spec. A status that is applied with the dump of a
// fleet is where the engine goes on.
type Governor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              GovernorSpec   `json:"spec,omitzero"`
	Status            GovernorStatus `json:"status,omitzero"`
}

// GovernorSpec is what users ask of the governor.
type GovernorSpec struct {
	// Pause has all evictions wait; nil: none does.
	Pause *Hold `json:"pause,omitempty"`
}

// GovernorStatus is how the fleet as a whole is governed, and those of its regions, by name, and priorities that
// ever were governed otherwise than normally.
type GovernorStatus struct {
	Governance `json:",inline"`
	Regions    []RegionGovernance   `json:"regions,omitempty"`
	Priorities []PriorityGovernance `json:"priorities,omitempty"`
	// Permits are what rates and breakers remember: by region, cluster and priority.
	Permits []PermitCount `json:"permits,omitempty"`
	// Starts are the clusters on which starts failed of late, by name.
	Starts []StartBackoff `json:"starts,omitempty"`
	// Holds are those in force: that of the fleet, those of clusters, those of bindings, by name.
	Holds []HoldStatus `json:"holds,omitempty"`
	// Releases are the bindings whose evictions wait for nothing, by name.
	Releases []ReleaseStatus `json:"releases,omitempty"`
	// Profile and Settings are what a daemon runs with: the profile that is nearest to it, and the fields that differ from
	// that, as "gracefulEvictionTimeout=5m".
	Profile  string   `json:"profile,omitempty"`
	Settings []string `json:"settings,omitempty"`
	// Quarantined are the machines that the daemon does not run, because a step of theirs did not return, by kind, namespace and
	// name: the first 100. QuarantinedCount is how many there are.
	Quarantined      []QuarantinedMachine `json:"quarantined,omitempty"`
	QuarantinedCount int32                `json:"quarantinedCount,omitempty"`
}

// QuarantinedMachine is a machine that the daemon does not run: nothing is decided for its object.
type QuarantinedMachine struct {
	// Kind, Namespace and Name are of the object that the machine decides on.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Since is when the machine was given up, Step the message that its step did not return from: "TaintsChanged".
	Since metav1.MicroTime `json:"since"`
	Step  string           `json:"step"`
	// NotBefore is when the machine is tried again at the earliest, once its object has changed.
	NotBefore metav1.MicroTime `json:"notBefore"`
}

// StartBackoff is what is known of starts that failed on a cluster.
type StartBackoff struct {
	Cluster string `json:"cluster"`
	// Failed is when starts failed that count.
	Failed []metav1.MicroTime `json:"failed,omitempty"`
	// Most is how many workloads that had to leave another cluster may start there at the same time; zero: any number.
	Most    int    `json:"most,omitempty"`
	Message string `json:"message,omitempty"`
	// Level is one for the first back-off, and more for a longer one; zero: there was none. Since is when it began or
	// became longer, Until when time ends it.
	Level int               `json:"level,omitempty"`
	Since *metav1.MicroTime `json:"since,omitempty"`
	Until *metav1.MicroTime `json:"until,omitempty"`
}

// HoldStatus is a hold in force: of a binding, "namespace/name", of what leaves a cluster, or, where it names
// neither, of the fleet.
type HoldStatus struct {
	Binding string            `json:"binding,omitempty"`
	Cluster string            `json:"cluster,omitempty"`
	Reason  string            `json:"reason"`
	Since   metav1.MicroTime  `json:"since,omitzero"`
	Until   *metav1.MicroTime `json:"until,omitempty"`
}

// ReleaseStatus is a binding whose evictions wait for nothing.
type ReleaseStatus struct {
	Binding string           `json:"binding"`
	Reason  string           `json:"reason"`
	Since   metav1.MicroTime `json:"since,omitzero"`
}

// RegionGovernance is how one region is governed.
type RegionGovernance struct {
	Name       string `json:"name"`
	Governance `json:",inline"`
}

// PriorityGovernance is how workloads of one schedulePriority are governed.
type PriorityGovernance struct {
	Priority   int32 `json:"priority"`
	Governance `json:",inline"`
}

// Governance is a state and what it does to evictions.
type Governance struct {
	// State is Normal, PartialDisruption, FullDisruption (of a region), Blackout (of the fleet) or Cooldown.
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
	// EvictionsPerSecond is the rate that the state sets; zero: no evictions; nil: it sets none.
	EvictionsPerSecond *float64          `json:"evictionsPerSecond,omitempty"`
	Since              metav1.MicroTime  `json:"since,omitzero"`
	Until              *metav1.MicroTime `json:"until,omitempty"`
	// Breaker is nil where it was always closed.
	Breaker *BreakerStatus `json:"breaker,omitempty"`
}

// BreakerStatus is how the breaker of a place is.
type BreakerStatus struct {
	// State is Closed, Open or HalfOpen.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	// Moved is how many of all Copies had been permitted to go within the window when the state began.
	Moved  int               `json:"moved"`
	Copies int               `json:"copies"`
	Since  metav1.MicroTime  `json:"since"`
	Until  *metav1.MicroTime `json:"until,omitempty"`
}

// PermitCount is what is remembered of the permits to leave the region or cluster named, or those of workloads of
// the priority; of the fleet, where none is named.
type PermitCount struct {
	Region   string `json:"region,omitempty"`
	Cluster  string `json:"cluster,omitempty"`
	Priority *int32 `json:"priority,omitempty"`
	// PaidUntil is when the permits are paid for at the rate that holds.
	PaidUntil *metav1.MicroTime `json:"paidUntil,omitempty"`
	// Moved are the permits that count for a breaker, by tenths of its window, and Trials those on trial.
	Moved  []MovedCount `json:"moved,omitempty"`
	Trials []Trial      `json:"trials,omitempty"`
}

// MovedCount counts permits from an instant on, and the most copies that there were then.
type MovedCount struct {
	From   metav1.MicroTime `json:"from"`
	Count  int              `json:"count"`
	Copies int              `json:"copies"`
}

// Trial is an eviction that a half-open breaker let go.
type Trial struct {
	Binding string           `json:"binding"`
	Cluster string           `json:"cluster"`
	At      metav1.MicroTime `json:"at"`
}

// Annotations by which people have evictions of one ResourceBinding or ClusterResourceBinding wait, or all
// those from one Cluster. Leeward's own.
const (
	// AnnotationHold says why evictions wait.
	AnnotationHold = "leeward.dev/hold-evictions"
	// AnnotationHoldUntil says until when, in RFC 3339; without it, until AnnotationHold goes.
	AnnotationHoldUntil = "leeward.dev/hold-until"
	// AnnotationRelease says why evictions of a binding wait for nothing: for no limit, no storm and no hold.
	AnnotationRelease = "leeward.dev/release-evictions"
)

// Hold is people's word that evictions wait.
type Hold struct {
	// Reason says why, for users who ask later.
	Reason string `json:"reason"`
	// Until is when the hold ends by itself; nil: when it is taken away.
	Until *metav1.Time `json:"until,omitempty"`
}

// HoldIn reads the hold that annotations ask for; nil: none. The error is about AnnotationHoldUntil.
func HoldIn(annotations map[string]string) (*Hold, error) {
	reason, held := annotations[AnnotationHold]
	text, ends := annotations[AnnotationHoldUntil]
	var until *metav1.Time
	if ends {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, fmt.Errorf("must be an instant in RFC 3339, as 2026-01-31T18:00:00Z")
		}
		until = &metav1.Time{Time: at}
	}
	if !held {
		return nil, nil
	}
	return &Hold{Reason: reason, Until: until}, nil
}

// Annotate returns annotations that ask for a hold in place of the one that they asked for; nil: for none.
func (h *Hold) Annotate(annotations map[string]string) map[string]string {
	next := map[string]string{}
	for key, value := range annotations { // order-free: a copy
		if key != AnnotationHold && key != AnnotationHoldUntil {
			next[key] = value
		}
	}
	if h != nil {
		next[AnnotationHold] = h.Reason
		if h.Until != nil {
			next[AnnotationHoldUntil] = h.Until.Format(time.RFC3339Nano)
		}
	}
	return next
}
