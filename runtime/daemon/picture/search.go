package picture

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

const (
	// MostFound is how many workloads a search names, and mostTargets how many clusters of each.
	MostFound   = 50
	mostTargets = 20
	// mostAsked is how long the words of a search may be, in bytes.
	mostAsked = 200
)

// Found is what a search finds.
type Found struct {
	// All counts the workloads that were found, of which the first MostFound are named: the worst first, then by name.
	All       int        `json:"all"`
	Workloads []Workload `json:"workloads"`
}

// Workload is a binding, whatever is so of it.
type Workload struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// State is as in Totals.
	State string `json:"state"`
	// Clusters are its target clusters, the first of ClusterCount.
	Clusters     []Target `json:"clusters,omitempty"`
	ClusterCount int      `json:"clusterCount"`
}

// Target is what a binding must run on a cluster, and what serves users there.
type Target struct {
	Name      string `json:"name"`
	Replicas  int32  `json:"replicas"`
	Available int32  `json:"available"`
}

// AskedError says what is wrong with the words of a search.
type AskedError struct{ Problem string }

func (e *AskedError) Error() string { return e.Problem }

// Search finds the workloads whose namespace and name have all words of a query; a word with = in it is a label of the binding. The
// error is an *AskedError, or the context's.
func (h *Hub) Search(ctx context.Context, query string) (*Found, error) {
	if len(query) > mostAsked {
		return nil, &AskedError{fmt.Sprintf("q: it has %d bytes, and may have %d", len(query), mostAsked)}
	}
	words := strings.Fields(strings.ToLower(query))
	found := &Found{Workloads: []Workload{}}
	var by [isUnschedulable + 1][]*store.Binding
	seen := 0
	for _, r := range []*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
		for _, o := range h.engine.Table(r.Name()).Snapshot().Under("", "") {
			if seen++; seen%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			b := store.AsBinding(o)
			if b == nil || !isAsked(b, words) {
				continue
			}
			found.All++
			if s := stateOf(b); len(by[s]) < MostFound {
				by[s] = append(by[s], b)
			}
		}
	}
	for s, list := range slices.Backward(by[:]) {
		for _, b := range list[:min(len(list), MostFound-len(found.Workloads))] {
			found.Workloads = append(found.Workloads, workloadOf(b, state(s)))
		}
	}
	return found, nil
}

func isAsked(b *store.Binding, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool {
		return !isNamed(b, word) && !(strings.Contains(word, "=") && isLabelled(b, word))
	})
}

// isNamed reports whether the name of a binding, behind its namespace, has a word. Of most bindings no name is put together for that.
func isNamed(b *store.Binding, word string) bool {
	if strings.Contains(word, "/") {
		return strings.Contains(strings.ToLower(string(b.Name())), word)
	}
	return strings.Contains(strings.ToLower(b.Meta.Namespace), word) || strings.Contains(strings.ToLower(b.Meta.Name), word)
}

func isLabelled(b *store.Binding, word string) bool {
	for key, value := range b.Meta.Labels { // order-free: any
		if strings.ToLower(key+"="+value) == word {
			return true
		}
	}
	return false
}

func workloadOf(b *store.Binding, s state) Workload {
	w := Workload{Namespace: b.Meta.Namespace, Name: b.Meta.Name, State: stateNames[s], ClusterCount: len(b.Spec.Clusters)}
	for i := range b.Spec.Clusters[:min(len(b.Spec.Clusters), mostTargets)] {
		target := &b.Spec.Clusters[i]
		t := Target{Name: short(target.Name), Replicas: target.Pods()}
		if s := b.Status.Of(target.Name); s != nil {
			t.Available = s.ReadyReplicas
		}
		w.Clusters = append(w.Clusters, t)
	}
	return w
}
