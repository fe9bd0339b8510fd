// Package owner is the machine of what keeps pods up: Deployment and ReplicaSet, StatefulSet, DaemonSet, Job; and of the MachineSet, which
// keeps nodes up. It collects what changes in an instant, and at the instant's end creates and deletes what is missing or too much, so
// that a pod that is deleted or finished is replaced in the same instant, unless its kind waits.
//
// owner is the switch of messages, what an owner knows and how it creates and deletes; each kind has a file. Sources: the controllers
// of Kubernetes 1.37 and the machine-api operator of OpenShift. Not modelled: volumes, indexed Jobs.
package owner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors"
	"leeward/actors/rules/draw"
	"leeward/messages"
)

// Owner keeps up the pods, or nodes, of one object.
type Owner struct {
	name             messages.OwnerName
	namespace, local string
	kind             kind
	seed             uint64
	serial           uint64
	// numeric allows the operators Lt and Gt of tolerations.
	numeric  bool
	spec     *messages.OwnerSpec
	template template
	deleted  bool
	// down: the controllers are.
	down  bool
	pods  map[messages.PodName]*pod
	nodes map[messages.NodeName]*messages.NodeView
	// active is how many pods count as replicas.
	active int
}

// kind is what owners of one kind do at the end of an instant in which something changed. It returns when it wants to be asked again,
// zero for never.
type kind interface {
	reconcile(o *Owner, now time.Time, out *actors.Outbox) time.Time
}

// pod is what an owner knows of one of its pods.
type pod struct {
	messages.OwnedPodViewed
	// meant is the node that a daemon pod is for.
	meant messages.NodeName
	// created is when the owner created it; zero for a pod that it found.
	created time.Time
	// deleting: the owner had it deleted.
	deleting bool
	// counted: a Job counted its end.
	counted bool
	// gone: it does not exist any more.
	gone bool
	// tallied: it is one of the owner's active pods.
	tallied bool
	// set is the ReplicaSet of a Deployment that it belongs to; nil: of none, or not known yet.
	set *set
	// revision is the hash of the template of a pod of a StatefulSet or a DaemonSet; empty: it was found, and is taken for one of the template of then.
	revision string
}

// going reports whether the pod is about to go.
func (p *pod) going() bool { return p.Terminating || p.deleting }

// finished reports whether it ended by itself.
func (p *pod) finished() bool { return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed }

// active reports whether it counts as a replica.
func (p *pod) active() bool { return !p.going() && !p.finished() }

func (p *pod) ready() bool { return p.Phase == corev1.PodRunning && !p.ReadySince.IsZero() }

// template is what all pods of a spec share.
type template struct {
	labels     map[string]string
	spec       *corev1.PodSpec
	peers      *metav1.LabelSelector
	controller metav1.OwnerReference
	prefix     string
}

// New returns an owner that knows nothing yet. The kind is that of its object; the seed makes the names of its pods; numeric allows the operators
// Lt and Gt of tolerations.
func New(kindName, namespace, local string, seed uint64, numeric bool) (*Owner, error) {
	o := &Owner{
		name: messages.NameOwner(kindName, namespace, local), namespace: namespace, local: local, numeric: numeric,
		pods: map[messages.PodName]*pod{}, nodes: map[messages.NodeName]*messages.NodeView{},
	}
	o.seed = draw.Mix(seed ^ draw.Hash(0, string(o.name)))
	switch kindName {
	case messages.KindNameDeployment:
		o.kind = &deployment{}
	case messages.KindNameReplicaSet:
		o.kind = replicaSet{}
	case messages.KindNameStatefulSet:
		o.kind = &statefulSet{}
	case messages.KindNameDaemonSet:
		o.kind = newDaemonSet()
	case messages.KindNameJob:
		o.kind = &job{}
	case messages.KindNameMachineSet:
		o.kind = newMachineSet()
	default:
		return nil, fmt.Errorf("owner %s: kind %q: supported values: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, MachineSet", o.name, kindName)
	}
	return o, nil
}

// Receive routes a message to its transition.
func (o *Owner) Receive(now time.Time, m messages.ToOwner, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.OwnerApplied:
		o.applied(m.Spec)
	case *messages.OwnerDeleted:
		o.deleted = true
	case *messages.OwnedPodViewed:
		o.podViewed(m)
	case *messages.OwnedPodGone:
		o.podGone(now, m)
	case *messages.NodeViewed:
		o.nodes[m.View.Name] = m.View
		o.nodeChanged(m.View.Name)
	case *messages.MachineFound:
		o.machineFound(m)
	case *messages.NodeGone:
		delete(o.nodes, m.Name)
		o.nodeChanged(m.Name)
		if s, owns := o.kind.(*machineSet); owns {
			delete(s.machines, m.Name)
			delete(s.viewed, m.Name)
		}
	case *messages.ControllersStopped:
		o.down = !m.Over
	case *messages.Woken:
		if !o.down {
			o.reconcile(now, out)
		}
		return
	default:
		panic(fmt.Sprintf("owner: unknown message %T", m))
	}
	out.WakeAt(now)
}

// applied takes over a spec.
func (o *Owner) applied(spec *messages.OwnerSpec) {
	o.spec, o.deleted = spec, false
	if spec.Template == nil {
		return
	}
	t := template{labels: spec.Template.Labels, spec: &spec.Template.Spec, prefix: o.local}
	if o.template.spec != nil && sameSpec(o.template.spec, t.spec) {
		t.spec = o.template.spec // pods go on sharing it
	}
	t.controller = reference("apps/v1", o.kindName(), o.local)
	switch k := o.kind.(type) {
	case *deployment:
		t = k.applied(o, t)
	case replicaSet:
		t.peers = &metav1.LabelSelector{MatchLabels: t.labels}
	case *statefulSet:
		t.peers = spec.Selector
		k.applied(o, hashOf(spec.Template))
	case *daemonSet:
		t.spec = daemonSpec(t.spec)
		k.applied(o, hashOf(spec.Template))
	case *job:
		t.labels = with(with(t.labels, "batch.kubernetes.io/job-name", o.local), "job-name", o.local)
		t.controller = reference("batch/v1", messages.KindNameJob, o.local)
	}
	o.template = t
}

// hashOf is the hash of a template: pods of another one have another.
func hashOf(t *corev1.PodTemplateSpec) string {
	text := fmt.Sprint(t.Labels, t.Spec.String())
	if len(t.Annotations) > 0 { // as kubectl rollout restart changes them
		text += fmt.Sprint(t.Annotations)
	}
	return safe(draw.Mix(draw.Hash(0, text)), 10)
}

func (o *Owner) kindName() string {
	switch o.kind.(type) {
	case *deployment, replicaSet:
		return messages.KindNameReplicaSet
	case *statefulSet:
		return messages.KindNameStatefulSet
	default:
		return messages.KindNameDaemonSet
	}
}

// podViewed takes over what a pod says, also one that the owner does not know: it was there before.
func (o *Owner) podViewed(m *messages.OwnedPodViewed) {
	p := o.pods[m.Pod]
	if p == nil || p.UID != m.UID {
		if p != nil { // another one of that name
			p.gone = true
			o.podChanged(p)
		}
		p = &pod{}
		o.pods[m.Pod] = p
	}
	p.OwnedPodViewed = *m
	if p.meant == "" {
		p.meant = cmp.Or(m.Target, m.Node)
	}
	o.podChanged(p)
}

func (o *Owner) podGone(now time.Time, m *messages.OwnedPodGone) {
	p := o.pods[m.Pod]
	if p == nil || p.UID != m.UID {
		return
	}
	if j, counts := o.kind.(*job); counts {
		j.count(p, now)
	}
	p.gone = true
	delete(o.pods, m.Pod)
	o.podChanged(p)
}

// tally keeps the count of active pods.
func (o *Owner) tally(p *pod) {
	switch counts := p.active() && !p.gone; {
	case counts == p.tallied:
		return
	case counts:
		o.active++
	default:
		o.active--
	}
	p.tallied = !p.tallied
}

// podChanged keeps the count of active pods, and has a DaemonSet look again at the node of a pod.
func (o *Owner) podChanged(p *pod) {
	o.tally(p)
	if d, is := o.kind.(*daemonSet); is {
		d.place(p)
		o.nodeChanged(p.meant)
	}
}

// machineFound has a MachineSet count a machine that was there before.
func (o *Owner) machineFound(m *messages.MachineFound) {
	if s, owns := o.kind.(*machineSet); owns {
		s.machines[m.Node] = &machine{taints: m.Taints}
		o.nodeChanged(m.Node)
	}
}

// nodeChanged has a DaemonSet or a MachineSet look again at a node.
func (o *Owner) nodeChanged(name messages.NodeName) {
	switch k := o.kind.(type) {
	case *daemonSet:
		k.changed[name] = true
	case *machineSet:
		k.viewed[name] = true
	}
}

// reconcile creates and deletes what is missing or too much.
func (o *Owner) reconcile(now time.Time, out *actors.Outbox) {
	switch {
	case o.deleted:
		for _, p := range o.sorted() {
			o.delete(p, "its "+strings.SplitN(string(o.name), "/", 2)[0]+" was deleted", out)
		}
		if s, owns := o.kind.(*machineSet); owns {
			s.shrink(o, len(s.machines), "its MachineSet was deleted", out)
		}
	case o.spec != nil:
		if next := o.kind.reconcile(o, now, out); !next.IsZero() {
			out.WakeAt(next)
		}
	}
}

// sorted are the pods by name.
func (o *Owner) sorted() []*pod {
	pods := slices.Collect(maps.Values(o.pods))
	slices.SortFunc(pods, func(a, b *pod) int { return strings.Compare(string(a.Pod), string(b.Pod)) })
	return pods
}

// create creates one pod of a template.
func (o *Owner) create(now time.Time, of *template, local string, labels map[string]string, spec *corev1.PodSpec, out *actors.Outbox) *pod {
	o.serial++
	p := &pod{created: now}
	p.Pod, p.Phase = messages.NamePod(o.namespace, local), corev1.PodPending
	p.UID = types.UID(fmt.Sprintf("%016x", draw.Mix(o.seed^uint64(now.UnixNano())^draw.Mix(o.serial))))
	o.pods[p.Pod] = p
	o.tally(p)
	out.TellAPIServer(&messages.CreatePod{
		Pod: p.Pod, UID: p.UID, Owner: o.name, Controller: of.controller, Labels: labels, Spec: spec, Peers: of.peers,
	})
	return p
}

// delete has a pod deleted, once.
func (o *Owner) delete(p *pod, cause string, out *actors.Outbox) {
	if p.going() {
		return
	}
	p.deleting = true
	o.tally(p)
	out.TellAPIServer(&messages.DeletePod{Pod: p.Pod, UID: p.UID, Cause: cause})
}

// fresh returns a prefix with a suffix that no pod of the owner has.
func (o *Owner) fresh(now time.Time, prefix string, taken func(string) bool) string {
	for {
		o.serial++
		if name := prefix + "-" + safe(draw.Mix(o.seed^uint64(now.UnixNano())+o.serial), 5); !taken(name) {
			return name
		}
	}
}

func (o *Owner) hasPod(local string) bool { return o.pods[messages.NamePod(o.namespace, local)] != nil }

func reference(version, kind, name string) metav1.OwnerReference {
	yes := true
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, Controller: &yes}
}

// with returns labels with one more.
func with(labels map[string]string, key, value string) map[string]string {
	more := maps.Clone(labels)
	if more == nil {
		more = map[string]string{}
	}
	more[key] = value
	return more
}

// safe returns so many letters and digits that spell no word. Source: SafeEncodeString and String of k8s.io/apimachinery's rand.
func safe(number uint64, n int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[number%uint64(len(alphabet))]
		number /= uint64(len(alphabet))
	}
	return string(b)
}
