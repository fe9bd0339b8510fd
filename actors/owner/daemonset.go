package owner

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"leeward/actors"
	"leeward/actors/rules/taint"
	"leeward/messages"
)

// daemonSet keeps up one pod on each node that its pods match. It does not create one where a NoSchedule or NoExecute taint is not
// tolerated, and deletes its pod where a NoExecute taint is not: the taint eviction deletes it, too, and either may come first.
type daemonSet struct {
	backoffs map[messages.NodeName]backoff
	// on are the pods by the node that they are for.
	on map[messages.NodeName][]*pod
	// changed are the nodes to look at, with those that wait for a backoff; all: every node.
	changed map[messages.NodeName]bool
	all     bool
	// revision is the hash of the template; rolling: pods of an older one may remain.
	revision string
	rolling  bool
}

// applied notes the revision of a template. The pods that the owner has are of the one before.
func (d *daemonSet) applied(o *Owner, revision string) {
	if d.revision != "" && revision != d.revision {
		for _, p := range o.pods { // order-free: each by itself
			p.revision = cmp.Or(p.revision, d.revision)
		}
		d.rolling = true
	}
	d.revision, d.all = revision, true
}

func newDaemonSet() *daemonSet {
	return &daemonSet{backoffs: map[messages.NodeName]backoff{}, on: map[messages.NodeName][]*pod{}, changed: map[messages.NodeName]bool{}}
}

// place keeps the list of a node's pods.
func (d *daemonSet) place(p *pod) {
	pods := slices.DeleteFunc(d.on[p.meant], func(other *pod) bool { return other == p })
	if !p.gone {
		pods = append(pods, p)
	}
	if len(pods) == 0 {
		delete(d.on, p.meant)
		return
	}
	slices.SortFunc(pods, func(a, b *pod) int { return strings.Compare(string(a.Pod), string(b.Pod)) })
	d.on[p.meant] = pods
}

// backoff is until when the next failed pod of a node is kept, and for how long that is.
type backoff struct {
	until  time.Time
	length time.Duration
}

// How long failed daemon pods are kept. Source: NewDaemonSetsController's flowcontrol.NewBackOff(1s, 15m).
const (
	firstDaemonBackoff = time.Second
	mostDaemonBackoff  = 15 * time.Minute
)

// daemonTolerations are what every daemon pod tolerates besides. Source: AddOrUpdateDaemonPodTolerations.
var daemonTolerations = []corev1.Toleration{
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
}

// daemonSpec returns the spec of daemon pods: the template's with those tolerations, each in place of one that differs only in seconds.
func daemonSpec(spec *corev1.PodSpec) *corev1.PodSpec {
	s := *spec
	s.Tolerations = slices.Clone(spec.Tolerations)
	more := daemonTolerations
	if spec.HostNetwork {
		more = append(slices.Clone(more), corev1.Toleration{
			Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	for _, t := range more {
		same := func(l corev1.Toleration) bool {
			return l.Key == t.Key && l.Effect == t.Effect && l.Operator == t.Operator && l.Value == t.Value
		}
		if i := slices.IndexFunc(s.Tolerations, same); i >= 0 {
			s.Tolerations[i] = t
		} else {
			s.Tolerations = append(s.Tolerations, t)
		}
	}
	return &s
}

func (d *daemonSet) reconcile(o *Owner, now time.Time, out *actors.Outbox) (next time.Time) {
	if d.all {
		for name := range o.nodes { // order-free: a set
			d.changed[name] = true
		}
		d.all = false
	}
	changed := slices.Sorted(maps.Keys(d.changed))
	clear(d.changed)
	for _, name := range changed {
		due := d.look(o, now, name, out)
		if !due.IsZero() {
			d.changed[name] = true
		}
		next = actors.Earlier(next, due)
	}
	if surge, _ := intstr.GetScaledValueFromIntOrPercent(&o.spec.MaxSurge, len(d.on), true); d.rolling && o.spec.Rolls && surge > 0 { // admission refuses what is neither
		next = actors.Earlier(next, d.surge(o, now, surge, out))
	} else if d.rolling && o.spec.Rolls {
		next = actors.Earlier(next, d.roll(o, now, out))
	}
	return next
}

// surge creates pods of the new template beside those of an older one: where that is not available, and on so many other nodes. An old pod goes
// when the new one beside it is available. It returns when a pod that is ready becomes available. Source: rollingUpdate of the DaemonSet controller.
func (d *daemonSet) surge(o *Owner, now time.Time, most int, out *actors.Outbox) (next time.Time) {
	var candidates []messages.NodeName
	d.rolling = false
	for _, name := range slices.Sorted(maps.Keys(d.on)) {
		older, newer := d.pair(name)
		if older == nil {
			continue
		}
		d.rolling = true
		switch available, at := o.available(older, now); {
		case newer == nil && d.mayRun(o, name):
			next = actors.Earlier(next, at)
			if available {
				candidates = append(candidates, name)
			} else {
				d.createDaemon(o, now, name, out)
			}
		case newer != nil:
			available, at = o.available(newer, now)
			if next = actors.Earlier(next, at); available {
				o.delete(older, replaced, out)
			} else {
				most--
			}
		}
	}
	for _, name := range candidates[:min(len(candidates), max(0, most))] {
		d.createDaemon(o, now, name, out)
	}
	return next
}

// pair are the pods of a node that remain: one of an older template, and one of the newest; nil for none.
func (d *daemonSet) pair(name messages.NodeName) (older, newer *pod) {
	for _, p := range d.on[name] {
		switch {
		case p.going():
		case d.isOld(p):
			older = p
		default:
			newer = p
		}
	}
	return older, newer
}

// isOld reports whether a pod is of an older template.
func (d *daemonSet) isOld(p *pod) bool { return p.revision != "" && p.revision != d.revision }

// mayRun reports whether a pod may be created on a node.
func (d *daemonSet) mayRun(o *Owner, name messages.NodeName) bool {
	node := o.nodes[name]
	if node == nil {
		return false
	}
	runs, _ := o.fits(node)
	return runs
}

// available reports whether a pod has been ready for as long as it must, or when it will have; zero: not by itself.
func (o *Owner) available(p *pod, now time.Time) (is bool, at time.Time) {
	if !p.ready() {
		return false, time.Time{}
	}
	if at = p.ReadySince.Add(o.spec.MinReady); at.After(now) {
		return false, at
	}
	return true, time.Time{}
}

// roll deletes pods of an older template: those that are not available, and others as long as no more than maxUnavailable nodes lack an
// available pod. It returns when a pod that is ready becomes available. Source: rollingUpdate of the DaemonSet controller.
func (d *daemonSet) roll(o *Owner, now time.Time, out *actors.Outbox) (next time.Time) {
	var old, candidates []*pod
	unavailable, nodes := 0, 0
	for _, name := range slices.Sorted(maps.Keys(d.on)) {
		nodes++
		pods := slices.DeleteFunc(slices.Clone(d.on[name]), (*pod).going)
		if len(pods) != 1 {
			unavailable++ // a pod is about to come or to go
			continue
		}
		p := pods[0]
		available, at := o.available(p, now)
		next = actors.Earlier(next, at)
		isOld := d.isOld(p)
		switch {
		case !available && isOld:
			old = append(old, p)
			unavailable++
		case !available:
			unavailable++
		case isOld:
			candidates = append(candidates, p)
		}
	}
	most, _ := intstr.GetScaledValueFromIntOrPercent(&o.spec.MaxUnavailable, nodes, true) // admission refuses what is neither
	for _, p := range append(old, candidates[:min(len(candidates), max(0, max(1, most)-unavailable))]...) {
		o.delete(p, replaced, out)
	}
	d.rolling = len(old)+len(candidates)+unavailable > 0
	return next
}

// look creates or deletes the pods of one node, and returns when it must look again, zero for not before something changes.
func (d *daemonSet) look(o *Owner, now time.Time, name messages.NodeName, out *actors.Outbox) (next time.Time) {
	pods, node := d.on[name], o.nodes[name]
	if node == nil {
		delete(d.backoffs, name)
		for _, p := range pods {
			if p.Node == "" {
				o.delete(p, "its node is gone", out)
			}
		}
		return next
	}
	runs, stays := o.fits(node)
	switch {
	case len(pods) == 0 && runs:
		d.createDaemon(o, now, name, out)
	case !stays:
		for _, p := range pods {
			o.delete(p, "its node should not run it", out)
		}
	default:
		for _, p := range pods {
			if p.finished() && !p.going() {
				next = actors.Earlier(next, d.again(o, now, p, out))
			}
		}
	}
	return next
}

// again deletes a finished pod, so that it is created again, or returns when that is due.
func (d *daemonSet) again(o *Owner, now time.Time, p *pod, out *actors.Outbox) time.Time {
	b := d.backoffs[p.meant]
	if p.Phase == corev1.PodFailed {
		if now.Before(b.until) {
			return b.until
		}
		wait := min(max(2*b.length, firstDaemonBackoff), mostDaemonBackoff)
		if now.Sub(b.until) > 2*mostDaemonBackoff { // long ago
			wait = firstDaemonBackoff
		}
		d.backoffs[p.meant] = backoff{until: now.Add(wait), length: wait}
	}
	o.delete(p, "finished: it is created again", out)
	return time.Time{}
}

// fits reports whether a daemon pod should be created on a node, and whether one that is there is kept.
func (o *Owner) fits(n *messages.NodeView) (runs, stays bool) {
	spec := o.template.spec
	object := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(n.Name), Labels: n.Labels}}
	like, err := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity).Match(&object)
	if err != nil || !like || spec.NodeName != "" && spec.NodeName != string(n.Name) {
		return false, false
	}
	executes := slices.DeleteFunc(slices.Clone(n.Taints), func(t corev1.Taint) bool { return t.Effect != corev1.TaintEffectNoExecute })
	return taint.FirstUntolerated(n.Taints, spec.Tolerations, o.numeric) < 0, taint.FirstUntolerated(executes, spec.Tolerations, o.numeric) < 0
}

// createDaemon creates the pod of one node. It asks the scheduler for that node by name.
func (d *daemonSet) createDaemon(o *Owner, now time.Time, name messages.NodeName, out *actors.Outbox) {
	spec := *o.template.spec
	spec.Affinity = pinned(spec.Affinity, name)
	p := o.create(now, &o.template, o.fresh(now, o.template.prefix, o.hasPod), o.template.labels, &spec, out)
	p.meant, p.revision = name, d.revision
	d.place(p)
}

// pinned returns an affinity that requires one node, in place of what the template requires. Source: ReplaceDaemonSetPodNodeNameNodeAffinity.
func pinned(a *corev1.Affinity, name messages.NodeName) *corev1.Affinity {
	var affinity corev1.Affinity
	var node corev1.NodeAffinity
	if a != nil {
		affinity = *a
		if a.NodeAffinity != nil {
			node = *a.NodeAffinity
		}
	}
	node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{string(name)}}},
	}}}
	affinity.NodeAffinity = &node
	return &affinity
}
