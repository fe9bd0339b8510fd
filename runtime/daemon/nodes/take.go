package nodes

import (
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// kept are the resources whose objects machines keep: the nodes and pods of the cluster, and their budgets.
var kept = append(slices.Clone(catalog.OfNodes), catalog.PodBudgets)

// byPrefix are the resources that machines look at, by what the keys of their objects begin with.
var byPrefix = func() map[string]*catalog.Resource {
	index := map[string]*catalog.Resource{}
	for _, r := range append(slices.Clone(kept), catalog.Leases) {
		index[engine.Prefix(r.Name())] = r
	}
	for i := range catalog.All {
		if r := &catalog.All[i]; scales(r) {
			index[engine.Prefix(r.Name())] = r
		}
	}
	return index
}()

// load has the machines hear of all objects that the engine holds.
func (n *Controller) load() error {
	for _, r := range kept {
		if err := n.loadAll(r, func(o engine.Object) { n.sync(o, false) }); err != nil {
			return err
		}
	}
	for i := range catalog.All {
		if r := &catalog.All[i]; scales(r) {
			if err := n.loadAll(r, func(o engine.Object) { n.tier.SyncScale(o, false) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// loadLeases has the nodes hear when their kubelets were alive last. They renewed their Leases while no daemon ran, so their own times count.
func (n *Controller) loadLeases() error {
	return n.loadAll(catalog.Leases, func(o engine.Object) {
		if l := o.(*coordinationv1.Lease); ofNode(l) && l.Spec.RenewTime != nil {
			at := l.Spec.RenewTime.UTC()
			if at.After(n.now) {
				at = n.now
			}
			n.tier.Renewed(messages.NodeName(l.Name), at)
		}
	})
}

// ofNode reports whether a Lease is that of a node.
func ofNode(l *coordinationv1.Lease) bool { return l.Namespace == corev1.NamespaceNodeLease }

// loadAll visits the objects of a resource, and notes that the machines have heard of them.
func (n *Controller) loadAll(r *catalog.Resource, visit func(engine.Object)) error {
	all := n.config.Engine.Table(r.Name()).Snapshot()
	n.loaded[r.Name()] = all.Version
	return all.Read(func(_ string, _ *engine.Row, o engine.Object) { visit(o) })
}

// take takes in what others have changed.
func (n *Controller) take() {
	changes := n.feed.Take()
	for i := range changes {
		c := &changes[i]
		r := byPrefix[engine.PrefixOf(c.Key)]
		if r == nil || c.Version <= n.loaded[r.Name()] {
			continue
		}
		switch {
		case r == catalog.Leases:
			n.renewed(c)
		case scales(r) && c.Object == nil:
			n.tier.SyncScale(c.Previous(), true)
		case scales(r):
			n.tier.SyncScale(c.Object, false)
		case c.Object == nil:
			n.sync(c.Previous(), true)
		default:
			n.sync(c.Object, false)
		}
	}
}

// renewed tells a node that its kubelet is alive: when that is heard, for kubelets need not agree with us on the time of day.
func (n *Controller) renewed(c *engine.Change) {
	l, ok := c.Object.(*coordinationv1.Lease)
	if !ok || !ofNode(l) || l.Spec.RenewTime == nil {
		return
	}
	if before, known := c.Previous().(*coordinationv1.Lease); known && before.Spec.RenewTime != nil && !l.Spec.RenewTime.After(before.Spec.RenewTime.Time) {
		return
	}
	n.tier.Renewed(messages.NodeName(l.Name), n.config.Clock.Now().UTC().Truncate(time.Second))
}

// sync has the machines hear of an object as it is stored, or that it is gone.
func (n *Controller) sync(o api.Object, gone bool) {
	switch o := o.(type) {
	case *corev1.Node:
		name := messages.NodeName(o.Name)
		if gone {
			o = nil
		}
		n.tier.SyncNode(name, o)
	case *corev1.Pod:
		n.syncPod(messages.NamePod(o.Namespace, o.Name), o, gone)
	case *policyv1.PodDisruptionBudget:
		name := messages.NamePodBudget(o.Namespace, o.Name)
		if gone {
			o = nil
		}
		n.tier.SyncBudget(name, o)
	}
}

// syncPod has the machines hear of a pod. What they decided of it, and could not write because of this change, remains.
func (n *Controller) syncPod(name messages.PodName, o *corev1.Pod, gone bool) {
	if gone {
		delete(n.unwritten.RemovedPods, name)
		n.tier.SyncPod(name, nil)
		return
	}
	if last := n.unwritten.RemovedPods[name]; last != nil && last.UID == o.UID {
		last.ResourceVersion = o.ResourceVersion // it is to go as it is now
		return
	}
	delete(n.unwritten.RemovedPods, name)
	if ours := n.tier.Pod(name); n.unwritten.Pods[name] && ours != nil && ours.UID == o.UID {
		o = decided(ours, o)
	}
	n.tier.SyncPod(name, o)
}

// decided is a pod as another writer has stored it, with what the machines decided of the version before.
func decided(ours, theirs *corev1.Pod) *corev1.Pod {
	o := *theirs
	if o.DeletionTimestamp == nil {
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds = ours.DeletionTimestamp, ours.DeletionGracePeriodSeconds
	}
	if o.Spec.NodeName == "" {
		o.Spec.NodeName = ours.Spec.NodeName
	}
	conditions := slices.Clone(o.Status.Conditions)
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.DisruptionTarget} {
		is := func(c corev1.PodCondition) bool { return c.Type == kind }
		i, j := slices.IndexFunc(ours.Status.Conditions, is), slices.IndexFunc(conditions, is)
		switch {
		case i >= 0 && j < 0:
			conditions = append(conditions, ours.Status.Conditions[i])
		case i >= 0:
			conditions[j] = ours.Status.Conditions[i]
		}
	}
	o.Status.Conditions = conditions
	return &o
}
