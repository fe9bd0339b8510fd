// Package top shows a fleet in a terminal: as it is, or as it was at any instant of a run. A source says what there is to see,
// the screen paints it, and keys move the cursor over time.
package top

import (
	"cmp"
	"slices"
	"time"
)

// Picture is a fleet at one instant.
type Picture struct {
	At       time.Time
	Replicas Replicas
	// Workloads counts bindings.
	Workloads int
	Clusters  []Cluster
	// Evictions are those under way, the worst state first, and workloads that are unschedulable.
	Evictions []Eviction
	// Governor says what is so of the fleet and of its regions, such as "fleet: Normal".
	Governor []string
	// Told is what happened last, the latest at the end.
	Told []Line
	// More counts what a source does not show of clusters and evictions.
	More struct{ Clusters, Evictions int }
}

// sort puts the worst first.
func (p *Picture) sort() {
	slices.SortStableFunc(p.Clusters, func(a, b Cluster) int { return cmp.Compare(b.Severity, a.Severity) })
	slices.SortStableFunc(p.Evictions, func(a, b Eviction) int { return cmp.Compare(b.Severity, a.Severity) })
}

// Replicas are those of all workloads, as docs/viewer-data.md has them.
type Replicas struct{ Placed, Available, Evicting, Unschedulable int }

// Severity is how bad something is; it says how it is painted.
type Severity int

// The severities.
const (
	Calm Severity = iota
	Notable
	Bad
)

// Cluster is a cluster at one instant.
type Cluster struct {
	Name, Region string
	// State is what is so of it, such as "Ready=False, silent".
	State    string
	Severity Severity
	Taints   []string
	// Workloads counts those that it is a target of, Evictions what is under way from it.
	Workloads, Evictions int
	Reason               []Line
}

// Eviction is that of a workload from a cluster, or a workload that is unschedulable and has no cluster.
type Eviction struct {
	Workload, Cluster string
	// State is in the words of the glossary: "eviction scheduled", "blocked", "evicting", "unschedulable".
	State string
	// Text says more, such as what it is blocked by.
	Text     string
	Severity Severity
	Since    time.Time
	// Due is when it goes on by itself; zero: when something changes.
	Due    time.Time
	Reason []Line
}

// Line is something that happened, or a part of a reason, where Name says which.
type Line struct {
	At       time.Time
	Name     string
	Text     string
	Severity Severity
}

// Span is the fleet during a part of the time that a source knows: the least available and placed replicas, the most of the rest.
type Span struct {
	Replicas
	// Known is false where nothing is known.
	Known bool
}

// Source is where pictures come from.
type Source interface {
	// Name says what is shown.
	Name() string
	// Bounds are the first and the last instant that can be shown.
	Bounds() (first, last time.Time)
	// At is the picture of an instant. It must not be changed.
	At(time.Time) *Picture
	// Step returns the instant of the n-th change after that instant, or before it where n is negative; the last or the first
	// where there are fewer.
	Step(from time.Time, n int) time.Time
	// Changes counts the instants that Step knows.
	Changes() int
	// Spans divides the time between the bounds into as many parts.
	Spans(parts int) []Span
}
