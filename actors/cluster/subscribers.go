package cluster

import (
	"iter"

	"leeward/messages"
)

// subscribers are the bindings that hear of the cluster's NoExecute taints, each once.
type subscribers struct {
	// bindings have gaps, empty names, where a binding was removed: to move another there would be to look that one up.
	bindings []messages.BindingName
	gaps     []int32
	at       map[messages.BindingName]int32 // the index of each
}

func newSubscribers() subscribers { return subscribers{at: map[messages.BindingName]int32{}} }

func (s *subscribers) len() int { return len(s.at) }

func (s *subscribers) add(b messages.BindingName) {
	if _, known := s.at[b]; known {
		return
	}
	if last := len(s.gaps) - 1; last >= 0 {
		s.at[b], s.bindings[s.gaps[last]] = s.gaps[last], b
		s.gaps = s.gaps[:last]
		return
	}
	s.at[b] = int32(len(s.bindings))
	s.bindings = append(s.bindings, b)
}

func (s *subscribers) remove(b messages.BindingName) {
	i, known := s.at[b]
	if !known {
		return
	}
	s.bindings[i] = ""
	s.gaps = append(s.gaps, i)
	delete(s.at, b)
}

// all visits them in an order that follows from who came and left.
func (s *subscribers) all() iter.Seq[messages.BindingName] {
	return func(yield func(messages.BindingName) bool) {
		for _, b := range s.bindings {
			if b != "" && !yield(b) {
				return
			}
		}
	}
}
