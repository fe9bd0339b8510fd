package fakemember

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// definedBy are the kinds that a definition has a cluster serve, with the names of their resources.
func definedBy(manifest []byte) map[schema.GroupVersionKind]string {
	definition := &unstructured.Unstructured{}
	if json.Unmarshal(manifest, &definition.Object) != nil {
		return nil
	}
	r := catalog.Defined(definition)
	kinds := map[schema.GroupVersionKind]string{}
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	for _, v := range versions {
		if of, is := v.(map[string]any); is && of["served"] == true {
			kinds[r.Kind.GroupKind().WithVersion(fmt.Sprint(of["name"]))] = r.Plural
		}
	}
	return kinds
}

// defined are the custom kinds that the cluster serves: those that Works define there. a.mu is held.
func (a *agent) defined() map[schema.GroupVersionKind]string {
	all := map[schema.GroupVersionKind]string{}
	for _, w := range a.works { // order-free: they are not alike
		maps.Copy(all, w.defines)
	}
	return all
}

// customEnablements are the custom kinds in the form of a cluster's status, in order.
func customEnablements(kinds map[schema.GroupVersionKind]string) (all []api.APIEnablement) {
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), func(x, y schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(x.GroupVersion().String(), y.GroupVersion().String()), cmp.Compare(x.Kind, y.Kind))
	}) {
		version := kind.GroupVersion().String()
		if n := len(all); n == 0 || all[n-1].GroupVersion != version {
			all = append(all, api.APIEnablement{GroupVersion: version})
		}
		last := &all[len(all)-1]
		last.Resources = append(last.Resources, api.APIResource{Name: kinds[kind], Kind: kind.Kind})
	}
	return all
}

// serveDefined has the Works of custom kinds go by the definitions that there are now: an object goes with the definition of its kind, and is
// applied when that is there.
func (a *agent) serveDefined() {
	kinds := a.defined()
	for _, name := range slices.Sorted(maps.Keys(a.works)) {
		if w := a.works[name]; !w.leaving() && w.custom && (w.refused == "") != w.served(kinds) {
			a.hear(w.object)
		}
	}
	a.fleet.todo.Add(job{cluster: a.cluster})
}

func (w *work) kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: w.identifier.Group, Version: w.identifier.Version, Kind: w.identifier.Kind}
}

// served reports whether a cluster that serves some custom kinds takes the manifest.
func (w *work) served(kinds map[schema.GroupVersionKind]string) bool {
	_, is := kinds[w.kind()]
	return is || !w.custom
}

// admit returns what the machine of a copy must hear, where a Work says m and the cluster serves some custom kinds: an object of another kind is
// refused, and its copy removed.
func (w *work) admit(m messages.ToMember, kinds map[schema.GroupVersionKind]string) messages.ToMember {
	if _, runs := m.(*messages.RunCopy); !runs {
		return m
	}
	if w.served(kinds) {
		w.refused, w.removed = "", false
		if plural := kinds[w.kind()]; plural != "" {
			w.identifier.Resource = plural
		}
		return m
	}
	w.refused = fmt.Sprintf("the member does not serve %s", w.kind())
	had := w.report != nil
	if w.report = nil; had {
		return &messages.RemoveCopy{Binding: messages.BindingName(w.object.Name)}
	}
	return nil
}
