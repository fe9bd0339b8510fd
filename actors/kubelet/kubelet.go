// Package kubelet is the machine of the kubelet of one node, simulated: it renews the Lease of its node, reports conditions, and starts and
// ends the pods of the node, unless it is down.
//
// It collects what it hears in an instant, and acts when the instant has no more messages. A kubelet that stops in an instant reports
// nothing of what it was told in it; one that returns begins with all that is overdue.
package kubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/messages"
)

const (
	// usualStartup is how long a pod takes to run where no bounds are set, usualLease the time between two renewals of the Lease.
	usualStartup = 200 * time.Millisecond
	usualLease   = 10 * time.Second
)

// Kubelet is the simulated kubelet of one node.
type Kubelet struct {
	name      messages.NodeName
	seed      uint64
	behaviour messages.KubeletBehaviour
	// stale is set where the kubelet must act at the end of this instant. begun: it has done so once.
	stale, begun bool

	// switched is what it was told to be, down what it is, since stopped. It renews the Lease at from, and every so often after it.
	switched, down bool
	stopped        time.Time
	from           time.Time
	every          time.Duration
	phase          bool

	// words are the last that it was told of each condition, unsaid those of them that it has not reported. notReady: it last reported that
	// its node is not Ready.
	words    map[corev1.NodeConditionType]corev1.NodeCondition
	unsaid   map[corev1.NodeConditionType]bool
	notReady bool

	pods map[messages.PodName]*pod
	// heard are the pods that it was told of in this instant, plan those that must start, succeed or end, the next one first.
	heard []*pod
	plan  plan
}

// New returns a kubelet that runs and has no pods. It renews the Lease from the instant of its first message on. What is by chance follows
// from the seed.
func New(name messages.NodeName, seed uint64) *Kubelet {
	return &Kubelet{
		name: name, seed: seed,
		words:  map[corev1.NodeConditionType]corev1.NodeCondition{},
		unsaid: map[corev1.NodeConditionType]bool{},
		pods:   map[messages.PodName]*pod{},
	}
}

// Receive routes a message to its transition.
func (k *Kubelet) Receive(now time.Time, m messages.ToKubelet, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.KubeletConfigured:
		k.behaviour, k.stale = m.Behaviour, true
	case *messages.KubeletSwitched:
		k.switched, k.stale = m.Down, true
	case *messages.ConditionsObserved:
		k.observed(m.Conditions)
	case *messages.KubeletPod:
		k.told(m)
	case *messages.KubeletPodGone:
		k.gone(m)
	case *messages.Woken:
		k.woken(now, out)
	default:
		panic(fmt.Sprintf("kubelet %s: unknown message %T", k.name, m))
	}
	out.WakeAt(k.next(now))
}

// woken does what was asked for in this instant, and what is due.
func (k *Kubelet) woken(now time.Time, out *actors.Outbox) {
	k.stale = false
	returned := k.renew(now, out)
	for _, p := range k.heard {
		k.consider(now, p)
	}
	clear(k.heard)
	k.heard = k.heard[:0]
	if k.down {
		return
	}
	if returned {
		k.resume(now)
	}
	k.report(returned, out)
	k.work(now, out)
}

// renew begins to renew the Lease, or stops, and reports whether the kubelet has returned.
func (k *Kubelet) renew(now time.Time, out *actors.Outbox) (returned bool) {
	first := !k.begun
	k.begun = true
	switch {
	case k.switched && !k.down:
		k.stop(now, first, out)
	case k.down && !k.switched:
		k.down = false
		out.Record(&messages.KubeletReturned{Node: k.name, After: now.Sub(k.stopped)})
		k.beat(now, k.period(), out)
		return true
	case !k.down && (first || k.every != k.period() || k.phase != k.behaviour.LeasePhase):
		k.beat(k.grid(now), k.period(), out)
	}
	return false
}

// stop renews the Lease no more. A kubelet that stops at the instant at which it is created never did.
func (k *Kubelet) stop(now time.Time, first bool, out *actors.Outbox) {
	k.down, k.stopped = true, now
	var last time.Time
	if !first {
		last = now.Add(-(now.Sub(k.from) % k.every))
	}
	out.Record(&messages.KubeletStopped{Node: k.name})
	out.TellNode(k.name, &messages.KubeletSilent{Last: last})
}

func (k *Kubelet) beat(from time.Time, every time.Duration, out *actors.Outbox) {
	k.from, k.every, k.phase = from, every, k.behaviour.LeasePhase
	out.TellNode(k.name, &messages.KubeletBeats{From: from, Every: every})
}

// period is the time between two renewals.
func (k *Kubelet) period() time.Duration {
	if k.behaviour.LeasePeriod <= 0 {
		return usualLease
	}
	return k.behaviour.LeasePeriod
}

// grid is the last instant for a renewal at or before now: at whole periods, or so much later than them as the seed says.
func (k *Kubelet) grid(now time.Time) time.Time {
	var phase time.Duration
	if k.behaviour.LeasePhase {
		phase = time.Duration(k.number("lease") % uint64(k.period()))
	}
	return now.Add(-phase).Truncate(k.period()).Add(phase)
}

// startup is how long a pod takes to run here: anywhere between the bounds, in steps of a millisecond, always the same for one seed, node
// and name. Without bounds it is 0.2 seconds.
func (k *Kubelet) startup(name messages.PodName) time.Duration {
	least, most := max(k.behaviour.StartupMin, 0), k.behaviour.StartupMax
	switch {
	case least == 0 && most <= 0:
		return usualStartup
	case most <= least:
		return least
	}
	return draw.Between(k.number(string(name)), least, most)
}

// number follows from the seed, the node and what it is for.
func (k *Kubelet) number(what string) uint64 {
	return draw.Hash(0, fmt.Sprintf("%d/%s/%s", k.seed, k.name, what))
}

// next is when the kubelet must act by itself; zero: only when it is told something.
func (k *Kubelet) next(now time.Time) time.Time {
	switch {
	case k.stale:
		return now
	case k.down || len(k.plan) == 0:
		return time.Time{}
	}
	return k.plan[0].due
}
