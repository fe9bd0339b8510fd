package cluster

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
)

// unsettled is a condition type whose change does not count for policies before an instant.
type unsettled struct {
	kind   string
	counts time.Time
}

// conditionReported takes over a report. Whatever differs, be it the message alone, makes policies
// judge anew, as in Karmada.
func (c *Cluster) conditionReported(now time.Time, m *messages.ConditionReported, out *actors.Outbox) {
	if m.Type == api.ConditionReady {
		c.lease.answer = m.Status
	}
	c.setCondition(now, m, "", out)
}

func (c *Cluster) setCondition(now time.Time, m *messages.ConditionReported, by string, out *actors.Outbox) {
	i := slices.IndexFunc(c.conditions, func(k metav1.Condition) bool { return k.Type == m.Type })
	switch {
	case m.Status == "" && i < 0:
		return
	case m.Status == "":
		c.conditions = slices.Delete(slices.Clone(c.conditions), i, i+1)
		out.Record(&messages.ConditionRemoved{Cluster: c.name, Type: m.Type})
	case i >= 0 && same(&c.conditions[i], m):
		return
	default:
		c.replaceCondition(now, i, m)
		out.Record(&messages.ConditionChanged{
			Cluster: c.name, Type: m.Type, Status: m.Status, Reason: m.Reason, Message: m.Message, By: by,
		})
	}
	c.hold(now, m.Type)
	c.showScheduler(false, out)
	c.judge(now, out)
}

// replaceCondition puts the report at index i, or at the end where i is negative. The transition time
// moves only with the status.
func (c *Cluster) replaceCondition(now time.Time, i int, m *messages.ConditionReported) {
	next := metav1.Condition{
		Type: m.Type, Status: m.Status, Reason: m.Reason, Message: m.Message,
		LastTransitionTime: metav1.Time{Time: now},
	}
	c.conditions = slices.Clone(c.conditions)
	if i < 0 {
		c.conditions = append(c.conditions, next)
		return
	}
	if c.conditions[i].Status == m.Status {
		next.LastTransitionTime = c.conditions[i].LastTransitionTime
	}
	c.conditions[i] = next
}

func same(k *metav1.Condition, m *messages.ConditionReported) bool {
	return k.Status == m.Status && k.Reason == m.Reason && k.Message == m.Message
}

// status returns the status of a condition type; empty where the cluster does not report it.
func (c *Cluster) status(kind string) metav1.ConditionStatus {
	for i := range c.conditions {
		if c.conditions[i].Type == kind {
			return c.conditions[i].Status
		}
	}
	return ""
}

// hold keeps a change from the policies until it has lasted for ConditionHold. A change back within
// that time never shows.
func (c *Cluster) hold(now time.Time, kind string) {
	c.unsettled = slices.DeleteFunc(c.unsettled, func(u unsettled) bool { return u.kind == kind })
	if sameStatus(find(c.seen, kind), find(c.conditions, kind)) {
		c.show(kind)
		return
	}
	c.unsettled = append(c.unsettled, unsettled{kind: kind, counts: now.Add(c.settings.ConditionHold)})
	c.settleConditions(now)
}

// settleConditions shows policies every change that has held long enough, and reports whether there
// was one.
func (c *Cluster) settleConditions(now time.Time) bool {
	before := len(c.unsettled)
	c.unsettled = slices.DeleteFunc(c.unsettled, func(u unsettled) bool {
		due := !now.Before(u.counts)
		if due {
			c.show(u.kind)
		}
		return due
	})
	return len(c.unsettled) < before
}

// show makes what policies see of one condition what the cluster reports.
func (c *Cluster) show(kind string) {
	c.seen = slices.DeleteFunc(slices.Clone(c.seen), func(k metav1.Condition) bool { return k.Type == kind })
	if k := find(c.conditions, kind); k != nil {
		c.seen = append(c.seen, *k)
	}
}

func find(conditions []metav1.Condition, kind string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

func sameStatus(a, b *metav1.Condition) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Status == b.Status
}
