// Package kubelet is the simulated kubelet of one node. It starts the pods that are bound to its node, ends those that were deleted, renews the
// Lease of the node, and reports the conditions that it is told to. While it is down it does none of that, and what is due it does
// when it is back.
package kubelet

import (
	"cmp"
	"container/heap"
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors"
	"leeward/messages"
)

// What a kubelet does that was not told how.
const (
	// startup is how long a pod takes to be ready.
	startup = 200 * time.Millisecond
	// leasePeriod is that of a kubelet with its default --node-lease-duration.
	leasePeriod = 10 * time.Second
)

// Kubelet is the kubelet of one node.
type Kubelet struct {
	name      messages.NodeName
	seed      uint64
	behaviour messages.KubeletBehaviour
	// down is set while it does nothing, since since; begun is set once it has renewed the Lease.
	down, begun bool
	since       time.Time
	// renewals are at from, and every period after it.
	from time.Time
	pods map[messages.PodName]*pod
	due  schedule
	// conditions are what it was told to report, in the order in which they came.
	conditions []corev1.NodeCondition
}

// pod is a pod of the node, with what its kubelet does next.
type pod struct {
	messages.KubeletPod
	// at is when that is due; zero: nothing is.
	at    time.Time
	index int
}

// New returns the kubelet of a node without pods; it begins when it is configured.
func New(name messages.NodeName, seed uint64) *Kubelet {
	return &Kubelet{name: name, seed: seed, pods: map[messages.PodName]*pod{}}
}

// Receive routes a message to its transition.
func (k *Kubelet) Receive(now time.Time, m messages.ToKubelet, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.KubeletConfigured:
		k.configured(now, m, out)
	case *messages.KubeletSwitched:
		k.switched(now, m, out)
	case *messages.ConditionsObserved:
		k.observed(m, out)
	case *messages.KubeletPod:
		k.podViewed(now, m)
	case *messages.KubeletPodGone:
		k.podGone(m)
	case *messages.Woken:
		k.work(now, out)
	default:
		panic(fmt.Sprintf("kubelet of node %s: unknown message %T", k.name, m))
	}
	out.WakeAt(k.next(now))
}

// configured takes over how to behave. The first time the heartbeat begins.
func (k *Kubelet) configured(now time.Time, m *messages.KubeletConfigured, out *actors.Outbox) {
	k.behaviour = m.Behaviour
	if k.down {
		return
	}
	k.from = now
	if k.behaviour.LeasePhase {
		k.from = now.Add(-time.Duration(k.draw("lease") % uint64(k.period())).Truncate(time.Millisecond))
	}
	k.begun = true
	k.beat(out)
}

func (k *Kubelet) beat(out *actors.Outbox) {
	out.TellNode(k.name, &messages.KubeletBeats{From: k.from, Every: k.period()})
}

func (k *Kubelet) period() time.Duration { return cmp.Or(k.behaviour.LeasePeriod, leasePeriod) }

// draw is a number of chance for a word, the same every time.
func (k *Kubelet) draw(word string) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%d/%s/%s", k.seed, k.name, word)
	return h.Sum64()
}

// switched stops the kubelet, or lets it run again: then it renews the Lease, reports, and does what is due.
func (k *Kubelet) switched(now time.Time, m *messages.KubeletSwitched, out *actors.Outbox) {
	if m.Down == k.down {
		return
	}
	k.down = m.Down
	if k.down {
		k.since = now
		var last time.Time
		if k.begun {
			last = k.from.Add(now.Sub(k.from) / k.period() * k.period())
		}
		out.Record(&messages.KubeletStopped{Node: k.name})
		out.TellNode(k.name, &messages.KubeletSilent{Last: last})
		return
	}
	out.Record(&messages.KubeletReturned{Node: k.name, After: now.Sub(k.since)})
	k.from, k.begun = now, true
	k.beat(out)
	k.report(out)
}

// observed has conditions reported, now or when the kubelet is back.
func (k *Kubelet) observed(m *messages.ConditionsObserved, out *actors.Outbox) {
	for _, c := range m.Conditions {
		k.set(c)
	}
	if !k.down {
		k.report(out)
	}
}

func (k *Kubelet) set(c corev1.NodeCondition) {
	for i := range k.conditions {
		if k.conditions[i].Type == c.Type {
			k.conditions[i] = c
			return
		}
	}
	k.conditions = append(k.conditions, c)
}

// report posts all conditions that the kubelet knows.
func (k *Kubelet) report(out *actors.Outbox) {
	if len(k.conditions) > 0 {
		out.TellAPIServer(&messages.ReportNode{Node: k.name, Conditions: append([]corev1.NodeCondition(nil), k.conditions...), By: "kubelet"})
	}
}

// podViewed takes over a pod, and finds when it has work with it.
func (k *Kubelet) podViewed(now time.Time, m *messages.KubeletPod) {
	p := k.pods[m.Pod]
	if p != nil && p.UID == m.UID && p.Terminating == m.Terminating && p.Until.Equal(m.Until) {
		return
	}
	if p != nil {
		k.due.drop(p)
	}
	p = &pod{KubeletPod: *m, index: -1}
	k.pods[m.Pod] = p
	switch {
	case m.Terminating:
		p.at = m.Until
	case m.Phase == corev1.PodPending || m.Phase == "":
		p.at = now.Add(k.startup(m))
	case m.Phase == corev1.PodRunning && m.Once && k.behaviour.RunsFor > 0:
		p.at = now.Add(k.behaviour.RunsFor)
	}
	k.due.put(p)
}

// startup is how long a pod takes to be ready.
func (k *Kubelet) startup(m *messages.KubeletPod) time.Duration {
	b := &k.behaviour
	if b.StartupMin <= 0 && b.StartupMax <= 0 {
		return startup
	}
	if b.StartupMax <= b.StartupMin {
		return b.StartupMin
	}
	spread := uint64(b.StartupMax-b.StartupMin) + 1
	return b.StartupMin + time.Duration(k.draw(string(m.Pod)+"/"+string(m.UID))%spread).Truncate(time.Millisecond)
}

func (k *Kubelet) podGone(m *messages.KubeletPodGone) {
	if p := k.pods[m.Pod]; p != nil && p.UID == m.UID {
		k.due.drop(p)
		delete(k.pods, m.Pod)
	}
}

// work does what is due: pods start, finish and end.
func (k *Kubelet) work(now time.Time, out *actors.Outbox) {
	for !k.down && len(k.due) > 0 && !k.due[0].at.After(now) {
		p := k.due[0]
		k.due.drop(p)
		switch {
		case p.Terminating:
			out.TellAPIServer(&messages.PodEnded{Pod: p.Pod, UID: p.UID})
		case p.Phase == corev1.PodRunning:
			k.become(p, corev1.PodSucceeded, out)
		default:
			k.become(p, corev1.PodRunning, out)
			if p.Once && k.behaviour.RunsFor > 0 {
				p.at = now.Add(k.behaviour.RunsFor)
				k.due.put(p)
			}
		}
	}
}

// become reports another phase of a pod; one that runs is ready.
func (k *Kubelet) become(p *pod, phase corev1.PodPhase, out *actors.Outbox) {
	p.Phase, p.at = phase, time.Time{}
	out.TellAPIServer(&messages.PodReported{Pod: p.Pod, UID: p.UID, Phase: phase, Ready: phase == corev1.PodRunning})
}

// next is when something is due; zero: nothing is, or the kubelet is down.
func (k *Kubelet) next(now time.Time) time.Time {
	if k.down || len(k.due) == 0 {
		return time.Time{}
	}
	return actors.Later(now, k.due[0].at)
}

// schedule is a heap of pods by when they are due, then by name.
type schedule []*pod

func (s *schedule) put(p *pod) {
	if !p.at.IsZero() {
		heap.Push(s, p)
	}
}

func (s *schedule) drop(p *pod) {
	if p.index >= 0 {
		heap.Remove(s, p.index)
	}
}

func (s schedule) Len() int { return len(s) }

func (s schedule) Less(i, j int) bool {
	return cmp.Or(s[i].at.Compare(s[j].at), cmp.Compare(s[i].Pod, s[j].Pod)) < 0
}

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push is for container/heap.
func (s *schedule) Push(p any) {
	p.(*pod).index = len(*s)
	*s = append(*s, p.(*pod))
}

// Pop is for container/heap.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	p := (*s)[last]
	*s, p.index = (*s)[:last], -1
	return p
}
