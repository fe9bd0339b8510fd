package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/spelling"
	"leeward/runtime/scenario"
)

// kindsOf are the kinds of a scenario's objects, in order.
func kindsOf(s *scenario.Scenario) []string {
	all := map[string]bool{}
	for _, d := range s.Objects {
		all[d.Object.GetObjectKind().GroupVersionKind().Kind] = true
	}
	if s.Began != nil {
		for _, o := range s.Began.Objects {
			all[o.GetObjectKind().GroupVersionKind().Kind] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// bindingsMeant are the bindings that a name may mean, the likeliest first: the binding's own name, or the workload that it is for,
// as kubectl names it.
func bindingsMeant(name, namespace string, kinds []string) ([]messages.BindingName, error) {
	readings, err := spelling.Workloads(name, kinds)
	if err != nil {
		return nil, fmt.Errorf("binding %q: %w", name, err)
	}
	var all []messages.BindingName
	add := func(namespace, name string) {
		if b := messages.NameBinding(namespace, name); !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	switch own, rest, cut := strings.Cut(name, "/"); {
	case cut && namespace == "":
		add(own, rest)
	case !cut && namespace == "":
		add(metav1.NamespaceDefault, name)
		add("", name)
	case !cut:
		add(namespace, name)
	}
	for _, w := range readings {
		if namespace != "" && w.Namespace != "" && w.Namespace != namespace {
			continue
		}
		of := propagation.BindingName(w.Kind, w.Name)
		if strings.HasSuffix(w.Kind, "ResourceBinding") {
			of = w.Name
		}
		if within := cmp.Or(namespace, w.Namespace); within != "" {
			add(within, of)
			continue
		}
		add("", of)
		add(metav1.NamespaceDefault, of)
	}
	return all, nil
}

// mostNamed is how many names an error lists.
const mostNamed = 5

// unknown says that there is nothing of a name, and what there is that is near, or some of all.
func (q *query) unknown(known []string) error {
	what := fmt.Sprintf("there is no %s %q at %s", q.Kind, q.full(), q.answer.At)
	if len(known) == 0 {
		return fmt.Errorf("%s; there is none at all", what)
	}
	if hint := spelling.Hint(q.full(), known); hint != "" {
		what += hint
	}
	list := strings.Join(known[:min(len(known), mostNamed)], ", ")
	if len(known) > mostNamed {
		list += fmt.Sprintf(", ... (%d in all)", len(known))
	}
	return fmt.Errorf("%s; there is %s", what, list)
}

// full is the name with its namespace, where one is named apart.
func (q *query) full() string {
	if q.Namespace == "" || q.Kind == KindCluster || q.Kind == KindNode || strings.Contains(q.Name, "/") {
		return q.Name
	}
	return q.Namespace + "/" + q.Name
}

// named are the names of objects, in order, those in a namespace with it.
func named(objects ...[]api.Object) (names []string) {
	for _, list := range objects {
		for _, o := range list {
			names = append(names, nameOf(o))
		}
	}
	return names
}

func nameOf(o api.Object) string { return string(messages.NameBinding(o.GetNamespace(), o.GetName())) }

// joined joins the texts that are not empty.
func joined(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), between)
}
