package store

import (
	"cmp"
	"slices"

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
