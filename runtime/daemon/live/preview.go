package live

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
)

// largestPreview is how many bindings a fleet may have for every write to be rehearsed before it is made.
const largestPreview = 20_000

// Rehearsal is the fleet as the engine has it now, under some settings. It may be called by anyone at any time.
func (c *Config) Rehearsal(settings messages.Settings) *rehearsal.Fleet {
	r := &rehearsal.Fleet{Settings: settings, Seed: c.Seed, Now: c.Clock.Now().UTC()}
	for _, kept := range catalog.Kept() {
		if table := c.Engine.Table(kept.Name()); table != nil && belongs(kept) {
			for _, o := range table.Snapshot().Under("", "") {
				r.Objects = append(r.Objects, o)
			}
		}
	}
	return r
}

// Preview answers a FailoverPreview. The error says what is wrong with the question. It may be called by anyone at any time.
func (c *Config) Preview(ctx context.Context, settings messages.Settings, spec *api.FailoverPreviewSpec) (*api.FailoverPreviewStatus, error) {
	for _, name := range spec.Clusters {
		if o, _ := c.Engine.Table(catalog.Clusters.Name()).Get(engine.Key(catalog.Clusters.Name(), "", name)); o == nil {
			return nil, fmt.Errorf("spec.clusters: there is no cluster %q", name)
		}
	}
	changes, err := rehearsal.Of(spec)
	if err != nil {
		return nil, err
	}
	fleet := c.Rehearsal(settings)
	outcome, err := fleet.Play(ctx, changes...)
	if err != nil {
		return nil, err
	}
	return outcome.Status(fleet.Now), nil
}

// Warnings tell people what a write would lead to, before it is made: of what may move workloads, a cluster or a
// policy. They may be called for by anyone at any time. In a fleet that is too large to be rehearsed with each write they say
// of a cluster's taints how many evictions would be due, and of all else that a FailoverPreview tells.
func (c *Config) Warnings(ctx context.Context, settings messages.Settings, o, old api.Object) []string {
	change := changeOf(o, old)
	if change == nil {
		return nil
	}
	if n := c.Engine.Table(catalog.Bindings.Name()).Snapshot().Len(); n > largestPreview {
		return c.outline(&settings, o, old, n)
	}
	fleet := c.Rehearsal(settings)
	outcome, err := fleet.Play(ctx, change)
	if err != nil {
		return []string{fmt.Sprintf("preview: not made: %v", err)}
	}
	if _, reacts := o.(*api.ClusterTaintPolicy); !reacts { // who writes of other things is told only what comes of that
		known := rehearsal.Stays(fleet.Objects)
		outcome.Stays = slices.DeleteFunc(outcome.Stays, func(w string) bool { return slices.Contains(known, w) })
	}
	return outcome.Warnings()
}

// outline is what can be said of a write to a large fleet immediately.
func (c *Config) outline(s *messages.Settings, o, old api.Object, n int) []string {
	now, ok := o.(*api.Cluster)
	if before, known := old.(*api.Cluster); ok && known && !sameStay(before, now) {
		at := c.Clock.Now().UTC()
		return rehearsal.Outline(rehearsal.Departures(c.bindings(), before, now, s, at), at)
	}
	return []string{fmt.Sprintf("preview: not made, for there are %d bindings; create a FailoverPreview for one", n)}
}

// bindings are those of the fleet, to be read only.
func (c *Config) bindings() iter.Seq[*store.Binding] {
	return func(yield func(*store.Binding) bool) {
		for _, r := range []*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
			for _, o := range c.Engine.Table(r.Name()).Snapshot().Under("", "") {
				if !yield(store.AsBinding(o)) {
					return
				}
			}
		}
	}
}

// sameStay reports whether a cluster's taints, and whether it is drained, stay as they are.
func sameStay(a, b *api.Cluster) bool {
	return equality.Semantic.DeepEqual(a.Spec.Taints, b.Spec.Taints) && observed.DrainOf(a) == observed.DrainOf(b)
}

// changeOf is what a write does to a fleet; nil where it moves nothing.
func changeOf(o, old api.Object) rehearsal.Edit {
	switch o := o.(type) {
	case *api.Cluster:
		before, known := old.(*api.Cluster)
		if !known || sameWishes(before, o) {
			return nil
		}
		return func(w *world.World) error { return editCluster(w, before, o) }
	case *api.ClusterTaintPolicy, *api.PropagationPolicy, *api.ClusterPropagationPolicy:
		if old == nil || o.GetGeneration() != old.GetGeneration() {
			return rehearsal.Apply(o)
		}
	}
	return nil
}

// sameWishes reports whether people ask the same of a cluster.
func sameWishes(a, b *api.Cluster) bool {
	return equality.Semantic.DeepEqual(a.Spec, b.Spec) && maps.Equal(a.Labels, b.Labels) &&
		maps.Equal(a.Annotations, b.Annotations) && a.DeletionTimestamp.Equal(b.DeletionTimestamp)
}
