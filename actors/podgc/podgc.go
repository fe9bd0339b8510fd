// Package podgc is the machine that removes the pods that no kubelet ends: those of nodes that do not exist any more, and those that are being
// deleted on nodes that are out of service. Source: the pod garbage collector of Kubernetes 1.37. Of its work, the removal of finished pods
// beyond --terminated-pod-gc-threshold is not here.
package podgc

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"leeward/actors"
	"leeward/messages"
)

// Quarantine is how long a node must be found missing before its pods are collected. Source: quarantineTime of Kubernetes.
const Quarantine = 40 * time.Second

// Rules say when the collector looks.
type Rules struct {
	// Period is the time between two checks, which count from Epoch. Zero: it acts exactly when due.
	Period time.Duration
	Epoch  time.Time
}

// Collector is the pod garbage collector of a cluster.
type Collector struct {
	rules Rules
	// pods are those that are stranded; missing is since when a node of theirs was found missing.
	pods    map[messages.PodName]*stranded
	missing map[messages.NodeName]time.Time
	// wake is when it looks next; zero: when it hears of a pod.
	wake time.Time
}

type stranded struct {
	*messages.PodStranded
	// asked: the API server was asked to remove it. Only finalizers keep it.
	asked bool
}

// New returns a collector that knows no pods.
func New(rules Rules) *Collector {
	return &Collector{rules: rules, pods: map[messages.PodName]*stranded{}, missing: map[messages.NodeName]time.Time{}}
}

// Receive routes a message to its transition.
func (c *Collector) Receive(now time.Time, m messages.ToPodGC, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.PodStranded:
		c.heard(now, m)
	case *messages.Woken:
		c.check(now, out)
	default:
		panic(fmt.Sprintf("pod GC: unknown message %T", m))
	}
	out.WakeAt(c.wake)
}

// heard takes over what became of a pod. All that comes in one instant is looked at together.
func (c *Collector) heard(now time.Time, m *messages.PodStranded) {
	c.wake = c.look(now, now)
	if m.Cause == "" {
		delete(c.pods, m.Pod)
		return
	}
	c.pods[m.Pod] = &stranded{PodStranded: m}
}

// look is when something that is due at an instant is looked at: then, or at the next check.
func (c *Collector) look(now, due time.Time) time.Time {
	if c.rules.Period <= 0 {
		return due
	}
	return c.rules.Epoch.Add((now.Sub(c.rules.Epoch)/c.rules.Period + 1) * c.rules.Period)
}

// check finds nodes missing, and collects what is due, in the order of the names of pods. A node that came back, or whose pods are gone, is
// forgotten: when it is missing again it has another quarantine.
func (c *Collector) check(now time.Time, out *actors.Outbox) {
	c.wake = time.Time{}
	missing := map[messages.NodeName]time.Time{}
	for _, name := range slices.Sorted(maps.Keys(c.pods)) {
		p := c.pods[name]
		due := now
		if p.Cause == messages.NodeMissing {
			since, known := c.missing[p.Node]
			if !known {
				since = now
			}
			missing[p.Node], due = since, since.Add(Quarantine)
		}
		if !p.asked {
			c.collect(now, due, p, out)
		}
	}
	c.missing = missing
}

// collect asks for a pod to be removed, or looks again.
func (c *Collector) collect(now, due time.Time, p *stranded, out *actors.Outbox) {
	if due.After(now) {
		if at := c.look(now, due); c.wake.IsZero() || at.Before(c.wake) {
			c.wake = at
		}
		return
	}
	p.asked = true
	out.TellAPIServer(&messages.CollectPod{Pod: p.Pod, UID: p.UID, Cause: p.Cause})
}
