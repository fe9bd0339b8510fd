package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"leeward/actors/rules/budget"
	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

func unmeetable(u *unit, r *reporter) {
	if !u.settings.EvictionBudgets {
		return
	}
	for i := range u.budgets {
		b := &u.budgets[i]
		expected, direct := u.expected(b)
		whole := &budget.Account{Expected: max(expected, 1), Healthy: max(expected, 1)}
		if o := budget.Judge(b.spec, whole, budget.Cost{Moves: 1}); o.Never {
			r.add(u.blocks(b, "spec.maxMoved", o.Message, false))
			continue
		}
		desired := budget.Desired(b.spec, max(expected, 1))
		switch o := budget.Judge(b.spec, whole, budget.Cost{Takes: 1}); {
		case expected > 0 && b.spec.MinAvailable != nil && b.spec.MinAvailable.Type == intstr.Int && desired > expected:
			r.add(u.blocks(b, "spec.minAvailable", fmt.Sprintf("asks for %d available replicas of %d that there are", desired, expected), true))
		case o.Never && direct:
			r.add(u.blocks(b, "spec", o.Message+": purge mode Directly stops copies that serve, and is never allowed", true))
		}
	}
}

// expected counts the replicas of the workloads that a budget selects, and says whether a policy has one of them evicted with purge
// mode Directly.
func (u *unit) expected(b *evictionBudget) (n int64, direct bool) {
	c, ok := u.claims()
	if !ok {
		return 0, false
	}
	for i := range u.templates {
		t := &u.templates[i]
		if c.winner[i] < 0 {
			continue
		}
		spec := u.placed[c.winner[i]].spec
		w := budget.Workload{Namespace: t.key.Namespace, Labels: t.labels}
		if spec.SchedulePriority != nil {
			w.Priority = spec.SchedulePriority.Priority
		}
		if !budget.Selects(&messages.Budget{Name: b.id, Spec: b.spec}, w) {
			continue
		}
		replicas, _, is := propagation.Requirements(t.Object)
		switch {
		case !is:
			n++
		case spec.Placement.ReplicaScheduling.Divides():
			n += int64(replicas)
		default:
			n += int64(replicas) * int64(max(1, len(u.clusters))) // all clusters have all of them, at most
		}
		mode := u.settings.NoExecuteTaintEvictionPurgeMode
		if f := spec.Failover; f != nil && f.Cluster != nil && f.Cluster.PurgeMode != "" {
			mode = f.Cluster.PurgeMode
		}
		direct = direct || mode == api.PurgeDirectly
	}
	return n, direct
}

// blocks is the finding about a budget that keeps evictions waiting for ever.
func (u *unit) blocks(b *evictionBudget, field, why string, directly bool) found {
	w := u.witness().set("failover", true).set("enableNoExecuteTaintEviction", true).clusters("m1", "m2", "m3", "m4", "m5").web(2)
	spec := fields{"placement": firstOn(nil)}
	if directly {
		spec["failover"] = fields{"cluster": fields{"purgeMode": "Directly"}}
	}
	w.propagates(spec)
	copied := *b.spec
	copied.Workloads = api.WorkloadSelector{}
	w.objects = append(w.objects, fields{"apiVersion": api.KeyOf(b.Object).APIVersion, "kind": "EvictionBudget", "metadata": fields{"name": b.Object.GetName()}, "spec": copied})
	w.duration = "2h"
	w.step("1m", "taint", fields{"cluster": "m1", "taints": []string{"example.com/failed:NoExecute"}})
	w.expects("never", true, "event", fields{"kind": "EvictionStarted"}).expects("at", "2m", "taint", fields{"cluster": "m1", "key": "example.com/failed"})
	return found{
		at: b.Document, field: field, why: why,
		fix:     "lower minAvailable or raise maxUnavailable, maxMoved or the replicas, so that one copy may be evicted",
		witness: w,
	}
}

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
