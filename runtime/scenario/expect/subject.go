package expect

import "leeward/messages"

// aboutOf is the binding, or the pod, that something expected is about; empty: none, or any.
func aboutOf(s Subject) (messages.BindingName, messages.PodName) {
	if outcomes, is := s.(AnyOf); is { // all of one object
		s = outcomes[0]
	}
	switch s := s.(type) {
	case *Binding:
		return s.Name, ""
	case *Event:
		return s.Binding, ""
	case *Pod:
		return "", s.Name
	}
	return "", ""
}
