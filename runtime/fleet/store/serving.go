package store

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
)

// serving is how many replicas of a binding serve users on one cluster.
type serving struct {
	cluster  messages.ClusterName
	replicas int32
}

// Available is how many replicas of a binding serve users, as its own Available says; of any other object none do.
func (s *Store) Available(key api.Key) int32 {
	if e := s.find(key); e != nil && e.binding != nil {
		return e.binding.Available()
	}
	return 0
}

// Available is how many replicas serve users, wherever they run and whatever is reported of them. It is known where
// members are simulated.
func (b *Binding) Available() (sum int32) {
	for _, s := range b.serving {
		sum += s.replicas
	}
	return sum
}

// serves sets how many replicas serve on a cluster.
func (b *Binding) serves(on messages.ClusterName, replicas int32) {
	b.serving = slices.DeleteFunc(b.serving, func(s serving) bool { return s.cluster == on })
	if replicas > 0 {
		b.serving = append(b.serving, serving{on, replicas})
	}
}
