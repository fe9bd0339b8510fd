package expect

import "leeward/messages"

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
