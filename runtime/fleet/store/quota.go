package store

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/actors/rules/quota"
	"leeward/messages"
	"leeward/messages/api"
)

// charged are the FederatedResourceQuotas of one namespace, with what its bindings are charged.
type charged struct {
	// quotas in the order in which they came.
	quotas   []*entry
	bindings map[messages.BindingName]charge
	total    charge
}

// charge is what one binding uses, and what the copies hold that it is leaving.
type charge struct{ used, evicting quota.Usage }

// chargeOf is what a binding is charged; nothing where it is gone.
func chargeOf(b *Binding) charge {
	if b == nil {
		return charge{}
	}
	each, components := b.Spec.ReplicaRequirements, b.Spec.Components
	return charge{used: quota.Of(b.Spec.Clusters, each, components), evicting: quota.Of(oldCopies(b.Spec), each, components)}
}

// oldCopies are the clusters that a binding is leaving, with what runs there: the replicas that the task kept
// note of, or else all components, which follow the resource to the end.
func oldCopies(spec *api.BindingSpec) []api.TargetCluster {
	old := make([]api.TargetCluster, 0, len(spec.GracefulEvictionTasks))
	for i := range spec.GracefulEvictionTasks {
		t := &spec.GracefulEvictionTasks[i]
		if t.Replicas != nil {
			old = append(old, api.TargetCluster{Name: t.FromCluster, Replicas: *t.Replicas})
		} else if set := messages.NewComponentSet(spec.Components); set != nil {
			old = append(old, api.TargetCluster{Name: t.FromCluster, Components: set.Targets})
		}
	}
	return old
}

// putQuota charges all bindings of its namespace to a quota. Usage in its status is the store's own.
func (s *Store) putQuota(e *entry, q *api.FederatedResourceQuota) {
	s.dropQuota(api.KeyOf(q))
	c := s.charged[q.Namespace]
	if c == nil {
		c = &charged{bindings: map[messages.BindingName]charge{}, total: charge{quota.Usage{}, quota.Usage{}}}
		s.charged[q.Namespace] = c
		for name, b := range s.bindings { // sums do not depend on order
			if name.Namespace() == q.Namespace {
				c.take(name, b.binding)
			}
		}
	}
	c.quotas = append(c.quotas, e)
	c.show(q)
}

func (s *Store) dropQuota(key api.Key) {
	c := s.charged[key.Namespace]
	if c == nil {
		return
	}
	c.quotas = slices.DeleteFunc(c.quotas, func(e *entry) bool { return e.object.GetName() == key.Name })
	if len(c.quotas) == 0 {
		delete(s.charged, key.Namespace)
	}
}

// recharge brings the quotas of a binding's namespace up to date with the binding, which may be gone.
func (s *Store) recharge(name messages.BindingName) {
	if len(s.charged) == 0 {
		return
	}
	c := s.charged[name.Namespace()]
	if c == nil {
		return
	}
	c.take(name, s.Binding(name))
	for _, e := range c.quotas {
		if c.show(e.object.(*api.FederatedResourceQuota)) {
			s.touch(e)
		}
	}
}

// take puts what a binding is charged now in the place of what it was.
func (c *charged) take(name messages.BindingName, b *Binding) {
	before, now := c.bindings[name], chargeOf(b)
	c.total.used.Sub(before.used)
	c.total.evicting.Sub(before.evicting)
	c.total.used.Add(now.used)
	c.total.evicting.Add(now.evicting)
	c.bindings[name] = now
	if b == nil {
		delete(c.bindings, name)
	}
}

// show writes what is used of a quota into its status and says whether that changed it.
func (c *charged) show(q *api.FederatedResourceQuota) bool {
	next := q.Status
	next.Overall = q.Spec.Overall
	next.OverallUsed = c.total.used.Against(q.Spec.Overall)
	next.OverallEvicting = c.total.evicting.Against(q.Spec.Overall)
	maps.DeleteFunc(next.OverallEvicting, func(_ corev1.ResourceName, held resource.Quantity) bool { return held.IsZero() })
	if equality.Semantic.DeepEqual(q.Status, next) {
		return false
	}
	q.Status = next
	return true
}
