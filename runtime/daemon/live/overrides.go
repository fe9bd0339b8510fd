package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/override"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// overrides are the policies by which Works differ from their templates, made ready, by namespace; those of the fleet
// have none.
type overrides map[string][]*override.Policy

// set puts a policy in place of the one of its name, or of none; nil removes that. It returns the one before.
func (o overrides) set(key api.Key, next *override.Policy) (before *override.Policy) {
	others := slices.Clone(o[key.Namespace])
	if i := slices.IndexFunc(others, func(p *override.Policy) bool { return p.Name == key.Name }); i >= 0 {
		before = others[i]
		others = slices.Delete(others, i, i+1)
	}
	if next != nil {
		others = append(others, next)
	}
	if o[key.Namespace] = others; len(others) == 0 {
		delete(o, key.Namespace)
	}
	return before
}

// reaching are the policies that may override a resource.
func (o overrides) reaching(r api.Key) (reaching []*override.Policy) {
	reaching = appendReaching(nil, o[""], r)
	if r.Namespace != "" {
		reaching = appendReaching(reaching, o[r.Namespace], r)
	}
	return reaching
}

func appendReaching(reaching, policies []*override.Policy, r api.Key) []*override.Policy {
	for _, p := range policies {
		if p.MayReach(r) {
			reaching = append(reaching, p)
		}
	}
	return reaching
}

// overrideChanged renews the Works that a policy reaches now, or did before.
func (f *Fleet) overrideChanged(kind *catalog.Resource, c *engine.Change) {
	f.objectChanged(kind, c)
	o := c.Object
	if o == nil {
		o = c.Previous()
	}
	now := f.compiled(f.world.Store().Get(api.KeyOf(o)))
	before := f.overrides.set(api.KeyOf(o), now)
	for _, b := range f.world.Store().Bindings() {
		if r := b.Spec.Resource.Key(); before != nil && before.MayReach(r) || now != nil && now.MayReach(r) {
			f.renewWorks(b)
		}
	}
}

// compiled makes a policy ready; nil where there is none, or one that no admission would have let pass.
func (f *Fleet) compiled(o api.Object) *override.Policy {
	var spec *api.OverrideSpec
	switch o := o.(type) {
	case *api.OverridePolicy:
		spec = &o.Spec
	case *api.ClusterOverridePolicy:
		spec = &o.Spec
	default:
		return nil
	}
	p, err := override.Compile(o.GetNamespace(), o.GetName(), spec)
	if err != nil {
		f.refused(o, err)
	}
	return p
}

// loadOverrides takes over the policies that there are.
func (f *Fleet) loadOverrides() {
	for _, kind := range [...]string{"ClusterOverridePolicy", "OverridePolicy"} {
		for _, o := range f.world.Store().List(kind) {
			f.overrides.set(api.KeyOf(o), f.compiled(o))
		}
	}
}

// renewMoved renews the Works of a cluster whose labels, or whose place, make policies mean it that did not, or no more.
func (f *Fleet) renewMoved(before, now *api.Cluster) {
	was, is := messages.Located(before), messages.Located(now)
	telling := overrides{}
	for namespace, policies := range f.overrides { // order-free: they stay apart
		for _, p := range policies {
			if p.Tells(was, is) {
				telling[namespace] = append(telling[namespace], p)
			}
		}
	}
	if len(telling) == 0 {
		return
	}
	for _, b := range f.world.Store().Bindings() {
		if b.WantedOn(messages.ClusterName(now.Name)) && len(telling.reaching(b.Spec.Resource.Key())) > 0 {
			f.renewWork(b, messages.ClusterName(now.Name))
		}
	}
}

// overridden returns a manifest as the cluster of a wish is to have it, and keeps the wish where policies cannot be
// applied: then the Work stays as it is until one of them, the cluster or the template changes.
func (f *Fleet) overridden(w *wish, m manifest) (manifest, error) {
	if len(f.overrides) == 0 {
		return m, nil
	}
	key := f.world.Store().Binding(w.binding).Spec.Resource.Key()
	policies, c := f.overrides.reaching(key), f.world.Store().Cluster(w.cluster)
	if len(policies) == 0 || c == nil {
		return m, nil
	}
	r, err := override.Apply(m.raw, policies, messages.Located(c))
	if err != nil {
		f.stuck[w.key] = w.wanted
		f.warn(key, "ApplyOverridePolicyFailed", fmt.Sprintf("for cluster %s: %v", w.cluster, err))
		return m, fmt.Errorf("override %s: %w", key, err)
	}
	if len(r.Cluster)+len(r.Local) > 0 {
		m.raw = r.Manifest
		m.list = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: m.raw}}}
		m.names, err = noted(m, &r)
	}
	return m, err
}

// notes are the annotations that only a Work has which was overridden.
var notes = [...]string{api.AnnotationAppliedOverrides, api.AnnotationAppliedClusterOverrides, api.AnnotationReplicas}

// noted are the annotations of a Work that was overridden.
func noted(m manifest, r *override.Result) (map[string]string, error) {
	all := maps.Clone(m.names)
	all[api.AnnotationReplicas] = strconv.Itoa(int(m.replicas))
	for name, applied := range map[string][]api.AppliedOverride{ // order-free: two fields
		api.AnnotationAppliedClusterOverrides: r.Cluster, api.AnnotationAppliedOverrides: r.Local,
	} {
		if len(applied) == 0 {
			continue
		}
		text, err := json.Marshal(applied)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		all[name] = string(text)
	}
	return all, nil
}

// isNoted reports whether a Work says of its overrides what it is to say.
func isNoted(w *api.Work, annotations map[string]string) bool {
	for _, name := range notes {
		if w.Annotations[name] != annotations[name] {
			return false
		}
	}
	for name, note := range annotations { // order-free: any of them
		if w.Annotations[name] != note {
			return false
		}
	}
	return true
}

// renoted are the annotations of a Work with what it is to say of its overrides.
func renoted(w *api.Work, annotations map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, w.Annotations)
	for _, name := range notes {
		delete(all, name)
	}
	maps.Copy(all, annotations)
	return all
}
