package forecast

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

// Claims reports propagation policies that change a fleet which does not have what they select: a dump of bindings without the resources
// that these are for. Such a policy would claim nothing, and a prediction would say that it changes nothing. The error names each policy.
func Claims(fleet, policies []manifest.Document) error {
	selects := slices.DeleteFunc(slices.Clone(policies), func(d manifest.Document) bool { return selectorsOf(d.Object) == nil })
	if len(selects) == 0 {
		return nil
	}
	has := map[api.Key]bool{}
	for _, d := range slices.Concat(fleet, policies) {
		has[api.KeyOf(d.Object)] = true
	}
	var missing []*store.Binding
	for _, d := range fleet {
		if b := store.AsBinding(d.Object); b != nil && d.Line("kind") > 0 && !has[b.Spec.Resource.Key()] {
			missing = append(missing, b)
		}
	}
	var problems manifest.Problems
	for _, d := range selects {
		if p := unread(d, missing); p != nil {
			problems = append(problems, p)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// selectorsOf are those of a propagation policy; nil: the object is another one.
func selectorsOf(o api.Object) []api.ResourceSelector {
	switch p := o.(type) {
	case *api.PropagationPolicy:
		return p.Spec.ResourceSelectors
	case *api.ClusterPropagationPolicy:
		return p.Spec.ResourceSelectors
	}
	return nil
}

// unread says which bindings a policy has or may claim of those whose resources are missing; nil: none.
func unread(d manifest.Document, missing []*store.Binding) *manifest.Problem {
	key := api.KeyOf(d.Object)
	selectors, name := propagation.Compile(selectorsOf(d.Object)), messages.NamePropagation(key.Namespace, key.Name)
	kinds, bindings := map[string]bool{}, 0
	for _, b := range missing {
		of := b.Spec.Resource.Key()
		if b.Owner() != name && selectors.Closest(key.Namespace, of, nil) == propagation.NoMatch {
			continue
		}
		bindings++
		plural := strings.ToLower(of.Kind)
		if r := catalog.Of(of); r != nil {
			plural = r.Plural
		}
		kinds[plural] = true
	}
	if bindings == 0 {
		return nil
	}
	return &manifest.Problem{File: d.Place.File, Line: d.Line("metadata"), Object: key.String(), Message: fmt.Sprintf(
		"selects resources of which the fleet has the bindings alone (%d): read them, too (kubectl get %s -A -o yaml)",
		bindings, strings.Join(slices.Sorted(maps.Keys(kinds)), ","))}
}
