package cluster

import "leeward/messages"

// subscribers are the bindings that hear of the cluster's NoExecute taints, each once.
type subscribers struct {
	bindings []messages.BindingName
	at       map[messages.BindingName]int // the index of each
}

func newSubscribers() subscribers { return subscribers{at: map[messages.BindingName]int{}} }

func (s *subscribers) add(b messages.BindingName) {
	if _, known := s.at[b]; !known {
		s.at[b] = len(s.bindings)
		s.bindings = append(s.bindings, b)
	}
}

// remove puts the last one in the place of the one that goes.
func (s *subscribers) remove(b messages.BindingName) {
	i, known := s.at[b]
	if !known {
		return
	}
	last := len(s.bindings) - 1
	s.bindings[i] = s.bindings[last]
	s.at[s.bindings[i]] = i
	s.bindings = s.bindings[:last]
	delete(s.at, b)
}
