package store

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/storm"
	"leeward/messages"
	"leeward/messages/api"
)

// Annotate gives an object that is there other annotations.
func (s *Store) Annotate(key api.Key, annotations map[string]string) {
	e := s.find(key)
	if len(annotations) == 0 {
		annotations = nil
	}
	if e.own(); e.binding != nil {
		e.binding.Meta.Annotations = annotations
	} else {
		e.object.SetAnnotations(annotations)
	}
	s.touch(e)
}

// SetPause shows whether people have all evictions wait. The Governor comes with the first change.
func (s *Store) SetPause(h *api.Hold) {
	next := s.governor()
	next.Spec.Pause = h
	next.Generation = s.generation(GovernorKey) + 1
	s.Put(next)
}

// hold puts a hold in the place of the one of its scope; nil: there is none any more.
func (s *Store) hold(of messages.HoldScope, h *api.HoldStatus) {
	next := s.governor()
	next.Status.Holds, _ = without(next.Status.Holds, func(o api.HoldStatus) bool {
		return o.Binding == string(of.Binding) && o.Cluster == string(of.Cluster)
	})
	if h != nil {
		next.Status.Holds = append(slices.Clip(next.Status.Holds), *h)
		slices.SortFunc(next.Status.Holds, func(a, b api.HoldStatus) int {
			return cmp.Or(cmp.Compare(a.Binding, b.Binding), cmp.Compare(a.Cluster, b.Cluster))
		})
	}
	next.Status.State = cmp.Or(next.Status.State, string(storm.Normal))
	s.decide(next)
}

// release shows that the evictions of a binding wait for nothing; nil: they wait again.
func (s *Store) release(b messages.BindingName, r *api.ReleaseStatus) {
	next := s.governor()
	next.Status.Releases, _ = without(next.Status.Releases, func(o api.ReleaseStatus) bool { return o.Binding == string(b) })
	if r != nil {
		next.Status.Releases = append(slices.Clip(next.Status.Releases), *r)
		slices.SortFunc(next.Status.Releases, func(a, b api.ReleaseStatus) int { return cmp.Compare(a.Binding, b.Binding) })
	}
	next.Status.State = cmp.Or(next.Status.State, string(storm.Normal))
	s.decide(next)
}

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
