package scenario

import (
	"slices"
	"strings"
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

// fleetScope is that of a pause.
var fleetScope = []messages.HoldScope{{}}

func (c *call) pause(s *pauseStep) Action { return c.lasting(fleetScope, s.Reason, s.Until, s.For) }

func (c *call) hold(s *holdStep) Action {
	return c.lasting(c.scopes(s.Cluster, s.Binding), s.Reason, s.Until, s.For)
}

// lasting is a hold, with its end.
func (c *call) lasting(of []messages.HoldScope, reason string, until, lasts *duration) Action {
	a := &Hold{Scopes: of, Reason: strings.TrimSpace(reason), Until: until.orElse(0), For: lasts.orElse(0)}
	switch {
	case a.Reason == "":
		c.bad(c.path+".reason", "must say why")
	case until != nil && lasts != nil:
		c.bad(c.path, "want until or for, not both")
	case until != nil && a.Until <= c.at:
		c.bad(c.path+".until", "must be after the hold begins")
	case lasts != nil && a.For == 0:
		c.bad(c.path+".for", "must be more than 0")
	}
	return a
}

// release ends holds, or lets one binding wait for nothing.
func (c *call) release(s *releaseStep) Action {
	switch reason := strings.TrimSpace(s.Reason); {
	case s.Now && s.Binding == "":
		c.bad(c.path+".now", "goes with binding")
	case s.Now && reason == "":
		c.bad(c.path+".reason", "must say why")
	case !s.Now && s.Reason != "":
		c.bad(c.path+".reason", "goes with now")
	case s.Now:
		return &Release{Binding: c.binding(c.path+".binding", s.Binding, c.at), Reason: reason}
	}
	return &Hold{Scopes: c.scopes(s.Cluster, s.Binding)}
}

// scopes are those that an action names.
func (c *call) scopes(ref *clusterRef, binding string) (all []messages.HoldScope) {
	switch {
	case ref == nil && binding == "":
		c.bad(c.path, "want cluster or binding")
	case ref != nil && binding != "":
		c.bad(c.path, "want cluster or binding, not both")
	case binding != "":
		return []messages.HoldScope{{Binding: c.binding(c.path+".binding", binding, c.at)}}
	default:
		for _, name := range c.clusters(*ref) {
			all = append(all, messages.HoldScope{Cluster: name})
		}
	}
	return all
}

// Ends is when a hold that begins now ends by itself; zero: it does not. Start is that of the run.
func (h *Hold) Ends(start, now time.Time) time.Time {
	switch {
	case h.Until > 0:
		return start.Add(h.Until)
	case h.For > 0:
		return now.Add(h.For)
	default:
		return time.Time{}
	}
}
