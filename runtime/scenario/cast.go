package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/propagation"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// cast is everything that a timeline and expectations can name, with the instant from which it is
// there: the start, or when it is applied.
type cast struct {
	clusters, nodes population
	objects         map[named][]api.Key
	since           map[api.Key]time.Duration
	bindings        map[messages.BindingName]time.Duration
	// incomplete is set where a manifest has problems: what is missing then may well be in it.
	incomplete bool
}

// named is a key without its version.
type named struct{ kind, namespace, name string }

func newCast() cast {
	return cast{
		clusters: newPopulation("cluster"), nodes: newPopulation("node"),
		objects:  map[named][]api.Key{},
		since:    map[api.Key]time.Duration{},
		bindings: map[messages.BindingName]time.Duration{},
	}
}

// join adds an object that is there from an instant on. Objects join in the order of time.
func (c *cast) join(o api.Object, since time.Duration) {
	key := api.KeyOf(o)
	if _, known := c.since[key]; known {
		return
	}
	c.since[key] = since
	id := named{key.Kind, key.Namespace, key.Name}
	c.objects[id] = append(c.objects[id], key)
	switch o := o.(type) {
	case *api.Cluster:
		c.clusters.join(locatedCluster(o, since))
	case *corev1.Node:
		c.nodes.join(locatedNode(o, since))
	}
	if name, ok := bindingOf(key); ok {
		if _, known := c.bindings[name]; !known {
			c.bindings[name] = since
		}
	}
}

// bindingOf returns the name of the binding that an object has, or is; false for the objects that say
// what goes where.
func bindingOf(key api.Key) (messages.BindingName, bool) {
	name := propagation.BindingName(key.Kind, key.Name)
	switch key.APIVersion {
	case api.ClusterGroupVersion, api.PolicyGroupVersion, api.AppsGroupVersion:
		return "", false
	case api.WorkGroupVersion:
		name = key.Name
	}
	return messages.NameBinding(key.Namespace, name), true
}

// object returns the key of an object; a namespace that is not given is none, or default. Errors: there
// is none, or not yet at this instant.
func (c *cast) object(id named, apiVersion string, at time.Duration) (api.Key, error) {
	keys := c.objects[id]
	if id.namespace == "" {
		keys = append(slices.Clip(keys), c.objects[named{id.kind, metav1.NamespaceDefault, id.name}]...)
	}
	i := slices.IndexFunc(keys, func(k api.Key) bool { return apiVersion == "" || k.APIVersion == apiVersion })
	if i < 0 {
		return api.Key{}, c.missing("there is no %s", api.Key{Kind: id.kind, Namespace: id.namespace, Name: id.name})
	}
	if c.since[keys[i]] > at {
		return api.Key{}, fmt.Errorf("%s is applied later", keys[i])
	}
	return keys[i], nil
}

// workload returns the key of a workload, which is named as people do: deploy/nginx -n shop, shop/nginx.
func (c *cast) workload(name string, at time.Duration) (api.Key, error) {
	readings, err := spelling.Workloads(name, c.kinds())
	if err != nil {
		return api.Key{}, err
	}
	var likeliest error
	for _, w := range readings {
		key, err := c.object(named{w.Kind, w.Namespace, w.Name}, "", at)
		if err == nil && key.Name != "" {
			return key, nil
		}
		likeliest = cmp.Or(likeliest, err)
	}
	return api.Key{}, likeliest
}

// kinds are those of all objects, in order.
func (c *cast) kinds() []string {
	all := map[string]bool{}
	for id := range c.objects {
		all[id.kind] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// binding returns a binding by its own name, or by the workload it is for.
func (c *cast) binding(name string, at time.Duration) (messages.BindingName, error) {
	candidates := []messages.BindingName{messages.BindingName(name)}
	if !strings.Contains(name, "/") {
		candidates = append(candidates, messages.BindingName(metav1.NamespaceDefault+"/"+name))
	}
	readings, err := spelling.Workloads(name, c.kinds())
	if err != nil && name != "" {
		return "", err
	}
	for _, w := range readings {
		candidates = append(candidates, bindingsMeant(w)...)
	}
	for _, candidate := range candidates {
		switch since, known := c.bindings[candidate]; {
		case known && since <= at:
			return candidate, nil
		case known:
			return "", fmt.Errorf("binding %q is applied later", name)
		}
	}
	return "", c.unknown("binding", name, lists.Of(slices.Sorted(maps.Keys(c.bindings)), func(b messages.BindingName) string { return string(b) }))
}

// bindingsMeant are the bindings that a workload's name may mean; where it has no namespace, that of a resource
// without one, or of one in the namespace default.
func bindingsMeant(w spelling.Workload) (all []messages.BindingName) {
	key := api.Key{Kind: w.Kind, Namespace: w.Namespace, Name: w.Name}
	if strings.HasSuffix(w.Kind, "ResourceBinding") {
		key.APIVersion = api.WorkGroupVersion
	}
	name, _ := bindingOf(key)
	if all = append(all, name); w.Namespace == "" {
		key.Namespace = metav1.NamespaceDefault
		name, _ = bindingOf(key)
		all = append(all, name)
	}
	return all
}

// unknown words that there is nothing of a name, and what there is.
func (c *cast) unknown(what, name string, known []string) error {
	const most = 5
	list := strings.Join(known[:min(len(known), most)], ", ")
	if len(known) > most {
		list += fmt.Sprintf(", ... (%d in all)", len(known))
	}
	return c.missing("there is no %s %q; there is %s", what, name, cmp.Or(list, "none at all"))
}

// missing returns the error of something that is not there, unless that may be for another reason.
func (c *cast) missing(format string, args ...any) error {
	if c.incomplete {
		return nil
	}
	return fmt.Errorf(format, args...)
}
