package kubelet

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors"
	"leeward/messages"
)

// pod is one pod of the node.
type pod struct {
	name messages.PodName
	uid  types.UID
	// phase is what the kubelet reported, or what it was told of a pod that ran before.
	phase corev1.PodPhase
	once  bool
	// terminating: it was deleted and ends at until, grace later than it was. ended: it has. unheard: the kubelet was down when it was deleted.
	terminating, ended bool
	unheard            bool
	until              time.Time
	grace              time.Duration
	// heard is set where it is in the list of this instant; gone: it does not exist any more.
	heard, gone bool

	// step is what is due next, at due; at is its place in the plan.
	step step
	due  time.Time
	at   int
}

// step is what a kubelet does with a pod.
type step uint8

const (
	// nothing needs doing.
	nothing step = iota
	// start: it runs and is ready. succeed: it has finished. end: it runs no more, for it was deleted.
	start
	succeed
	end
)

// told takes over what the API server says of a pod. Another UID is another pod.
func (k *Kubelet) told(m *messages.KubeletPod) {
	p := k.pods[m.Pod]
	if p == nil || p.uid != m.UID {
		k.forget(p)
		p = &pod{name: m.Pod, uid: m.UID}
		k.pods[m.Pod] = p
	}
	if age(m.Phase) > age(p.phase) {
		p.phase = m.Phase
	}
	if m.Terminating && (!p.terminating || !p.until.Equal(m.Until)) {
		p.terminating, p.until, p.step = true, m.Until, nothing
	}
	p.once = m.Once
	if !p.heard {
		p.heard = true
		k.heard, k.stale = append(k.heard, p), true
	}
}

// age orders phases: no pod goes back to an earlier one.
func age(phase corev1.PodPhase) int {
	switch phase {
	case corev1.PodRunning:
		return 1
	case corev1.PodSucceeded, corev1.PodFailed:
		return 2
	}
	return 0
}

func (k *Kubelet) gone(m *messages.KubeletPodGone) {
	if p := k.pods[m.Pod]; p != nil && p.uid == m.UID {
		k.forget(p)
		delete(k.pods, m.Pod)
	}
}

// forget takes a pod out of the plan.
func (k *Kubelet) forget(p *pod) {
	if p == nil {
		return
	}
	p.gone = true
	k.drop(p)
}

// consider plans the next step of a pod. What is planned already keeps its time.
func (k *Kubelet) consider(now time.Time, p *pod) {
	p.heard = false
	if p.gone {
		return
	}
	want := p.wants(&k.behaviour)
	if want == p.step {
		return
	}
	p.step = want
	switch want {
	case nothing:
		k.drop(p)
		return
	case start:
		p.due = now.Add(k.startup(p.name))
	case succeed:
		p.due = now.Add(k.behaviour.RunsFor)
	case end:
		p.due, p.grace, p.unheard = actors.Later(p.until, now), max(p.until.Sub(now), 0), k.down
	}
	k.put(p)
}

// wants is the next step of a pod.
func (p *pod) wants(b *messages.KubeletBehaviour) step {
	switch {
	case p.ended:
		return nothing
	case p.terminating:
		return end
	case age(p.phase) == 0:
		return start
	case p.phase == corev1.PodRunning && p.once && b.RunsFor > 0:
		return succeed
	}
	return nothing
}

// resume has a kubelet that has returned begin with what is overdue, and with the pods of whose deletion it hears now: pods that are to
// start need their time, deleted ones have their grace period. Pods that have finished meanwhile have.
func (k *Kubelet) resume(now time.Time) {
	var overdue []*pod
	for _, p := range slices.Clone(k.plan) {
		if !p.due.After(now) || p.unheard {
			k.drop(p)
			overdue = append(overdue, p)
		}
	}
	for _, p := range overdue {
		switch p.step {
		case start:
			p.due = now.Add(k.startup(p.name))
		case end:
			p.due, p.unheard = now.Add(p.grace), false
		}
		k.put(p)
	}
}

// work does what is due, in the order of time, then of name.
func (k *Kubelet) work(now time.Time, out *actors.Outbox) {
	for len(k.plan) > 0 && !k.plan[0].due.After(now) {
		p := heap.Pop(&k.plan).(*pod)
		switch p.step {
		case start:
			p.phase = corev1.PodRunning
			p.report(out)
		case succeed:
			p.phase = corev1.PodSucceeded
			p.report(out)
		case end:
			p.ended = true
			out.TellAPIServer(&messages.PodEnded{Pod: p.name, UID: p.uid})
		}
		p.step = nothing
		k.consider(now, p)
	}
}

// report reports the status of a pod.
func (p *pod) report(out *actors.Outbox) {
	out.TellAPIServer(&messages.PodReported{Pod: p.name, UID: p.uid, Phase: p.phase, Ready: p.phase == corev1.PodRunning})
}

// reportPods reports all pods that run and are to go on, by name.
func (k *Kubelet) reportPods(out *actors.Outbox) {
	var running []*pod
	for _, p := range k.pods { // order-free: they are sorted
		if p.phase == corev1.PodRunning && !p.terminating {
			running = append(running, p)
		}
	}
	slices.SortFunc(running, func(a, b *pod) int { return cmp.Compare(a.name, b.name) })
	for _, p := range running {
		p.report(out)
	}
}

// plan is a heap of pods, the next one first; those of one instant in order of their names.
type plan []*pod

// planned reports whether the pod is in the plan.
func (p *pod) planned(in plan) bool { return p.at < len(in) && in[p.at] == p }

// put plans a pod, or moves it to its new time.
func (k *Kubelet) put(p *pod) {
	if p.planned(k.plan) {
		heap.Fix(&k.plan, p.at)
		return
	}
	heap.Push(&k.plan, p)
}

func (k *Kubelet) drop(p *pod) {
	if p.planned(k.plan) {
		heap.Remove(&k.plan, p.at)
	}
}

func (s plan) Len() int { return len(s) }

func (s plan) Less(i, j int) bool {
	if !s[i].due.Equal(s[j].due) {
		return s[i].due.Before(s[j].due)
	}
	return s[i].name < s[j].name
}

func (s plan) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].at, s[j].at = i, j
}

// Push is for package heap.
func (s *plan) Push(x any) {
	p := x.(*pod)
	p.at = len(*s)
	*s = append(*s, p)
}

// Pop is for package heap.
func (s *plan) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return x
}
