package invariant

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// census is which bindings have a cluster or are being evicted from it, and what they take of it, as objects had it at the
// last look.
type census struct {
	of map[messages.BindingName]share
	on map[messages.ClusterName]*load
	// size is how many targets and tasks there are, and most how many there were at one time.
	size, most int
}

// share is what of a binding is counted. It belongs to the store, which replaces it and never changes it.
type share struct {
	targets []api.TargetCluster
	tasks   []api.GracefulEvictionTask
	each    *api.ReplicaRequirements
}

// load is what one cluster has.
type load struct {
	bindings map[messages.BindingName]bool
	uses     map[corev1.ResourceName]int64
}

func newCensus() census {
	return census{of: map[messages.BindingName]share{}, on: map[messages.ClusterName]*load{}}
}

// count takes in a binding as it is now; nil: it is gone.
func (c *census) count(name messages.BindingName, b *store.Binding) {
	var now share
	if b != nil {
		now = share{b.Spec.Clusters, b.Spec.GracefulEvictionTasks, b.Spec.ReplicaRequirements}
	}
	old := c.of[name]
	if old.each == now.each && slices.Equal(old.targets, now.targets) && slices.EqualFunc(old.tasks, now.tasks, fromSame) {
		return
	}
	c.add(name, &old, -1)
	c.add(name, &now, 1)
	if c.most = max(c.most, c.size); len(now.targets)+len(now.tasks) == 0 {
		delete(c.of, name)
		return
	}
	c.of[name] = now
}

func fromSame(a, b api.GracefulEvictionTask) bool { return a.FromCluster == b.FromCluster }

// add adds a share of a binding, or takes it away.
func (c *census) add(name messages.BindingName, s *share, sign int64) {
	c.size += int(sign) * (len(s.targets) + len(s.tasks))
	for i := range s.tasks {
		c.at(s.tasks[i].FromCluster).has(name, sign)
	}
	for i := range s.targets {
		l, t := c.at(s.targets[i].Name), &s.targets[i]
		l.has(name, sign)
		l.uses[corev1.ResourcePods] += sign * int64(t.Replicas)
		if s.each == nil {
			continue
		}
		for resource, each := range s.each.ResourceRequest { // order-free: sums
			l.uses[resource] += sign * int64(t.Replicas) * api.Units(resource, each)
		}
	}
}

func (c *census) at(cluster string) *load {
	name := messages.ClusterName(cluster)
	if c.on[name] == nil {
		c.on[name] = &load{bindings: map[messages.BindingName]bool{}, uses: map[corev1.ResourceName]int64{}}
	}
	return c.on[name]
}

func (l *load) has(b messages.BindingName, sign int64) {
	if sign > 0 {
		l.bindings[b] = true
	} else {
		delete(l.bindings, b)
	}
}
