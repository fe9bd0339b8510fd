// Package viewer makes one document of a run, for programs and for the page that shows it. docs/viewer-data.md describes the
// document; the page is plain ES modules in this folder, which Page puts into one file that needs nothing else.
package viewer

// Format and Version name the document. A version is raised when a field changes its meaning or goes; fields may be added.
const (
	Format  = "leeward.dev/timeline"
	Version = 1
)

// Document is one run or several.
type Document struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Runs    []*Run `json:"runs"`
}

// Run is one run. Instants are whole milliseconds from Start. Text is a place in Strings, a cluster one in Clusters, a workload
// one in Workloads, a fact one in the columns of Facts; -1 is none.
type Run struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	File        string `json:"file,omitempty"`
	Line        int    `json:"line,omitempty"`
	Seed        uint64 `json:"seed"`
	Profile     string `json:"profile"`
	Passed      bool   `json:"passed"`
	// Prediction is set where nothing of this has happened.
	Prediction bool `json:"prediction,omitempty"`
	// Error is why the run ended early.
	Error string `json:"error,omitempty"`
	// Repeat is the command that runs it again.
	Repeat string `json:"repeat,omitempty"`
	Start  string `json:"start"`
	// End is when the last thing happened or was decided.
	End          int           `json:"end"`
	Expectations []Expectation `json:"expectations"`
	Strings      []string      `json:"strings"`
	// Kinds are those of bars, from what a summary shows last to what it shows first.
	Kinds     []string   `json:"kinds"`
	Clusters  []Cluster  `json:"clusters"`
	Workloads []Workload `json:"workloads"`
	// Nodes and Pods are those of runs of nodes, by zone and by name.
	Nodes    []Node  `json:"nodes,omitempty"`
	Pods     []Pod   `json:"pods,omitempty"`
	Governor []Track `json:"governor"`
	Inputs   []Track `json:"inputs"`
	Facts    Facts   `json:"facts"`
	// Reasons are those that facts name, each a list of parts.
	Reasons  [][]Part `json:"reasons"`
	Replicas Replicas `json:"replicas"`
	Regions  []Region `json:"regions"`
	// PodStates counts pods over time; absent where there are none.
	PodStates PodStates `json:"podStates,omitzero"`
	// Omitted counts what the document has no place for.
	Omitted Omitted `json:"omitted"`
}

// Expectation is one thing that a scenario expects, and whether it held.
type Expectation struct {
	Text   string `json:"text"`
	Passed bool   `json:"passed"`
	At     int    `json:"at"`
	Reason string `json:"reason,omitempty"`
}

// Cluster is a cluster and what happened to it.
type Cluster struct {
	Name     string   `json:"name"`
	Region   string   `json:"region,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Zones    []string `json:"zones,omitempty"`
	// Labels are text, as "key=value".
	Labels []int   `json:"labels,omitempty"`
	Tracks []Track `json:"tracks"`
}

// Workload is a binding, and what happened to it on each of its clusters.
type Workload struct {
	Name    string  `json:"name"`
	Outcome Outcome `json:"outcome"`
	// Labels are those of its template, as text.
	Labels []int   `json:"labels,omitempty"`
	Tracks []Track `json:"tracks"`
	On     []On    `json:"on"`
}

// On is a workload on one cluster.
type On struct {
	Cluster int     `json:"cluster"`
	Tracks  []Track `json:"tracks"`
}

// Node is a node and what happened to it.
type Node struct {
	Name   string  `json:"name"`
	Zone   string  `json:"zone,omitempty"`
	Tracks []Track `json:"tracks"`
}

// Pod is a pod and what happened to it, as to each later one of the same name.
type Pod struct {
	Name string `json:"name"`
	// Owner is text, -1 for none.
	Owner   int     `json:"owner"`
	Outcome Outcome `json:"outcome"`
	// Nodes are those that it was bound to, in order.
	Nodes  []int   `json:"nodes"`
	Tracks []Track `json:"tracks"`
}

// Track is one thing that lasts: none of its bars overlap. Name is text.
type Track struct {
	Name int   `json:"name"`
	Bars []Bar `json:"bars"`
}

// Bar is its kind (a place in Kinds), when it began, when it ended (-1: it did not), its label (text), and its facts.
type Bar []int

// Part is a name and a value, both text: "taint", "down:NoExecute".
type Part [2]int

// Facts are columns of the same length, in the order in which the facts happened.
type Facts struct {
	At []int `json:"at"`
	// Kind is text, Level 0 (follows from another fact), 1 (a change) or 2 (a warning).
	Kind  []int `json:"kind"`
	Level []int `json:"level"`
	// Workload and Cluster are what a fact is about, Text what it says of that, and Why its reason as text.
	Workload []int `json:"workload"`
	Cluster  []int `json:"cluster"`
	// Node and Pod are the same of nodes and pods; absent where a run has none.
	Node []int `json:"node,omitempty"`
	Pod  []int `json:"pod,omitempty"`
	Text []int `json:"text"`
	Why  []int `json:"why"`
	// Reason is a place in Reasons.
	Reason []int `json:"reason"`
	// Due is when what a fact tells of goes on by itself: a scheduled eviction, a blocked one that is looked at again, a handover
	// whose grace period ends; -1: it does not.
	Due []int `json:"due"`
}

// Replicas are those of all workloads: a column per figure, a row per instant at which one changed.
type Replicas struct {
	At []int `json:"at"`
	// Placed is what target clusters must run, Available what serves users, Evicting what clusters with a graceful eviction
	// task ran before it, and Unschedulable what no cluster can take.
	Placed        []int `json:"placed"`
	Available     []int `json:"available"`
	Evicting      []int `json:"evicting"`
	Unschedulable []int `json:"unschedulable"`
}

// PodStates are columns as those of Replicas. Pods that are being deleted are Terminating and nothing else.
type PodStates struct {
	At []int `json:"at"`
	// Running, Pending: by phase. Ready are those of Running that are ready.
	Running     []int `json:"running"`
	Ready       []int `json:"ready"`
	Pending     []int `json:"pending"`
	Terminating []int `json:"terminating"`
}

// Region is the capacity of the clusters of one region over time, as Replicas are.
type Region struct {
	Name     string `json:"name"`
	Clusters int    `json:"clusters"`
	At       []int  `json:"at"`
	// Ready counts clusters, Placed replicas.
	Ready  []int `json:"ready"`
	Placed []int `json:"placed"`
	// CPU is what placed replicas and what ran before request, in thousandths; CPUCapacity what clusters that are Ready have.
	// Memory and MemoryCapacity are the same in MiB. A capacity of zero is not known.
	CPU            []int `json:"cpu"`
	CPUCapacity    []int `json:"cpuCapacity"`
	Memory         []int `json:"memory"`
	MemoryCapacity []int `json:"memoryCapacity"`
}

// Omitted counts facts beyond the limit, which happened last, and workloads, nodes and pods beyond theirs.
type Omitted struct {
	Facts     int `json:"facts"`
	Workloads int `json:"workloads"`
	Nodes     int `json:"nodes,omitempty"`
	Pods      int `json:"pods,omitempty"`
}

// Outcome is what came of a workload or a pod.
type Outcome string

// The outcomes: what is so in the end, and what happened where nothing is under way in the end.
const (
	Unschedulable Outcome = "unschedulable"
	Blocked       Outcome = "blocked"
	Evicting      Outcome = "evicting"
	Scheduled     Outcome = "eviction scheduled"
	Unhealthy     Outcome = "unhealthy"
	Deleted       Outcome = "deleted"
	Evicted       Outcome = "evicted"
	Rescheduled   Outcome = "rescheduled"
	Unchanged     Outcome = "unchanged"
	// These are of pods alone. Created: after the start, and it runs.
	Pending     Outcome = "pending"
	Terminating Outcome = "terminating"
	Finished    Outcome = "finished"
	Created     Outcome = "created"
)
