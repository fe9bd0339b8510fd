package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// withoutOutage looks for an availability that nothing can lower. A scenario that looks at evictions, too, is about handovers.
func withoutOutage(u *unit, r *reporter) {
	notReady := slices.ContainsFunc(u.conditions, func(c *scenario.Condition) bool {
		return c.Type == api.ConditionReady && c.Status != metav1.ConditionTrue && c.Status != ""
	})
	if u.manifests() || !notReady || len(u.outages) > 0 || slices.ContainsFunc(u.Expect, evictions) {
		return
	}
	for i := range u.Expect {
		e := &u.Expect[i]
		b, is := e.Subject.(*expect.Binding)
		if !is || e.Mode != expect.Always || !slices.ContainsFunc(b.Wants, available) {
			continue
		}
		w := u.witness().clusters("m1", "m2").web(2).places(fields{})
		w.step("1m", "condition", fields{"cluster": "m*", "type": api.ConditionReady, "status": "False"})
		w.expect = append(w.expect, fields{"always": true, "from": "1m", "binding": fields{"name": "web", "available": fields{"min": 4}}})
		r.add(found{
			line: &line{u.File, "Scenario " + u.Name, numberOf(e.Source)}, field: fmt.Sprintf("spec.expect[%d]", i),
			why: "a condition Ready=False stops no copy, so replicas remain available whatever is decided", fix: "have the timeline fail the cluster with the action outage (kind: power)",
			witness: w,
		})
	}
}

// numberOf is the line of "fleet.yaml:12".
func numberOf(source string) int {
	n, _ := strconv.Atoi(source[strings.LastIndexByte(source, ':')+1:])
	return n
}

func available(w expect.Want) bool {
	n, is := w.(expect.Number)
	return is && n.Of == expect.Available && n.Min > 0
}

// evictions reports whether an expectation is about evictions, or where a workload runs.
func evictions(e expect.Expectation) bool {
	if event, is := e.Subject.(*expect.Event); is {
		return strings.HasPrefix(event.Kind, "Eviction") || strings.HasPrefix(event.Kind, "Copy") || event.Kind == "Scheduled"
	}
	b, is := e.Subject.(*expect.Binding)
	return is && slices.ContainsFunc(b.Wants, func(w expect.Want) bool {
		_, is := w.(expect.Clusters)
		return is || strings.Contains(fmt.Sprintf("%T", w), "Task")
	})
}

// configures reports whether the timeline changes settings: what does nothing now may do something then.
func (u *unit) configures() bool {
	return slices.ContainsFunc(u.Timeline, func(s scenario.Step) bool { _, is := s.Action.(*scenario.Config); return is })
}
