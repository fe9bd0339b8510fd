package storm

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Report is what came of one storm, and all that its texts, comparisons and pages are made of.
type Report struct {
	// Command repeats the storm.
	Command string `json:"command"`
	Fleet   Shape  `json:"fleet"`
	Outage  Outage `json:"outage"`
	// Profile and Set are the settings, Seed the chance, that the storm ran with.
	Profile string   `json:"profile"`
	Set     []string `json:"set,omitempty"`
	Seed    uint64   `json:"seed"`
	Lanes   int      `json:"lanes"`
	// Interrupted is set where the storm was ended before all was quiet: figures are of what was done, and
	// nothing is held to have been lost.
	Interrupted bool `json:"interrupted,omitempty"`

	// Setup is how long the fleet took to build and place, Elapsed how long the storm took, both on the wall;
	// FleetTime is how long the storm took the fleet, from the first failure to the last change.
	Setup     Seconds `json:"setupSeconds"`
	Elapsed   Seconds `json:"elapsedSeconds"`
	FleetTime Seconds `json:"fleetSeconds"`

	Rates     Rates     `json:"rates"`
	Latencies []Latency `json:"latencies"`
	// FleetLatencies are the same by the fleet's time, which tolerations, start-up times and the pace of evictions take.
	FleetLatencies []Latency `json:"fleetLatencies"`
	Series         Series    `json:"series"`
	// Machines say who had the time of the lanes, in the canonical order of the kinds.
	Machines []MachineTime `json:"machines"`
	Costs    Costs         `json:"costs"`
	// Load is every cluster, failed ones first, each part in the order of names.
	Load []ClusterLoad `json:"load"`
	// Measured is what the system that Leeward is compared with did, which was not run here; nil: there is no such figure.
	Measured *Measured `json:"measured,omitempty"`
	// Checks say what was found lost, and that nothing was.
	Checks []Check `json:"checks"`
}

// Shape is what the fleet is made of.
type Shape struct {
	// Files are the manifests that it was read from; none: it was built.
	Files    []string `json:"files,omitempty"`
	Clusters int      `json:"clusters,omitempty"`
	Regions  int      `json:"regions,omitempty"`
	Bindings int      `json:"bindings,omitempty"`
	Replicas int      `json:"replicas,omitempty"`
	// Nodes, in so many zones, and Pods, of so many Deployments, are those of a storm of nodes.
	Nodes       int `json:"nodes,omitempty"`
	Zones       int `json:"zones,omitempty"`
	Pods        int `json:"pods,omitempty"`
	Deployments int `json:"deployments,omitempty"`
}

// Measured is what another system was measured to do: when the first and the last eviction came, and how many there were a second.
type Measured struct {
	System    string  `json:"system"`
	First     Seconds `json:"firstSeconds"`
	Last      Seconds `json:"lastSeconds"`
	PerSecond float64 `json:"perSecond"`
}

// Outage is what failed, and how.
type Outage struct {
	// Pattern is burst, cascade or flapping; Kill is what was to fail, as it was asked for.
	Pattern string `json:"pattern"`
	Kill    string `json:"kill"`
	// Failed is how many clusters, or nodes, did.
	Failed int `json:"failed"`
}

// Rates count what the storm did. A failover is complete when the old copy is released.
type Rates struct {
	Evicted  Rate `json:"evicted"`
	Placed   Rate `json:"placed"`
	Healthy  Rate `json:"healthy"`
	Released Rate `json:"released"`
	// Withdrawn are evictions that were taken back, Held those that were not let go, each time that the reason changed.
	Withdrawn int `json:"withdrawn"`
	Held      int `json:"held"`
}

// Rate is a count, and how many that were a second: from the first failure to the last of them, and in the busiest
// interval.
type Rate struct {
	Count     int     `json:"count"`
	PerSecond float64 `json:"perSecond"`
	Peak      float64 `json:"peakPerSecond"`
}

// The stages of a failover, in order. Each is timed from the instant at which the workload had to leave: when its
// cluster failed, or its toleration ended.
const (
	StageEvicted  = "evicted"
	StagePlaced   = "placed"
	StageHealthy  = "healthy"
	StageReleased = "released"
)

// Latency is how long failovers took until they had reached a stage.
type Latency struct {
	Stage string  `json:"stage"`
	Count int     `json:"count"`
	Min   Seconds `json:"minSeconds"`
	Mean  Seconds `json:"meanSeconds"`
	P50   Seconds `json:"p50Seconds"`
	P90   Seconds `json:"p90Seconds"`
	P99   Seconds `json:"p99Seconds"`
	P999  Seconds `json:"p999Seconds"`
	Max   Seconds `json:"maxSeconds"`
	// Share is this stage's part of the time that a failover takes on average, from the stage before.
	Share float64 `json:"share"`
	// Buckets hold the failovers, by ascending bounds that grow by a constant factor; empty ones are omitted.
	Buckets []LatencyBucket `json:"buckets,omitempty"`
}

// LatencyBucket counts failovers that took longer than From and not longer than To.
type LatencyBucket struct {
	From  Seconds `json:"fromSeconds"`
	To    Seconds `json:"toSeconds"`
	Count int     `json:"count"`
}

// Series tells the storm interval by interval, from its beginning.
type Series struct {
	Interval Seconds `json:"intervalSeconds"`
	Points   []Point `json:"points"`
}

// Point counts what happened in one interval. Backlog is how many failovers had begun and were not complete at
// its end.
type Point struct {
	Evicted  int `json:"evicted"`
	Placed   int `json:"placed"`
	Healthy  int `json:"healthy"`
	Released int `json:"released"`
	Backlog  int `json:"backlog"`
}

// MachineTime is what the machines of one kind took.
type MachineTime struct {
	Kind     string  `json:"kind"`
	Messages int     `json:"messages"`
	Time     Seconds `json:"seconds"`
	// Share is the part of the time of all machines.
	Share float64 `json:"share"`
}

// Costs are what the storm took of the machine that it ran on. Those per failover are zero where none was completed.
type Costs struct {
	// CPU is of the whole process: user and system.
	CPU                 Seconds `json:"cpuSeconds"`
	CPUPerFailover      Seconds `json:"cpuSecondsPerFailover"`
	MessagesPerFailover float64 `json:"messagesPerFailover"`
	BytesPerFailover    float64 `json:"allocatedBytesPerFailover"`
	ObjectsPerFailover  float64 `json:"allocatedObjectsPerFailover"`
	// BytesPerBinding is the live memory of the settled fleet before the storm, recorder included.
	BytesPerBinding float64 `json:"bytesPerBinding"`
	// PeakMemory is the most memory that the process had, in bytes.
	PeakMemory uint64 `json:"peakMemoryBytes"`
	// GCShare is the part of the process's CPU time that went into collecting garbage, in GCs cycles.
	GCShare float64 `json:"gcShare"`
	GCs     int     `json:"gcs"`
}

// ClusterLoad is how many replicas a cluster was to run before the storm and after it.
type ClusterLoad struct {
	Cluster string `json:"cluster"`
	Region  string `json:"region,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	Before  int    `json:"before"`
	After   int    `json:"after"`
}

// Check is one question that every storm ends with.
type Check struct {
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// Detail says what was found; of what is lost it names some.
	Detail string `json:"detail,omitempty"`
}

// Passed reports whether nothing was lost.
func (r *Report) Passed() bool {
	return !slices.ContainsFunc(r.Checks, func(c Check) bool { return !c.Passed })
}

// Seconds is a length of time that JSON has as a number of seconds.
type Seconds time.Duration

// String returns the time in a unit that keeps it short: three digits and no more.
func (s Seconds) String() string {
	d := time.Duration(s)
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit {
			return d.Round(unit / 1000 * roundness(d/unit)).String()
		}
	}
	return d.String()
}

// roundness is by how much a number of units must be rounded for three digits to remain.
func roundness(units time.Duration) time.Duration {
	switch {
	case units >= 100:
		return 1000
	case units >= 10:
		return 100
	}
	return 10
}

// MarshalJSON writes a number of seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// UnmarshalJSON reads a number of seconds.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var n float64
	if err := json.Unmarshal(text, &n); err != nil {
		return fmt.Errorf("read a number of seconds: %w", err)
	}
	*s = Seconds(n * float64(time.Second))
	return nil
}
