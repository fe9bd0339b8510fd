package expect

import "leeward/messages"

// Event expects a fact of one kind.
type Event struct {
	Kind string
	// Cluster and Binding: empty means any.
	Cluster messages.ClusterName
	Binding messages.BindingName
	// Fields are further fields of the fact's JSON that it must have; nil means any.
	Fields map[string]any
}

func (*Event) subject() {}

// String returns "event EvictionStarted of default/web on member2".
func (e *Event) String() string {
	s := "event " + e.name()
	if len(e.Fields) > 0 {
		s += " with " + compact(e.Fields)
	}
	return s
}

func (e *Event) name() string {
	s := e.Kind
	if e.Binding != "" {
		s += " of " + string(e.Binding)
	}
	if e.Cluster != "" {
		s += " on " + string(e.Cluster)
	}
	return s
}

// matches reports whether a fact of the right kind is expected.
func (e *Event) matches(f messages.Fact) bool {
	if about := about(f); e.Cluster != "" && about.Cluster != e.Cluster || e.Binding != "" && about.Binding != e.Binding {
		return false
	}
	if len(e.Fields) == 0 {
		return true
	}
	fields, err := tree(f)
	return err == nil && mismatch("", e.Fields, fields) == ""
}

// about is the binding and the cluster that a fact is about; either may be empty.
func about(f messages.Fact) (of messages.HoldScope) {
	if f, ok := f.(interface{ Scope() messages.HoldScope }); ok {
		return f.Scope()
	}
	if f, ok := f.(messages.AboutBinding); ok {
		of.Binding = f.AboutBinding()
	}
	if f, ok := f.(messages.AboutCluster); ok {
		of.Cluster = f.AboutCluster()
	}
	return of
}

// told names a fact by what it is about: "EvictionStarted of default/web on member2".
func told(f messages.Fact) string {
	of := about(f)
	e := Event{Kind: f.Kind(), Binding: of.Binding, Cluster: of.Cluster}
	s := e.name()
	if f, ok := f.(aboutPod); ok {
		s += " of " + string(f.AboutPod())
	}
	if f, ok := f.(aboutNode); ok && f.AboutNode() != "" {
		s += " on " + string(f.AboutNode())
	}
	return s
}
