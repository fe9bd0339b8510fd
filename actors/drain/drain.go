// Package drain is the machine that drains one node, as kubectl drain does once the node is cordoned: it evicts its pods through the Eviction API,
// asks again every 5 s where a budget refuses, and waits until they are gone. Unlike kubectl, which looks once a second, it knows in the same
// instant that a pod is gone.
package drain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/actors"
	"leeward/actors/rules/draining"
	"leeward/messages"
	"leeward/messages/lists"
)

// retryAfter is the time between two requests for an eviction that is refused. Source: kubectl's EvictErrorRetryDelay.
const retryAfter = 5 * time.Second

// Drain is the drain of one node.
type Drain struct {
	node    messages.NodeName
	options messages.DrainOptions
	// running: it has begun and not ended; listed: it knows the pods.
	running, listed bool
	since           time.Time
	// pods are those that are not gone, errs what became of others; skipped are those that are not waited for.
	pods    map[messages.PodName]*pod
	errs    map[messages.PodName]string
	skipped []messages.PodName
}

// pod is a pod that is being evicted.
type pod struct {
	uid types.UID
	// retry is when its eviction is asked for again; zero: it was asked for, or has begun.
	retry time.Time
	// deleted is its deletionTimestamp; nil: it is not being deleted.
	deleted *metav1.Time
	// told is why it was refused, as the journal knows it.
	told string
}

// New returns the drain of a node, which does nothing until it begins.
func New(node messages.NodeName) *Drain { return &Drain{node: node} }

// Receive routes a message to its transition.
func (d *Drain) Receive(now time.Time, m messages.ToDrain, out *actors.Outbox) {
	switch m := m.(type) {
	case *messages.BeginDrain:
		*d = Drain{node: d.node, options: m.Options, running: true, since: now}
	case *messages.PodsListed:
		d.begin(now, m, out)
	case *messages.PodEvictionAnswered:
		d.answered(now, m, out)
	case *messages.DrainedPodGone:
		if p := d.pods[m.Pod]; p != nil && p.uid == m.UID {
			delete(d.pods, m.Pod)
		}
	case *messages.DrainedPodDeleted:
		if p := d.pods[m.Pod]; p != nil && p.uid == m.UID {
			p.deleted = &metav1.Time{Time: m.At}
		}
	case *messages.Woken:
		d.tick(now, out)
	default:
		panic(fmt.Sprintf("drain of node %s: unknown message %T", d.node, m))
	}
	d.conclude(now, out)
	out.WakeAt(d.next())
}

// begin asks for the evictions of the pods of the node, unless one forbids the drain.
func (d *Drain) begin(now time.Time, m *messages.PodsListed, out *actors.Outbox) {
	if !d.running || d.listed {
		return
	}
	d.listed = true
	c := draining.Choose(m.Pods, now, &d.options)
	if len(c.Errors) > 0 {
		d.running = false
		out.Record(&messages.NodeDrainFailed{Node: d.node, Error: draining.Together(c.Errors), Pending: names(c.Evict)})
		return
	}
	out.Record(&messages.NodeDrainStarted{Node: d.node, Pods: len(c.Evict), Warning: strings.Join(c.Warnings, "; ")})
	d.pods, d.errs = map[messages.PodName]*pod{}, map[messages.PodName]string{}
	for _, o := range c.Evict {
		name := messages.NamePod(o.Namespace, o.Name)
		d.pods[name] = &pod{uid: o.UID, deleted: o.DeletionTimestamp}
		d.ask(name, d.pods[name], out)
	}
}

func names(pods []*corev1.Pod) []messages.PodName {
	return lists.Of(pods, func(o *corev1.Pod) messages.PodName { return messages.NamePod(o.Namespace, o.Name) })
}

// ask asks for the eviction of a pod, or deletes it.
func (d *Drain) ask(name messages.PodName, p *pod, out *actors.Outbox) {
	p.retry = time.Time{}
	if d.options.DisableEviction {
		out.TellAPIServer(&messages.DeletePod{Pod: name, UID: p.uid, GracePeriodSeconds: d.options.GracePeriodSeconds, Cause: "drain of node " + string(d.node)})
		return
	}
	out.TellAPIServer(&messages.EvictPod{Pod: name, UID: p.uid, GracePeriodSeconds: d.options.GracePeriodSeconds, For: d.node})
}

// answered waits for the pod to be gone, or for another try.
func (d *Drain) answered(now time.Time, m *messages.PodEvictionAnswered, out *actors.Outbox) {
	p := d.pods[m.Pod]
	if p == nil || p.uid != m.UID {
		return
	}
	switch {
	case m.Gone:
		delete(d.pods, m.Pod)
	case m.Error == "":
	case m.Later:
		p.retry = now.Add(retryAfter)
		if why := m.Error + m.Detail; why != p.told {
			p.told = why
			out.Record(&messages.PodEvictionBlocked{Pod: m.Pod, Node: d.node, By: "drain", Budget: m.Budget, Error: m.Error, Detail: m.Detail})
		}
	default:
		d.giveUp(m.Pod, "evicting", m.Error)
	}
}

// giveUp ends what is done about a pod, in the words of kubectl.
func (d *Drain) giveUp(name messages.PodName, doing, why string) {
	namespace, own := name.Split()
	if delete(d.pods, name); doing == "evicting" {
		d.errs[name] = fmt.Sprintf("error when evicting pods/%q -n %q: %s", own, namespace, why)
	} else {
		d.errs[name] = fmt.Sprintf("error when waiting for pod %q in namespace %q to terminate: %s", own, namespace, why)
	}
}

// tick asks again for what was refused, no longer waits for pods that it may skip, and gives up when the time is over: for a pod that is being
// deleted exactly then, for one that was refused at its next try.
func (d *Drain) tick(now time.Time, out *actors.Outbox) {
	over := d.options.Timeout > 0 && !now.Before(d.deadline())
	for _, name := range slices.Sorted(maps.Keys(d.pods)) {
		switch p := d.pods[name]; {
		case p.retry.After(now):
		case p.retry.IsZero() && draining.Skips(p.deleted, now, &d.options):
			delete(d.pods, name)
			d.skipped = append(d.skipped, name)
		case p.retry.IsZero() && over:
			d.giveUp(name, "waiting", "context deadline exceeded")
		case p.retry.IsZero():
		case over:
			d.giveUp(name, "evicting", "global timeout reached: "+d.options.Timeout.String())
		default:
			d.ask(name, p, out)
		}
	}
}

func (d *Drain) deadline() time.Time { return d.since.Add(d.options.Timeout) }

// conclude ends the drain when all pods are gone or given up.
func (d *Drain) conclude(now time.Time, out *actors.Outbox) {
	if !d.running || !d.listed || len(d.pods) > 0 {
		return
	}
	d.running = false
	if len(d.errs) == 0 {
		out.Record(&messages.NodeDrained{Node: d.node, After: now.Sub(d.since), Skipped: d.skipped})
		return
	}
	f := &messages.NodeDrainFailed{Node: d.node, Pending: slices.Sorted(maps.Keys(d.errs))}
	lines := lists.Of(f.Pending, func(name messages.PodName) string { return d.errs[name] })
	f.Error = draining.Together(lines)
	out.Record(f)
}

// next is when the drain must act by itself; zero: never.
func (d *Drain) next() (next time.Time) {
	for _, p := range d.pods { // order-free: the earliest
		switch {
		case !p.retry.IsZero():
			next = actors.Earlier(next, p.retry)
		default:
			next = actors.Earlier(next, draining.SkippedAt(p.deleted, &d.options))
			if d.options.Timeout > 0 {
				next = actors.Earlier(next, d.deadline())
			}
		}
	}
	return next
}
