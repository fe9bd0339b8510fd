package store

import (
	"iter"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
)

// Row is an object as it is stored, by the one that commits what facts make of it. It is not changed: a commit makes a new one.
type Row interface {
	// Object returns the object, which may have to be decoded.
	Object() api.Object
	// Version is that of the commit.
	Version() int64
}

// Load puts an object as it is stored in place of any other of its key. What machines seldom change is not copied: a
// binding is the row's until a fact changes it, and of a template the store has the row alone. Without a row the caller
// hands the object over.
func (s *Store) Load(o api.Object, row Row) {
	key, b := api.KeyOf(o), AsBinding(o)
	switch {
	case row == nil:
		s.Put(o)
		return
	case o.GetGeneration() == 0, b != nil && b.uncounted(): // something is made of it
		s.Put(api.Shallow(o))
	case b != nil:
		s.Put(o)
	case rank(key) == templateRank:
		s.place(key, &entry{})
	default:
		s.Put(api.Shallow(o))
	}
	s.find(key).row = row
}

// WithoutRows are objects to load, given away.
func WithoutRows(objects []api.Object) iter.Seq2[api.Object, Row] {
	return func(yield func(api.Object, Row) bool) {
		for _, o := range objects {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Stored returns the row that an object is stored as, for all that the store has heard, whatever machines have made of it
// since; nil: it is not stored.
func (s *Store) Stored(key api.Key) Row {
	if e := s.find(key); e != nil {
		return e.row
	}
	return s.ended[key]
}

// Decided reports whether facts have changed an object that is not committed as it is now: facts that decide something, not those
// that tell what an agent or a person reports of a cluster, which its object may say already.
func (s *Store) Decided(key api.Key) bool {
	e := s.find(key)
	return e != nil && e.version > e.settled
}

// Heard has the store know that another writer has stored an object; nil: it was deleted. As the machines have it, it is as
// before.
func (s *Store) Heard(key api.Key, row Row) {
	switch e := s.find(key); {
	case e != nil:
		if e.own(); e.object == nil {
			e.object = api.Copy(e.row.Object())
		}
		e.row = row
	case row != nil:
		s.ended[key] = row
	default:
		delete(s.ended, key)
	}
}

// Adopt has the status of a binding say what another engine has decided. What is known of its copies stays.
func (s *Store) Adopt(name messages.BindingName, of *api.BindingStatus) {
	e := s.bindings[name]
	if e == nil {
		return
	}
	e.own()
	next := *e.binding.Status
	next.SchedulerObservedAffinityName, next.LastScheduledTime, next.Conditions = of.SchedulerObservedAffinityName, of.LastScheduledTime, of.Conditions
	next.SchedulerObservedGeneration, next.Evictions = of.SchedulerObservedGeneration, of.Evictions
	next.ReturnAt, next.Home, next.Shrinking, next.FailoverHistory = of.ReturnAt, of.Home, of.Shrinking, of.FailoverHistory
	*e.binding.Status = next
	s.touch(e)
}

// Committed has the store know that an object is stored as it was at a version of the store's; nil: it was deleted. What
// no fact has changed since, the store has no copy of.
func (s *Store) Committed(key api.Key, row Row, version uint64) {
	e := s.find(key)
	if e == nil || row == nil {
		s.Heard(key, row)
		return
	}
	e.settled = version
	switch {
	case e.binding != nil && e.version == version:
		e.shown, e.shownAt = nil, 0
		e.stand(row.Object())
	case rank(key) == templateRank && (e.object == nil || alike(e.object, row.Object())):
		e.object, e.shown, e.shownAt = nil, nil, 0
		delete(s.changed, key)
	default:
		e.own()
	}
	e.row = row
}

// alike reports whether a template is what is stored but for its status, which no machine looks at, and its version.
func alike(ours, stored api.Object) bool {
	ours = api.Shallow(ours)
	ours.SetResourceVersion(stored.GetResourceVersion())
	if status := reflect.ValueOf(ours).Elem().FieldByName("Status"); status.IsValid() {
		status.Set(reflect.ValueOf(stored).Elem().FieldByName("Status"))
	}
	return equality.Semantic.DeepEqual(ours, stored)
}

// stand has a binding stand in an object.
func (e *entry) stand(o api.Object) {
	e.object = o
	e.binding.take(AsBinding(o))
}

// own gives the store a copy of a binding that is the row's, and that is about to be changed.
func (e *entry) own() {
	if e.binding != nil && e.row != nil && e.object == e.row.Object() {
		e.stand(api.Shallow(e.object))
	}
}
