package scenario

import (
	"fmt"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/expect"
)

// Scenario is one document of kind Scenario with all that belongs to it. Its objects are its own: two
// scenarios share none. A world that stores them must copy them first, if the scenario is to run again.
type Scenario struct {
	Name        string
	Description string
	// File is where it was read, Line where it begins.
	File string
	Line int
	// Annotations are those of the document.
	Annotations map[string]string
	// Profile names the settings that Config changes; empty for the default.
	Profile string
	Seed    uint64
	// Duration is how long the run lasts; 0: until nothing more is due, but not before Until.
	Duration time.Duration
	// Config are the settings as given, in the order written.
	Config []config.Override
	// Began says how the fleet was when a recording began; nil: there was nothing yet.
	Began *Beginning
	// Objects are the manifests of the file, of the files it includes, and the clusters of its fleet, in
	// this order. A Place says where each was written.
	Objects []manifest.Document
	// Members says how the simulated member of each cluster behaves, also of those that are applied later.
	Members map[messages.ClusterName]messages.MemberBehaviour
	// OfNodes is set where the scenario is about the nodes and pods of one Kubernetes cluster, not about a fleet.
	OfNodes bool
	// MemberNodes are the nodes of the clusters of a fleet that have some.
	MemberNodes map[messages.ClusterName]*messages.MemberNodes
	// Kubelets says how the simulated kubelets of nodes behave; those that it does not name have the zero value.
	Kubelets map[messages.NodeName]messages.KubeletBehaviour
	// Timeline is sorted by time, then as written.
	Timeline []Step
	// Expect is in the order written.
	Expect []expect.Expectation
}

// Beginning is a fleet as it was when its recording began. Objects are taken over unchanged. Inputs are what no object
// shows: the copies that clusters run, and that clusters are silent.
type Beginning struct {
	// At is the instant from which everything counts.
	At      time.Time
	Objects []api.Object
	Inputs  []*RecordedInput
}

// Step is one firing of one action.
type Step struct {
	// At is an offset from the start.
	At     time.Duration
	Action Action
	// Recorded is set where the step was possible once: where it no longer is, in what became of the fleet this time,
	// nothing happens.
	Recorded bool
	File     string
	Line     int
}

// Source returns where the step is written, as "fleet.yaml:12", or as the flag that asks for it.
func (s *Step) Source() string {
	if s.Line == 0 {
		return s.File
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

// Until returns how long the run must last at least: its duration, or else until the last step is done
// and the last expectation can be decided.
func (s *Scenario) Until() time.Duration {
	if s.Duration > 0 {
		return s.Duration
	}
	var last time.Duration
	for i := range s.Timeline {
		last = max(last, s.Timeline[i].At)
	}
	for i := range s.Expect {
		if e := &s.Expect[i]; e.Until < span.Max {
			last = max(last, e.Until)
		} else {
			last = max(last, e.From)
		}
	}
	return last
}
