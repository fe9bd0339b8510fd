package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LeewardGroupVersion is that of the objects that Karmada has not.
const LeewardGroupVersion = "leeward.dev/v1alpha1"

// GovernorName is the name of the only Governor.
const GovernorName = "fleet"

// Governor shows how evictions from the fleet and its regions are governed. Leeward's own: the engine writes
// it, once there is something to show. People do not; one that is applied with the dump of a fleet is where the
// engine goes on.
type Governor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Status            GovernorStatus `json:"status,omitzero"`
}

// GovernorStatus is how the fleet as a whole is governed, and those of its regions that ever were governed
// otherwise than normally, by name.
type GovernorStatus struct {
	Governance `json:",inline"`
	Regions    []RegionGovernance `json:"regions,omitempty"`
}

// RegionGovernance is how one region is governed.
type RegionGovernance struct {
	Name       string `json:"name"`
	Governance `json:",inline"`
}

// Governance is a state and what it does to evictions.
type Governance struct {
	// State is Normal, PartialDisruption, FullDisruption (of a region), Blackout (of the fleet) or Cooldown.
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
	// EvictionsPerSecond is the rate that the state sets; zero: nothing is evicted; nil: it sets none.
	EvictionsPerSecond *float64          `json:"evictionsPerSecond,omitempty"`
	Since              metav1.MicroTime  `json:"since,omitzero"`
	Until              *metav1.MicroTime `json:"until,omitempty"`
}
