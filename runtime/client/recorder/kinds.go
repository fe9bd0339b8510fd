package recorder

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/catalog"
)

// further are resources that the daemon does not have, and that an incident may be understood by.
var further = []catalog.Resource{
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Plural: "nodes", ClusterScoped: true, New: func() api.Object { return &corev1.Node{} }},
	{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, Plural: "pods", New: func() api.Object { return &corev1.Pod{} }},
}

// every resource that can be recorded, each after what it refers to.
func every() []*catalog.Resource {
	var all []*catalog.Resource
	for _, list := range [][]catalog.Resource{catalog.All, further} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// Names are the names of all resources that can be recorded.
func Names() []string {
	return lists.Of(every(), func(r *catalog.Resource) string { return r.Plural })
}

// usual reports whether a resource is recorded without being asked for: what decisions are made of, not what is said of
// them.
func usual(r *catalog.Resource) bool {
	return catalog.Of(r.Key("", "")) != nil && r != catalog.Events && r != catalog.Namespaces
}

// Named are the resources of some names: "deployments", "deployments.apps" or "Deployment". Without names they are the
// usual ones.
func Named(names []string) ([]*catalog.Resource, error) {
	all := every()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(r *catalog.Resource) bool { return !usual(r) }), nil
	}
	wanted := map[*catalog.Resource]bool{}
	for _, name := range names {
		is := func(r *catalog.Resource) bool {
			return name == r.Plural || name == r.Name().String() || strings.EqualFold(name, r.Kind.Kind)
		}
		i := slices.IndexFunc(all, is)
		if i < 0 {
			return nil, fmt.Errorf("unknown resource %q; there are %s", name, strings.Join(Names(), ", "))
		}
		wanted[all[i]] = true
	}
	return slices.DeleteFunc(all, func(r *catalog.Resource) bool { return !wanted[r] }), nil
}
