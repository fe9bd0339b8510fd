package viewer

import (
	"maps"
	"slices"

	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// mostLabels is how many labels an object has in a document, the first by name.
const mostLabels = 20

// labels are those of clusters and of the templates of bindings, by their names.
type labels struct{ clusters, bindings map[string]map[string]string }

// labelled finds the labels of what there is in the end. A binding whose template is not there has its own.
func labelled(objects []api.Object) labels {
	l := labels{map[string]map[string]string{}, map[string]map[string]string{}}
	templates := map[api.Key]map[string]string{}
	for _, o := range objects {
		switch o.(type) {
		case *api.Cluster:
			l.clusters[o.GetName()] = o.GetLabels()
		case *api.ResourceBinding, *api.ClusterResourceBinding:
		default:
			templates[api.KeyOf(o)] = o.GetLabels()
		}
	}
	for _, o := range objects {
		if b := store.AsBinding(o); b != nil {
			r := &b.Spec.Resource
			of, known := templates[api.Key{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}]
			if !known {
				of = b.Meta.Labels
			}
			l.bindings[string(b.Name())] = of
		}
	}
	return l
}

// labelsOf writes labels in the order of their names.
func (w *writing) labelsOf(of map[string]string) (places []int) {
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if len(places) == mostLabels {
			break
		}
		places = append(places, w.text(key+"="+of[key]))
	}
	return places
}
