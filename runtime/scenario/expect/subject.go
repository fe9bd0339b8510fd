package expect

import "leeward/messages"

// podOf is the pod that something expected is about; empty: none, or any.
func podOf(s Subject) messages.PodName {
	if any, is := s.(AnyOf); is {
		s = any[0]
	}
	if p, is := s.(*Pod); is {
		return p.Name
	}
	return ""
}

// bindingOf is the binding that something expected is about; empty: none, or any.
func bindingOf(s Subject) messages.BindingName {
	switch s := s.(type) {
	case *Binding:
		return s.Name
	case *Event:
		return s.Binding
	case AnyOf:
		if b, is := s[0].(*Binding); is {
			return b.Name
		}
	}
	return ""
}
