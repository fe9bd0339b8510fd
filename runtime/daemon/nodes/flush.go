package nodes

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/actors/apiserver"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// writtenTogether is how many objects are committed together: few, so that kubelets see the first while the last are still written.
const writtenTogether = 256

// pending is one object that must be written.
type pending struct {
	key string
	// object is what is written, last the pod that is deleted in place of that; putOff has it written once a change was heard that it met.
	object api.Object
	last   *corev1.Pod
	putOff func()
}

// write is what the engine is asked for. The object keeps the version that it was made of until the engine gives it a new one.
func (p *pending) write() engine.Write {
	if p.last != nil {
		return engine.Delete(p.key, engine.VersionOf(p.last))
	}
	return engine.Update(p.key, p.object, engine.VersionOf(p.object))
}

// flush commits what the machines have edited, taints and evictions before bindings and counts, and then the Events that tell of it.
func (n *Controller) flush() error {
	e := n.tier.TakeEdits()
	maps.Copy(n.unwritten.Nodes, e.Nodes)
	maps.Copy(n.unwritten.Pods, e.Pods)
	maps.Copy(n.unwritten.Budgets, e.Budgets)
	maps.Copy(n.unwritten.RemovedPods, e.RemovedPods)
	if err := n.commitAll(n.takeUnwritten()); err != nil {
		return err
	}
	return n.tellEvents()
}

// takeUnwritten returns what must be written: objects that differ from what is stored.
func (n *Controller) takeUnwritten() (all []pending) {
	u := n.unwritten
	n.unwritten = apiserver.NewEdits()
	for _, name := range slices.Sorted(maps.Keys(u.Nodes)) {
		if o := n.tier.Node(name); o != nil {
			all = n.changed(all, catalog.Nodes, o, func() { n.unwritten.Nodes[name] = true })
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.RemovedPods)) {
		last := u.RemovedPods[name]
		all = append(all, pending{key: keyOf(catalog.Pods, last), last: last, putOff: func() { n.unwritten.RemovedPods[name] = last }})
	}
	var rest []pending
	for _, name := range slices.Sorted(maps.Keys(u.Pods)) {
		o := n.tier.Pod(name)
		switch putOff := func() { n.unwritten.Pods[name] = true }; {
		case o == nil:
		case o.DeletionTimestamp != nil:
			all = n.changed(all, catalog.Pods, o, putOff)
		default:
			rest = n.changed(rest, catalog.Pods, o, putOff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.Budgets)) {
		if o := n.tier.Budget(name); o != nil {
			rest = n.changed(rest, catalog.PodBudgets, o, func() { n.unwritten.Budgets[name] = true })
		}
	}
	return append(all, rest...)
}

// changed adds an object to what must be written, if it is not as it is stored. One of which there is news is written when that was heard.
func (n *Controller) changed(all []pending, r *catalog.Resource, o api.Object, putOff func()) []pending {
	p := pending{key: keyOf(r, o), object: o, putOff: putOff}
	stored, version := n.config.Engine.Table(r.Name()).Get(p.key)
	switch {
	case version != engine.VersionOf(o):
		putOff()
		return all
	case equality.Semantic.DeepEqual(stored, o):
		return all
	}
	return append(all, p)
}

func (n *Controller) commitAll(all []pending) error {
	if n.config.Shadow {
		return nil
	}
	for part := range slices.Chunk(all, min(writtenTogether, n.config.Engine.Batch())) {
		if err := n.commit(slices.Clone(part)); err != nil {
			return err
		}
	}
	return nil
}

// commit commits a part of what must be written, all of it but what meets a change.
func (n *Controller) commit(part []pending) error {
	for len(part) > 0 {
		writes := lists.Of(part, func(p pending) engine.Write { return p.write() })
		err := n.feed.Begin(n.config.Term, writes...)()
		var conflict *engine.Conflict
		switch {
		case err == nil:
			return nil
		case errors.As(err, &conflict):
			n.conflict++
			i := slices.IndexFunc(part, func(p pending) bool { return p.key == conflict.Key })
			part[i].putOff()
			part = slices.Delete(part, i, i+1)
		default:
			return fmt.Errorf("commit %d changes of nodes and pods: %w", len(part), err)
		}
	}
	return nil
}

// postponed reports whether an object waits to be written: nothing is told of it before.
func (n *Controller) postponed(about api.Key) bool {
	switch about.Kind {
	case "Node":
		return n.unwritten.Nodes[messages.NodeName(about.Name)]
	case "Pod":
		name := messages.NamePod(about.Namespace, about.Name)
		return n.unwritten.Pods[name] || n.unwritten.RemovedPods[name] != nil
	}
	return false
}
