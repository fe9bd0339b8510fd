package lint

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// notReady looks for clusters on which nothing reacts to a failure. A scenario counts if its timeline has one fail.
func notReady(u *unit, r *reporter) {
	if len(u.clusters) == 0 || len(u.placed) == 0 || !u.manifests() && (!u.fails() || u.byHand()) {
		return
	}
	off := u.settings.EvictionOff()
	if off == "" && u.settings.FailoverEvictionTimeout > 0 {
		return
	}
	clusters := map[string][]*cluster{} // by the statuses of Ready to which nothing reacts
	for i := range u.clusters {
		var missing []string
		for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
			if off != "" || !u.reacts(&u.clusters[i], status) {
				missing = append(missing, string(status))
			}
		}
		if len(missing) > 0 {
			key := strings.Join(missing, " or ")
			clusters[key] = append(clusters[key], &u.clusters[i])
		}
	}
	for _, missing := range sortedNames(clusters) {
		u.nothingReacts(r, clusters[missing], missing, off)
	}
}

// nothingReacts reports clusters on which nothing reacts to a Ready of some statuses, or nothing evicts.
func (u *unit) nothingReacts(r *reporter, clusters []*cluster, missing, off string) {
	why := "no policy adds a NoExecute taint when its Ready is " + missing + ": its workloads remain there, whatever happens to it"
	fix := "add a ClusterTaintPolicy: addOnConditions Ready NotIn [\"True\"], removeOnConditions Ready In [\"True\"], a taint with NoExecute"
	switch {
	case off != "":
		why, fix = "nothing evicts, whatever policies say: "+off, "turn evictions on: set failover and enableNoExecuteTaintEviction"
	case missing == string(metav1.ConditionUnknown):
		why += "; it is Unknown when its agent is silent"
		fix = "have addOnConditions of the policy that reacts to False match Unknown, too: Ready NotIn [\"True\"]"
	}
	var names []string
	for _, c := range clusters {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 1 {
		why = spelling.Few(names, mostNames) + ": " + why
	}
	w := u.witness().clusters("m1", "m2", "m3", "m4", "m5").web(2).places(firstOn(nil))
	for _, p := range u.policies {
		if p.Spec.TargetClusters == nil && off == "" {
			w.policy(p.Name, &p.Spec)
		}
	}
	status, _, _ := strings.Cut(missing, " ")
	w.duration = "2h"
	w.step("1m", "condition", fields{"cluster": "m1", "type": api.ConditionReady, "status": status})
	w.expects("never", true, "event", fields{"kind": "EvictionStarted"}).expects("at", "2h", "binding", fields{"name": "web", "clusters": fields{"m1": 2}})
	severity := Warning
	if !u.manifests() {
		severity = Info
	}
	r.add(found{at: clusters[0].Document, severity: severity, why: why, fix: fix, witness: w})
}

// reacts reports whether some policy evicts from a cluster whose Ready has a status.
func (u *unit) reacts(c *cluster, ready metav1.ConditionStatus) bool {
	v := *c.view
	v.Conditions = slices.Clone(v.Conditions)
	i := slices.IndexFunc(v.Conditions, func(m metav1.Condition) bool { return m.Type == api.ConditionReady })
	if i < 0 {
		v.Conditions = append(v.Conditions, metav1.Condition{Type: api.ConditionReady})
		i = len(v.Conditions) - 1
	}
	v.Conditions[i].Status = ready
	for j := range u.policies {
		p := &u.policies[j]
		if slices.ContainsFunc(u.targets(p), func(t *cluster) bool { return t.Name == c.Name }) && policy.Evicts(&p.Spec, &v, u.settings.MissingConditionStatus, long) {
			return true
		}
	}
	return false
}

// fails reports whether the timeline has a cluster fail, and expects the workloads to be evicted for it.
func (u *unit) fails() bool {
	failed := len(u.outages) > 0
	for _, c := range u.conditions {
		failed = failed || c.Type == api.ConditionReady && c.Status != metav1.ConditionTrue
	}
	return failed
}

// byHand reports whether a scenario evicts by taints of its own, or expects that nothing is evicted.
func (u *unit) byHand() bool {
	return slices.ContainsFunc(u.added, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }) ||
		slices.ContainsFunc(u.Expect, func(e expect.Expectation) bool {
			event, is := e.Subject.(*expect.Event)
			return is && strings.HasPrefix(event.Kind, "Eviction") && (e.Mode == expect.Never || e.Mode == expect.Total && e.Count.Max == 0)
		})
}

// loses reports whether the loss of a cluster matters: a scenario is about what its timeline has happen.
func (u *unit) loses() bool { return u.manifests() }

// loss is what a timeline loses at an instant.
type loss struct {
	at       time.Duration
	clusters []string
}

// losses are those of a timeline that does nothing else which placements depend on, and says nothing of workloads that fit nowhere.
func (u *unit) losses() (all []loss) {
	if u.manifests() || slices.ContainsFunc(u.Expect, fitsNowhere) {
		return nil
	}
	for i := range u.Timeline {
		s := &u.Timeline[i]
		var clusters []messages.ClusterName
		switch a := s.Action.(type) {
		case *scenario.Outage:
			if !a.Over {
				clusters = a.Clusters
			}
		case *scenario.Condition:
			if a.Type == api.ConditionReady && a.Status != metav1.ConditionTrue && a.Status != "" {
				clusters = a.Clusters
			}
		case *scenario.Scale, *scenario.Health:
		default:
			return nil
		}
		if len(clusters) == 0 {
			continue
		}
		if len(all) == 0 || all[len(all)-1].at != s.At {
			all = append(all, loss{at: s.At})
		}
		for _, name := range clusters {
			all[len(all)-1].clusters = append(all[len(all)-1].clusters, string(name))
		}
	}
	return all
}

// fitsNowhere reports whether an expectation is about what cannot be placed.
func fitsNowhere(e expect.Expectation) bool {
	text := e.Subject.String()
	return slices.ContainsFunc([]string{"Scheduled", "schedulable", "NoClusterFit", "EvictionBlocked"}, func(word string) bool { return strings.Contains(text, word) })
}

// changes reports whether the timeline changes what placements depend on: they may be satisfied later.
func (u *unit) changes() bool {
	return !u.manifests() && slices.ContainsFunc(u.Timeline, func(s scenario.Step) bool {
		switch s.Action.(type) {
		case *scenario.Outage, *scenario.Scale, *scenario.Health:
			return false
		}
		return true
	})
}

// deletes reports whether the timeline deletes objects.
func (u *unit) deletes() bool {
	return slices.ContainsFunc(u.Timeline, func(s scenario.Step) bool { _, is := s.Action.(*scenario.Delete); return is })
}
