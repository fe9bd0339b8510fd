package storm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
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
