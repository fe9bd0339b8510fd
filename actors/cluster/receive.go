package cluster

import (
	"fmt"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// Receive routes a message to its transition.
func (c *Cluster) Receive(now time.Time, m messages.ToCluster, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.ClusterJoined:
		c.joined(now, m, out)
	case *messages.ClusterEdited:
		c.edited(now, m.Object, out)
	case *messages.ClusterRecreated:
		c.recreated(now, m.Object, out)
	case *messages.ClusterDeleted:
		c.deleted(now, out)
	case *messages.ConditionReported:
		c.conditionReported(now, m, out)
	case *messages.ConditionsReported:
		c.conditionsReported(now, m.Reports, out)
	case *messages.TaintsEdited:
		c.taintsEdited(now, m.Edits, out)
	case *messages.DrainRequested:
		c.drainRequested(now, m.Deadline, out)
	case *messages.DrainCancelled:
		c.drainCancelled(now, out)
	case *messages.LabelsEdited:
		c.labelsEdited(now, m.Labels, out)
	case *messages.ResourcesReported:
		c.resourcesReported(now, m.Summary, out)
	case *messages.EnablementsReported:
		c.enablementsReported(now, m.APIs, out)
	case *messages.ContactLost:
		c.contactLost(now, m, out)
	case *messages.ContactRestored:
		c.contactRestored(now, out)
	case *messages.BlackoutDeclared:
		c.blackoutDeclared(now, m.Blind, out)
	case *messages.PolicyListed:
		c.judging.listed(m)
	case *messages.PolicyDropped:
		c.policyDropped(now, m.Name, out)
	case *messages.VerdictGiven:
		c.verdictGiven(now, m, out)
	case *messages.AnswerChanged:
		c.considerAll(m.Binding, out)
	case *messages.TaintsConsidered:
		c.previews.answered(m)
	case *messages.BindingPlaced:
		c.bindingPlaced(m, out)
	case *messages.BindingLeft:
		c.bindingLeft(m.Binding)
	case *messages.SettingsChanged:
		c.settingsChanged(m.Settings, out)
	case *messages.Woken:
		c.woken(now, out)
	default:
		panic(fmt.Sprintf("cluster %s: unknown message %T", c.name, m))
	}
	out.WakeAt(c.nextDeadline(now))
}

func (c *Cluster) settingsChanged(s messages.Settings, out *actors.Outbox) {
	gated := s.CustomizedClusterResourceModeling != c.settings.CustomizedClusterResourceModeling
	c.settings = s
	if gated {
		c.show(false, out)
	}
	c.showGovernor(out)
	c.judging.sort()
	c.judging.reopen()
}

// woken does what has fallen due, and what waited for the end of the instant so that the order of its
// messages does not matter: to ask the policies, and to leave.
func (c *Cluster) woken(now time.Time, out *actors.Outbox) {
	c.expireLease(now, out)
	c.probe(now, out)
	c.expireObservation(now, out)
	if c.conditions.settle(now) || c.judging.over(now) {
		c.judging.reopen()
	}
	if c.toAsk() {
		c.ask(now, out)
	} else {
		c.retaint(now, out)
	}
	c.conditions.stale = false
	c.previews.record(c.name, out)
	c.drain.count(c.name, c.subscribers.len(), out)
	c.drain.miss(now, c.name, &c.subscribers, out)
	c.sayStay(out)
	if c.toLeave() {
		c.leave(out)
	}
}

// nextDeadline is the earliest instant at which the cluster must act by itself; zero: none.
func (c *Cluster) nextDeadline(now time.Time) time.Time {
	if c.toAsk() || c.conditions.stale || c.previews.changed() || c.drain.news(c.subscribers.len()) || c.toSayStay() || c.toLeave() {
		return now
	}
	next := c.judging.due
	for _, at := range [...]time.Time{c.leaseDeadline(), c.probes.at, c.legacyDue(now), c.observedDue(), c.drain.due(c.subscribers.len()), c.conditions.due()} {
		next = actors.Earlier(next, at)
	}
	return next
}

// bindingPlaced takes a binding in. One that comes to a tainted cluster hears of the taints, which are
// no news.
func (c *Cluster) bindingPlaced(m *messages.BindingPlaced, out *actors.Outbox) {
	c.subscribers.add(m.Binding)
	if m.Leaving || !c.taints.listed.IsZero() {
		out.TellBinding(m.Binding, c.taints.told(false))
	}
	c.considerAll(m.Binding, out)
}

func (c *Cluster) bindingLeft(b messages.BindingName) {
	c.subscribers.remove(b)
	for i := range c.previews {
		delete(c.previews[i].leaves, b)
	}
}
