package scenario

import (
	"slices"
	"time"

	"leeward/messages"
)

// Crash lets the engine's process die in the middle of its work. A store that does not take what machines
// decide is the same: nothing of that leaves the process, and what is on disk counts when it is back.
type Crash struct {
	// After is how many messages the machines still handle in the instant; negative: all.
	After int
	// For is how long until the engine is back.
	For time.Duration
}

// Clock sets the engine's clock ahead, or back if By is negative.
type Clock struct{ By time.Duration }

// Reports lets something become of what clusters report, for a time.
type Reports struct {
	Clusters []messages.ClusterName
	Fault    messages.ReportFault
	For      time.Duration
	// By is how much later reports arrive; zero with ReportsLost.
	By time.Duration
}

// RebootNodes reboots the nodes of clusters.
type RebootNodes struct{ Clusters []messages.ClusterName }

// Interrupted reports whether the engine dies in the middle of an instant.
func (s *Scenario) Interrupted() bool {
	return slices.ContainsFunc(s.Timeline, func(s Step) bool {
		c, crashes := s.Action.(*Crash)
		return crashes && c.After >= 0
	})
}

func (*Crash) action()       {}
func (*Clock) action()       {}
func (*Reports) action()     {}
func (*RebootNodes) action() {}

func (c *call) crash(s *crashStep) Action {
	a := &Crash{After: -1, For: s.For.orElse(0)}
	if s.After == nil {
		return a
	}
	if a.After = int(*s.After); a.After < 0 {
		c.bad(c.path+".after", "must not be negative")
	}
	return a
}

func (c *call) clock(s *clockStep) Action {
	if (s.Ahead == nil) == (s.Back == nil) {
		c.bad(c.path, "want ahead or back")
	}
	return &Clock{By: s.Ahead.orElse(0) - s.Back.orElse(0)}
}

// reportFaults are the faults of reports by their names.
var reportFaults = map[string]messages.ReportFault{
	"lost": messages.ReportsLost, "delayed": messages.ReportsDelayed,
	"duplicated": messages.ReportsDuplicated, "reordered": messages.ReportsReordered,
}

func (c *call) reports(s *reportsStep) Action {
	c.oneOf(c.path+".fault", s.Fault, "lost", "delayed", "duplicated", "reordered")
	a := &Reports{Clusters: c.clusters(s.Cluster), Fault: reportFaults[s.Fault], For: s.For.orElse(0), By: s.By.orElse(0)}
	if lost := a.Fault == messages.ReportsLost; lost == (a.By > 0) {
		c.bad(c.path+".by", "is required with delayed, duplicated and reordered, and not allowed with lost")
	}
	return a
}
