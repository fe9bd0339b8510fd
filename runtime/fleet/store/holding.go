package store

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// longestWord is how many bytes of a message the status of a binding shows.
const longestWord = 1024

// showEviction shows how far the eviction from a cluster is, in place of what was shown. There is one for each cluster that
// the binding runs on or is taken off, in order of their names.
func (b *Binding) showEviction(e api.Eviction, g *messages.Grounds) bool {
	if len(e.Message) > longestWord {
		e.Message = strings.ToValidUTF8(e.Message[:longestWord], "")
	}
	if g.Taint != nil {
		e.Taint = g.Taint.ToString()
	}
	if g.Cause != nil {
		e.Policy = g.Cause.Policy
	}
	if !g.Deadline.IsZero() {
		e.Deadline = metav1.MicroTime{Time: g.Deadline}
	}
	others, _ := without(b.Status.Evictions, evictionFrom(e.Cluster))
	i := slices.IndexFunc(others, func(o api.Eviction) bool { return o.Cluster > e.Cluster })
	if i < 0 {
		i = len(others)
	}
	b.Status.Evictions = slices.Insert(slices.Clone(others), i, e)
	return true
}

// evictionOver no longer shows an eviction that ended, or was cancelled.
func (b *Binding) evictionOver(cluster messages.ClusterName) (changed bool) {
	b.Status.Evictions, changed = without(b.Status.Evictions, evictionFrom(string(cluster)))
	return changed
}

// evictionsOutside no longer shows evictions that have not started, from clusters that are off the result.
func (b *Binding) evictionsOutside(clusters []api.TargetCluster) {
	for _, e := range b.Status.Evictions {
		if e.State != api.EvictionEvicting && api.FindTarget(clusters, e.Cluster) < 0 {
			b.evictionOver(messages.ClusterName(e.Cluster))
		}
	}
}

func evictionFrom(cluster string) func(api.Eviction) bool {
	return func(e api.Eviction) bool { return e.Cluster == cluster }
}
