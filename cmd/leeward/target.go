package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"leeward/actors/rules/propagation"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/catalog"
)

// target is an object of a server that a command line names.
type target struct {
	resource        *catalog.Resource
	namespace, name string
}

// String is how kubectl prints one: "cluster/eu-1".
func (t target) String() string { return strings.ToLower(t.resource.Kind.Kind) + "/" + t.name }

func clusterNamed(name string) target { return target{resource: catalog.Clusters, name: name} }

// isClusters reports whether a word names the resource of clusters.
func isClusters(word string) bool { return is(catalog.Clusters, word) }

// is reports whether a word names a resource.
func is(r *catalog.Resource, word string) bool {
	kind, known := spelling.KindMeant(word, []string{r.Kind.Kind})
	return known && kind == r.Kind.Kind || r == catalog.Nodes && strings.EqualFold(word, "no")
}

// taintedBy is the resource of a word for what has taints; nil: the word names none.
func taintedBy(word string) *catalog.Resource {
	for _, r := range []*catalog.Resource{catalog.Clusters, catalog.Nodes} {
		if is(r, word) {
			return r
		}
	}
	return nil
}

// clustersNamed reads names of clusters, as kubectl does: "clusters eu-1 eu-2", "cluster/eu-1", or names alone.
func (e *editing) clustersNamed(args []string) ([]target, error) {
	return e.named(args, catalog.Clusters)
}

// placesNamed reads names of clusters or of nodes, as kubectl does; names alone are those of clusters.
func (e *editing) placesNamed(args []string) ([]target, error) {
	if len(args) > 0 {
		if word, _, _ := strings.Cut(args[0], "/"); is(catalog.Nodes, word) {
			return e.named(args, catalog.Nodes)
		}
	}
	return e.named(args, catalog.Clusters)
}

// named reads names of one resource.
func (e *editing) named(args []string, r *catalog.Resource) ([]target, error) {
	e.resource = r
	if len(args) > 0 && is(r, args[0]) {
		args = args[1:]
	}
	var all []target
	for _, arg := range args {
		word, name, found := strings.Cut(arg, "/")
		switch {
		case !found:
			name = word
		case !is(r, word) || name == "":
			return nil, fmt.Errorf("want %s, not %s", r.Plural, arg)
		}
		all = append(all, target{resource: r, name: name})
	}
	return all, e.chosen(len(all))
}

// chosen reports what is wrong with so many names beside the flags that choose clusters.
func (e *editing) chosen(names int) error {
	flags := e.selector != "" || e.all
	switch {
	case e.selector != "" && e.all, flags && names > 0:
		return errors.New("want names, --selector or --all, not two of them")
	case !flags && names == 0:
		return errors.New("at least one resource name must be specified")
	}
	return nil
}

// heldKinds are what evictions can be held of, beside the workloads that bindings are for.
const heldKinds = "clusters NAME..., bindings NAME..., or workloads such as deployment/nginx"

// targets reads clusters, bindings and workloads, as kubectl does: "RESOURCE NAME..." or "RESOURCE/NAME...". A workload
// names its binding.
func (e *editing) targets(args []string) ([]target, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("want %s", heldKinds)
	}
	if isClusters(args[0]) {
		return e.clustersNamed(args)
	}
	if !strings.Contains(args[0], "/") {
		args = together(args[0], args[1:])
	}
	var all []target
	for _, arg := range args {
		t, err := e.target(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, e.chosen(len(all))
}

// together writes each name behind the resource that all of them have; a resource alone names nothing.
func together(word string, names []string) []string {
	if len(names) == 0 {
		return []string{word}
	}
	return lists.Of(names, func(name string) string { return word + " " + name })
}

// target is one object by its resource and its name: "rb/nginx-deployment", "deploy nginx".
func (e *editing) target(text string) (target, error) {
	cut := strings.IndexAny(text, "/ ")
	if cut < 0 || cut == len(text)-1 {
		return target{}, fmt.Errorf("want %s, not %s", heldKinds, text)
	}
	word, name := text[:cut], text[cut+1:]
	switch r := heldResource(word); r {
	case catalog.Clusters, catalog.ClusterBindings:
		return target{resource: r, name: name}, nil
	case catalog.Bindings:
		return target{r, e.server.namespaced(), name}, nil
	}
	workloads, err := spelling.Workloads(text, nil)
	if err != nil {
		return target{}, fmt.Errorf("want %s: %w", heldKinds, err)
	}
	w := workloads[0]
	return target{catalog.Bindings, cmp.Or(w.Namespace, e.server.namespaced()), propagation.BindingName(w.Kind, w.Name)}, nil
}
