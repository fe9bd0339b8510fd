package world

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// offers knows which propagation policies may select which workloads, so that a workload is offered to
// those alone and not to every policy of the fleet.
type offers struct {
	// named holds policies by the resource that a selector names; broad by kind, for selectors that
	// name none.
	named map[api.Key][]messages.PropagationName
	broad map[kindKey][]messages.PropagationName
	specs map[messages.PropagationName]*api.PropagationSpec
}

type kindKey struct{ apiVersion, kind string }

func newOffers() offers {
	return offers{
		named: map[api.Key][]messages.PropagationName{},
		broad: map[kindKey][]messages.PropagationName{},
		specs: map[messages.PropagationName]*api.PropagationSpec{},
	}
}

// put files a policy under what its selectors select.
func (o *offers) put(name messages.PropagationName, spec *api.PropagationSpec) {
	o.drop(name)
	o.specs[name] = spec
	for i := range spec.ResourceSelectors {
		s := &spec.ResourceSelectors[i]
		if s.Name == "" {
			k := kindKey{s.APIVersion, s.Kind}
			o.broad[k] = append(o.broad[k], name)
			continue
		}
		k := selectedKey(s)
		o.named[k] = append(o.named[k], name)
	}
}

func (o *offers) drop(name messages.PropagationName) {
	spec := o.specs[name]
	if spec == nil {
		return
	}
	is := func(n messages.PropagationName) bool { return n == name }
	for i := range spec.ResourceSelectors {
		s := &spec.ResourceSelectors[i]
		k, b := selectedKey(s), kindKey{s.APIVersion, s.Kind}
		o.named[k] = slices.DeleteFunc(o.named[k], is)
		o.broad[b] = slices.DeleteFunc(o.broad[b], is)
	}
	delete(o.specs, name)
}

// to returns the policies that may select a workload, each once, in order of their names.
func (o *offers) to(w *messages.Workload) []messages.PropagationName {
	exact := api.Key{APIVersion: w.APIVersion, Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}
	anywhere := exact
	anywhere.Namespace = ""
	names := slices.Concat(o.named[exact], o.named[anywhere], o.broad[kindKey{w.APIVersion, w.Kind}])
	slices.Sort(names)
	return slices.Compact(names)
}

// selectedKey is the resource that a selector names. A ClusterPropagationPolicy may leave the
// namespace open.
func selectedKey(s *api.ResourceSelector) api.Key {
	return api.Key{APIVersion: s.APIVersion, Kind: s.Kind, Namespace: s.Namespace, Name: s.Name}
}
