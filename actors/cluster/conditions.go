package cluster

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/rules/policy"
	"leeward/messages"
	"leeward/messages/api"
)

// youngCondition is a change of one condition that policies do not see yet, because it has not lasted for
// ConditionHold.
type youngCondition struct {
	kind  string
	since time.Time
	// before is the condition as policies still see it; nil: as not reported.
	before *metav1.Condition
	// unknown is set where the condition before is not known: it changed shortly before a restart.
	unknown bool
}

// conditions are what a cluster reports of itself.
type conditions struct {
	settings *messages.Settings
	list     []metav1.Condition
	removed  []api.RemovedCondition
	// young are the changes that policies do not see yet.
	young []youngCondition
	// stale is set where a condition changed in this instant, so that the system's taints follow it at its end.
	stale bool
}

// counts is when policies see a young change.
func (c *conditions) counts(h *youngCondition) time.Time {
	return h.since.Add(c.settings.ConditionHold)
}

// due is when policies see the next of them; zero: there is none.
func (c *conditions) due() (next time.Time) {
	for i := range c.young {
		next = actors.Earlier(next, c.counts(&c.young[i]))
	}
	return next
}

// readiness is the condition Ready; nil: the cluster does not report it.
func (c *conditions) readiness() *metav1.Condition {
	return meta.FindStatusCondition(c.list, api.ConditionReady)
}

// unreported is what counts of a condition that is not reported.
var unreported metav1.Condition

// ready is the status of the condition Ready; empty where it is not reported.
func (c *conditions) ready() metav1.ConditionStatus { return cmp.Or(c.readiness(), &unreported).Status }

func (c *conditions) readySince() time.Time {
	return cmp.Or(c.readiness(), &unreported).LastTransitionTime.Time
}

func (c *conditions) because() string {
	if k := c.readiness(); k != nil {
		return policy.Cause(k)
	}
	return "Ready is not reported"
}

// take reports whether there is something new in reports. It takes one look at each condition and at each report: agents say how many
// there are.
func (c *conditions) take(now time.Time, cluster messages.ClusterName, reports []*messages.ConditionReported, by string, out *actors.Outbox) bool {
	next := slices.Clone(c.list) // others see the old list
	places := make(map[string]int, len(next))
	for i := range next {
		places[next[i].Type] = i
	}
	changed := false
	for _, m := range reports {
		var before, after *metav1.Condition
		if i, is := places[m.Type]; is {
			was := next[i]
			before = &was
		}
		switch {
		case m.Status != "":
			after = reportedAs(now, m, before)
			if before != nil && *before == *after {
				continue
			}
			if before == nil {
				places[m.Type] = len(next)
				next = append(next, *after)
			} else {
				next[places[m.Type]] = *after
			}
			out.Record(&messages.ConditionChanged{
				Cluster: cluster, Type: m.Type, Status: m.Status, Reason: m.Reason, Message: m.Message, By: by,
			})
		case before != nil:
			next[places[m.Type]].Type = "" // taken out below
			delete(places, m.Type)
			c.removed = api.WithRemoved(c.removed, m.Type, now)
			out.Record(&messages.ConditionRemoved{Cluster: cluster, Type: m.Type})
		default:
			continue
		}
		changed = true
		c.wait(now, m.Type, before, after)
	}
	if changed {
		c.list, c.stale = slices.DeleteFunc(next, func(k metav1.Condition) bool { return k.Type == "" }), true
	}
	return changed
}

// reportedAs is a condition as it is after a report. The transition time moves only with the status.
func reportedAs(now time.Time, m *messages.ConditionReported, before *metav1.Condition) *metav1.Condition {
	after := metav1.Condition{Type: m.Type, LastTransitionTime: metav1.Time{Time: now}}
	if before != nil && before.Status == m.Status {
		after = *before
	}
	after.Status, after.Reason, after.Message = m.Status, m.Reason, m.Message
	return &after
}

// wait keeps a change of status from the policies until it has lasted for ConditionHold. A change back
// within that time never shows; another change starts the time again. A change of the message alone is
// kept as long as the status that it is about.
func (c *conditions) wait(now time.Time, kind string, before, after *metav1.Condition) {
	h := youngCondition{kind: kind, since: now, before: before}
	if i := slices.IndexFunc(c.young, func(h youngCondition) bool { return h.kind == kind }); i >= 0 {
		if sameStatus(before, after) {
			return
		}
		h.before, h.unknown = c.young[i].before, c.young[i].unknown
		c.young = slices.Delete(c.young, i, i+1)
	}
	if c.settings.ConditionHold > 0 && (h.unknown || !sameStatus(h.before, after)) {
		c.young = append(c.young, h)
	}
}

// restoreYoung keeps from the policies, after a restart, what changed so shortly before that it had not shown yet.
func (c *conditions) restoreYoung(now time.Time) {
	for i := range c.list {
		h := youngCondition{kind: c.list[i].Type, since: c.list[i].LastTransitionTime.Time, unknown: true}
		if c.counts(&h).After(now) {
			c.young = append(c.young, h)
		}
	}
}

// settle lets policies see every change that has lasted long enough, and reports whether there is one.
func (c *conditions) settle(now time.Time) bool {
	before := len(c.young)
	c.young = slices.DeleteFunc(c.young, func(h youngCondition) bool { return !c.counts(&h).After(now) })
	return len(c.young) < before
}

// blind reports whether a policy must know how a condition was before a restart to judge.
func (c *conditions) blind() bool {
	return slices.ContainsFunc(c.young, func(h youngCondition) bool { return h.unknown })
}

// seen are the conditions as policies see them.
func (c *conditions) seen() []metav1.Condition {
	if len(c.young) == 0 {
		return c.list
	}
	waiting := make(map[string]bool, len(c.young))
	for i := range c.young {
		waiting[c.young[i].kind] = true
	}
	var seen []metav1.Condition
	for i := range c.list {
		if !waiting[c.list[i].Type] {
			seen = append(seen, c.list[i])
		}
	}
	for i := range c.young {
		if before := c.young[i].before; before != nil {
			seen = append(seen, *before)
		}
	}
	return seen
}

func sameStatus(a, b *metav1.Condition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status
}
