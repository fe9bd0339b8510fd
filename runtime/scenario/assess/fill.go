package assess

import (
	"maps"
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/forecast"
)

// fill follows in which order clusters become full.
type fill struct {
	named map[string]*api.Cluster
	// requested is what is requested of clusters, and at are the clusters of the workloads that were placed again.
	requested forecast.Usage
	at        map[messages.BindingName][]api.TargetCluster
	// order are the clusters that became full, the first first.
	order []string
}

func newFill(f *fleet) fill {
	l := fill{named: map[string]*api.Cluster{}, requested: forecast.Usage{}, at: map[messages.BindingName][]api.TargetCluster{}}
	for _, c := range f.clusters {
		l.named[c.Name] = c
	}
	for name, of := range f.before { // order-free: each by itself
		l.requested[name] = maps.Clone(of)
	}
	return l
}

// takes notes that a workload is placed on other clusters, and which of them are full by that.
func (l *fill) takes(w *workload, clusters []api.TargetCluster) {
	before, moved := l.at[w.name]
	if !moved {
		before = w.spec.Clusters
	}
	for _, t := range before {
		l.requested.Add(t.Name, w.spec, -int64(t.Replicas))
	}
	l.at[w.name] = slices.Clone(clusters)
	for _, t := range clusters {
		l.requested.Add(t.Name, w.spec, int64(t.Replicas))
		if c := l.named[t.Name]; c != nil && !slices.Contains(l.order, t.Name) && fills(c, l.requested[t.Name]) {
			l.order = append(l.order, t.Name)
		}
	}
}

// fills reports whether a cluster is full of any resource.
func fills(c *api.Cluster, requested forecast.UsageOf) bool {
	for what := range requested { // order-free: any
		if isFull(c, what, requested[what]) {
			return true
		}
	}
	return false
}

// turn is when a cluster became full, among the others; those that were before come last.
func (l *fill) turn(cluster string) int {
	if i := slices.Index(l.order, cluster); i >= 0 {
		return i
	}
	return len(l.order)
}
