// Package store holds the API objects as the machines have them. People put and delete objects; facts change
// clusters and bindings. A freshly started engine rebuilds itself from what is stored here, so times
// keep their full precision in memory, whatever their JSON shows.
//
// In a replay that is all there is. In the daemon it is a transaction: each object rests on the Row that was committed of
// it, and shares it until a fact changes the object. What facts make of objects is not visible to others until it is
// committed, and becomes the next row; what another writer commits meanwhile is heard first, and the transaction rests on that.
package store

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
)

// Store holds the objects of one fleet. It belongs to one goroutine.
//
// What the store changes it replaces: it never writes into a slice, a map or behind a pointer that
// an object holds. So a shallow copy of an object is a snapshot of it. Get, List and Objects return
// such snapshots, which may be kept and read by any goroutine and which must not be changed.
type Store struct {
	kinds      map[string]map[api.Key]*entry
	clusters   map[messages.ClusterName]*entry
	bindings   map[messages.BindingName]*entry
	placements placements
	// policies are the ClusterTaintPolicies, as they came.
	policies []*counted
	// charged are the quotas, by namespace.
	charged map[string]*charged
	// statuses are the raw statuses that copies show: most are alike, and share one.
	statuses    map[replicaCounts]*runtime.RawExtension
	said        map[string]*runtime.RawExtension // what statuses say beside counts, by their text
	version     uint64                           // of the newest change
	seed        uint64                           // of uids
	transitions transitions
	// changed are the keys of what changed since Changed was last asked; nil where that is not asked.
	changed map[api.Key]struct{}
	// ended are the rows of objects that are stored and that the machines do not have, or have no more.
	ended map[api.Key]Row
}

// entry is one object: what the machines have made of it, over the row that is stored.
type entry struct {
	row     Row        // nil: it is not stored
	object  api.Object // that of the row until a fact changes it; nil: the row alone has it
	binding *Binding   // nil unless object is a binding
	version uint64     // of the object's newest change
	settled uint64     // version as of which the object was put, or is the row's

	shown   api.Object // the snapshot of version shownAt
	shownAt uint64
}

// New returns an empty store. The uids of bindings that policies make follow from the seed and their names.
func New(seed uint64) *Store {
	return &Store{
		seed:       seed,
		kinds:      map[string]map[api.Key]*entry{},
		clusters:   map[messages.ClusterName]*entry{},
		bindings:   map[messages.BindingName]*entry{},
		placements: placements{texts: map[*api.Placement]string{}, parsed: map[string]*api.Placement{}},
		statuses:   map[replicaCounts]*runtime.RawExtension{},
		said:       map[string]*runtime.RawExtension{},
		charged:    map[string]*charged{},
		ended:      map[api.Key]Row{},
	}
}

// Put stores an object in place of any other of its key. The caller hands it over and must not touch
// it again. Its apiVersion and kind must be set; uid and creationTimestamp are the caller's to give,
// and so is the generation, except that an object without one gets the next: 1 if it is new.
func (s *Store) Put(o api.Object) {
	key := api.KeyOf(o)
	if key.Kind == "" {
		panic(fmt.Sprintf("store: put an object without a kind: %q, a %T", o.GetName(), o))
	}
	if o.GetGeneration() == 0 {
		o.SetGeneration(s.generation(key) + 1)
	}
	e := &entry{object: o}
	switch o := o.(type) {
	case *api.Cluster:
		s.clusters[messages.ClusterName(o.Name)] = e
		s.recount(messages.ClusterName(o.Name))
	case *api.ClusterTaintPolicy:
		s.putPolicy(e, o)
	case *api.PropagationPolicy:
		s.placements.seed(&o.Spec.Placement)
	case *api.ClusterPropagationPolicy:
		s.placements.seed(&o.Spec.Placement)
	case *api.FederatedResourceQuota:
		s.putQuota(e, o)
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		s.putBinding(e, AsBinding(o))
	}
	s.place(key, e)
}

// place puts an entry under a key, over the row that is stored there.
func (s *Store) place(key api.Key, e *entry) {
	if s.kinds[key.Kind] == nil {
		s.kinds[key.Kind] = map[api.Key]*entry{}
	}
	e.row = s.Stored(key)
	delete(s.ended, key)
	s.kinds[key.Kind][key] = e
	s.version++
	e.version, e.settled = s.version, s.version
	s.Note(key)
}

func (s *Store) putBinding(e *entry, b *Binding) {
	b.Applied = s.placements.parse(b.Meta.Annotations[api.AnnotationAppliedPlacement])
	b.name, b.annotated = b.Name(), b.Applied
	if b.uncounted() {
		b.Status.AggregatedStatus = withReadyReplicas(b.Status.AggregatedStatus)
	}
	e.binding = b
	if before := s.bindings[b.Name()]; before != nil {
		b.serving = before.binding.serving
	}
	s.bindings[b.Name()] = e
	s.recharge(b.Name())
}

// Delete removes an object, if it is there.
func (s *Store) Delete(key api.Key) {
	e := s.find(key)
	if e == nil {
		return
	}
	delete(s.kinds[key.Kind], key)
	if e.row != nil {
		s.ended[key] = e.row
	}
	s.Note(key)
	switch o := e.object.(type) {
	case *api.Cluster:
		delete(s.clusters, messages.ClusterName(o.Name))
		s.recount(messages.ClusterName(o.Name))
	case *api.ClusterTaintPolicy:
		s.dropPolicy(o.Name)
	case *api.FederatedResourceQuota:
		s.dropQuota(key)
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		delete(s.bindings, e.binding.Name())
		s.recharge(e.binding.Name())
	}
}

// Get returns a snapshot of one object, or nil.
func (s *Store) Get(key api.Key) api.Object {
	if e := s.find(key); e != nil {
		return s.show(e)
	}
	return nil
}

// List returns snapshots of the objects of one kind, in the order of Objects.
func (s *Store) List(kind string) []api.Object {
	return s.snapshots(slices.Collect(maps.Keys(s.kinds[kind])))
}

// Bindings returns the bindings as they stand, those with a namespace first, each kind in the order of Objects. They
// are the store's own, as that of Binding is.
func (s *Store) Bindings() []*Binding {
	all := make([]*Binding, 0, len(s.bindings))
	for _, kind := range [...]string{"ResourceBinding", "ClusterResourceBinding"} {
		keys := s.KeysOf(kind, func(api.Key) bool { return true })
		slices.SortFunc(keys, CompareKeys)
		for _, key := range keys {
			all = append(all, s.kinds[kind][key].binding)
		}
	}
	return all
}

// EachBinding visits the bindings as they stand, in no order. They are the store's own, as those of Bindings are.
func (s *Store) EachBinding(visit func(*Binding)) {
	for _, e := range s.bindings { // order-free: as said
		visit(e.binding)
	}
}

// Keys returns the keys of objects that are wanted, in the order of Objects.
func (s *Store) Keys(wanted func(api.Key) bool) []api.Key {
	var keys []api.Key
	for kind := range s.kinds { // order-free: the keys are sorted
		keys = append(keys, s.KeysOf(kind, wanted)...)
	}
	slices.SortFunc(keys, CompareKeys)
	return keys
}

// KeysOf returns those of one kind, in no order.
func (s *Store) KeysOf(kind string, wanted func(api.Key) bool) []api.Key {
	var keys []api.Key
	for key := range s.kinds[kind] { // order-free: as said
		if !wanted(key) {
			continue
		}
		if keys == nil { // most callers want all of a kind, or none
			keys = make([]api.Key, 0, len(s.kinds[kind]))
		}
		keys = append(keys, key)
	}
	return keys
}

// Objects returns snapshots of everything: clusters, taint policies, propagation policies, quotas,
// resource templates, bindings, rebalancers; each kind by namespace and name.
func (s *Store) Objects() []api.Object {
	return s.snapshots(s.Keys(func(api.Key) bool { return true }))
}

func (s *Store) snapshots(keys []api.Key) []api.Object {
	slices.SortFunc(keys, CompareKeys)
	return lists.Of(keys, s.Get)
}

// Cluster returns a cluster as the machines have it, or nil. It is the store's own: read it now and do not
// change it; the next fact may.
func (s *Store) Cluster(name messages.ClusterName) *api.Cluster {
	if e := s.clusters[name]; e != nil {
		return e.object.(*api.Cluster)
	}
	return nil
}

// Binding returns a binding as the machines have it, or nil. It is the store's own: read it now and do not
// change it; the next fact may. A copy of *Spec or *Status stays as it is.
func (s *Store) Binding(name messages.BindingName) *Binding {
	if e := s.bindings[name]; e != nil {
		return e.binding
	}
	return nil
}

// Has reports whether an object is there.
func (s *Store) Has(key api.Key) bool { return s.find(key) != nil }

// Version returns a number that grows with every change of the object, across its deletion and
// return, and is its resourceVersion; 0 where the object is not there.
func (s *Store) Version(key api.Key) uint64 {
	if e := s.find(key); e != nil {
		return e.version
	}
	return 0
}

func (s *Store) find(key api.Key) *entry { return s.kinds[key.Kind][key] }

func (s *Store) generation(key api.Key) int64 {
	if e := s.find(key); e != nil {
		return s.show(e).GetGeneration()
	}
	return 0
}

func (s *Store) touch(e *entry) {
	s.version++
	e.version = s.version
	if s.changed != nil { // its key is not for nothing
		s.Note(api.KeyOf(e.object))
	}
}

// Track has Changed tell what changes from now on. Without it a change costs nothing more than itself.
func (s *Store) Track() {
	if s.changed == nil {
		s.changed = map[api.Key]struct{}{}
	}
}

// Changed returns the keys of what was put, changed or deleted since it was last called, each once, in the order
// of Objects.
func (s *Store) Changed() []api.Key {
	keys := slices.SortedFunc(maps.Keys(s.changed), CompareKeys)
	clear(s.changed)
	return keys
}

// Note has Changed tell an object, once more.
func (s *Store) Note(key api.Key) {
	if s.changed != nil {
		s.changed[key] = struct{}{}
	}
}
