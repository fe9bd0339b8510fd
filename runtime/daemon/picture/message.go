package picture

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Format and Version are of the JSON that viewers read. The version is raised when a field changes its meaning or goes.
const (
	Format  = "leeward.dev/live"
	Version = 1
)

// Message is a picture, or what changed since the message before. A section that is missing is as it was; in the maps null is what is
// not shown any more.
type Message struct {
	// Format and Version are of a whole picture, which replaces what the viewer has.
	Format  string `json:"format,omitempty"`
	Version int    `json:"version,omitempty"`
	// At is the time of the daemon.
	At     time.Time       `json:"at"`
	Totals json.RawMessage `json:"totals,omitempty"`
	// Governor is a Governor.
	Governor json.RawMessage `json:"governor,omitempty"`
	// Clusters are by name, Evictions by their binding and cluster.
	Clusters  map[string]json.RawMessage `json:"clusters,omitempty"`
	Evictions map[string]json.RawMessage `json:"evictions,omitempty"`
}

// Totals count the whole fleet, named or not.
type Totals struct {
	Clusters Ready `json:"clusters"`
	// Workloads are bindings by what is so, each counted once, under the worst.
	Workloads States   `json:"workloads"`
	Replicas  Replicas `json:"replicas"`
	Evictions Progress `json:"evictions"`
	// BlockedBy counts blocked evictions by reason.
	BlockedBy map[string]int `json:"blockedBy"`
}

// Ready counts clusters.
type Ready struct {
	All      int `json:"all"`
	Ready    int `json:"ready"`
	Tainted  int `json:"tainted"`
	Draining int `json:"draining"`
}

// States count bindings, the worst state last.
type States struct {
	Settled       int `json:"settled"`
	Unhealthy     int `json:"unhealthy"`
	Scheduled     int `json:"scheduled"`
	Evicting      int `json:"evicting"`
	Blocked       int `json:"blocked"`
	Unschedulable int `json:"unschedulable"`
}

// Replicas count what target clusters must run, what serves users, what graceful eviction tasks have on their old clusters, and
// what no cluster can take.
type Replicas struct {
	Placed        int64 `json:"placed"`
	Available     int64 `json:"available"`
	Evicting      int64 `json:"evicting"`
	Unschedulable int64 `json:"unschedulable"`
}

// Progress counts evictions by how far they are.
type Progress struct {
	Scheduled int `json:"scheduled"`
	Blocked   int `json:"blocked"`
	Evicting  int `json:"evicting"`
}

// Cluster is one cluster.
type Cluster struct {
	Region   string `json:"region,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Ready is the status of its condition Ready: True, False or Unknown; Reason says why it is not True, Since is when it changed.
	Ready  string       `json:"ready"`
	Reason string       `json:"reason,omitempty"`
	Since  *metav1.Time `json:"since,omitempty"`
	// Taints are as kubectl writes them, the first of all TaintCount.
	Taints     []string `json:"taints,omitempty"`
	TaintCount int      `json:"taintCount,omitempty"`
	// TaintedAt are when these taints were added; null: that is not known.
	TaintedAt []*metav1.Time `json:"taintedAt,omitempty"`
	Drain     *Drain         `json:"drain,omitempty"`
	// Held is why evictions from it are on hold.
	Held string `json:"held,omitempty"`
	// Stay is why nothing evicts its workloads though it is not Ready.
	Stay      string   `json:"stay,omitempty"`
	Workloads int      `json:"workloads"`
	Replicas  int64    `json:"replicas"`
	Available int64    `json:"available"`
	Evictions Progress `json:"evictions"`
	// CPU is what its replicas request, of CPUCapacity that it can allocate, in thousandths; 0: not known.
	CPU         int64 `json:"cpu,omitempty"`
	CPUCapacity int64 `json:"cpuCapacity,omitempty"`
}

// Drain is how far a cluster is emptied.
type Drain struct {
	Deadline *metav1.Time `json:"deadline,omitempty"`
	Bindings int32        `json:"bindings"`
	Left     int32        `json:"left"`
	Missed   bool         `json:"missed,omitempty"`
}

// Eviction is that of a binding from a cluster.
type Eviction struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Cluster   string `json:"cluster"`
	// State is Scheduled, Blocked or Evicting.
	State    string            `json:"state"`
	Deadline *metav1.MicroTime `json:"deadline,omitempty"`
	// Since is when one that is Evicting began.
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when a blocked eviction is looked at again by itself.
	Until   *metav1.MicroTime `json:"until,omitempty"`
	Taint   string            `json:"taint,omitempty"`
	Policy  string            `json:"policy,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Message string            `json:"message,omitempty"`
}

// Governor is how evictions are governed.
type Governor struct {
	Governance
	Pause *Hold `json:"pause,omitempty"`
	// Regions and Priorities are those ever governed otherwise than normally; Holds are those in force.
	Regions    []Governance `json:"regions,omitempty"`
	Priorities []Governance `json:"priorities,omitempty"`
	Holds      []Hold       `json:"holds,omitempty"`
	HoldCount  int          `json:"holdCount,omitempty"`
	Releases   int          `json:"releases,omitempty"`
	// Quarantined counts objects for which nothing is decided.
	Quarantined int32  `json:"quarantined,omitempty"`
	Profile     string `json:"profile,omitempty"`
}

// Governance is a state of the fleet, a region or a priority, and what it does to evictions.
type Governance struct {
	Name    string `json:"name,omitempty"`
	State   string `json:"state,omitempty"`
	Message string `json:"message,omitempty"`
	// Rate is evictions per second; absent: none is set.
	Rate    *float64          `json:"rate,omitempty"`
	Until   *metav1.MicroTime `json:"until,omitempty"`
	Breaker *Breaker          `json:"breaker,omitempty"`
}

// Breaker is Closed, Open or HalfOpen.
type Breaker struct {
	State   string            `json:"state"`
	Message string            `json:"message,omitempty"`
	Until   *metav1.MicroTime `json:"until,omitempty"`
}

// Hold is a hold on the evictions of a binding, from a cluster, or, where it names neither, of the fleet.
type Hold struct {
	Binding string            `json:"binding,omitempty"`
	Cluster string            `json:"cluster,omitempty"`
	Reason  string            `json:"reason"`
	Until   *metav1.MicroTime `json:"until,omitempty"`
}
