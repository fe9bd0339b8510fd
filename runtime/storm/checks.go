package storm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/kernel"
)

// checks ask what may have been lost, of the facts alone: that no machine takes part makes them worth asking.
func (s *Storm) checks() []Check {
	taints := map[messages.ClusterName][]corev1.Taint{}
	for _, l := range s.lanes {
		maps.Copy(taints, l.taints)
	}
	rule := taint.Rule{Match: s.settings.TolerationMatch, Numeric: s.settings.NumericTolerations}
	var short, overdue, unfinished []string
	s.eachStanding(func(name messages.BindingName, at *followed) {
		if !at.whole() {
			short = append(short, string(name))
		}
		if at.overdue(s.ground.now(), taints, rule) {
			overdue = append(overdue, because(name, at.held))
		}
		if at.handovers() > 0 {
			unfinished = append(unfinished, string(name))
		}
	})
	counters, _ := s.ground.use()
	checks := []Check{
		none("every workload has a place for all its replicas", short),
		none("no workload is where its tolerations do not let it be", overdue),
		none("every handover came to its end", unfinished),
		accounted(counters),
	}
	if s.config.Dir != "" {
		checks = append(checks, none("every invariant held that the daemon checks", s.broken))
	}
	return checks
}

func because(name messages.BindingName, held string) string {
	if held == "" {
		return string(name)
	}
	return fmt.Sprintf("%s (%s)", name, held)
}

// named is how many of those that a check fails for are named.
const named = 5

// none is a check that fails for each of a list.
func none(name string, list []string) Check {
	if len(list) == 0 {
		return Check{Name: name, Passed: true}
	}
	slices.Sort(list)
	detail := fmt.Sprintf("not so for %d: %s", len(list), strings.Join(list[:min(named, len(list))], ", "))
	if len(list) > named {
		detail += ", ..."
	}
	return Check{Name: name, Detail: detail}
}

// accounted checks that every message was handled: the kernel has checked after each instant that none was lost.
func accounted(c kernel.Counters) Check {
	check := Check{Name: "every message was handled", Passed: c.Dropped() == 0 && c.Queued == 0 && c.DeadLettered == 0}
	check.Detail = fmt.Sprintf("%d handled", c.Handled)
	if !check.Passed {
		check.Detail += fmt.Sprintf(", %d dropped, %d without an addressee, %d left", c.Dropped(), c.DeadLettered, c.Queued)
	}
	return check
}

// followed is the state of one workload, told from facts alone: what it runs, and how far its failover has come.
type followed struct {
	failover.Binding
	binding  messages.BindingName
	replicas int32
	// placement is its policy's; nil: it has none.
	placement *api.Placement
	// held is why it was last not let go from a cluster; empty: that never was so.
	held string

	// due is when the failover that runs, or the last one, had to begin; healthy when its last copy became so.
	due, healthy moment
}

// moment is an instant on both clocks, as a distance from the beginning of the storm.
type moment struct {
	wall  time.Duration
	fleet time.Duration
}

func (s *followed) asks(spec *api.BindingSpec, replicas int32) {
	s.replicas = replicas
	if spec != nil {
		s.placement = spec.Placement
	}
}

// handovers counts the clusters that it is being evicted from.
func (s *followed) handovers() (n int) {
	for range s.Handovers() {
		n++
	}
	return n
}

// whole reports whether all replicas have a place.
func (s *followed) whole() bool {
	want, have := s.replicas, int32(0)
	if s.placement != nil && !s.placement.ReplicaScheduling.Divides() {
		want *= int32(len(s.Clusters))
	}
	for _, t := range s.Clusters {
		have += t.Replicas
	}
	return len(s.Clusters) > 0 && have >= want
}

// overdue reports whether it is to run on a cluster that has taints which it does not tolerate, or no longer.
func (s *followed) overdue(now time.Time, taints map[messages.ClusterName][]corev1.Taint, rule taint.Rule) bool {
	return slices.ContainsFunc(s.Clusters, func(t api.TargetCluster) bool {
		var tolerations []corev1.Toleration
		if s.placement != nil {
			tolerations = s.placement.ClusterTolerations
		}
		v := taint.Deadline(taints[messages.ClusterName(t.Name)], tolerations, rule)
		return v.Outcome == taint.Untolerated || v.Outcome == taint.Until && !v.At.After(now)
	})
}
