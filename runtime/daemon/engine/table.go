package engine

import (
	"cmp"
	"sync/atomic"

	"github.com/google/btree"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/runtime/fleet/catalog"
)

// degree of the b-trees. A node holds up to 2*degree-1 objects and is copied when it first changes
// after a snapshot.
const degree = 32

// Resource says what one table holds.
type Resource struct {
	Name schema.GroupResource
	// Kind is put on every object, so that what is logged can be read by itself. Empty leaves the
	// objects as they are.
	Kind schema.GroupVersionKind
	// New returns an empty object, to be decoded into.
	New func() Object
	// History is how many changes are kept for watchers and past versions. Zero: 16384.
	History int
	// Packed is set where there may be a great many objects that are seldom looked at. Those that have not changed
	// lately are kept as small texts, and decoded by each reader: some 10 µs each.
	Packed bool
}

const defaultHistory = 1 << 14

// item is one row in its place.
type item struct {
	key string
	*Row
}

func byKey(a, b item) bool { return a.key < b.key }

// Table holds the objects of one resource. Its methods may be called by anyone at any time.
type Table struct {
	resource Resource
	prefix   string
	engine   *Engine
	objects  *btree.BTreeG[item]
	packer   packer
	size     atomic.Int64 // of objects, for those who do not hold the lock
	ring     ring
	// changed is closed at the next change; stirred is set while a batch with such a change is applied.
	changed chan struct{}
	stirred bool
}

func newTable(e *Engine, r Resource) *Table {
	r.History = cmp.Or(r.History, defaultHistory)
	return &Table{
		resource: r,
		prefix:   Prefix(r.Name),
		engine:   e,
		objects:  btree.NewG(degree, byKey),
		ring:     ring{limit: r.History},
		changed:  make(chan struct{}),
	}
}

// Get returns an object and its version, or nil and 0.
func (t *Table) Get(key string) (Object, int64) {
	i := t.find(key)
	return i.Object(), i.Version()
}

// Row returns an object as the table keeps it, or nil.
func (t *Table) Row(key string) *Row { return t.find(key).cold() }

// Version returns the version that an object took, or 0.
func (t *Table) Version(key string) int64 { return t.find(key).Version() }

// Len returns how many objects there are.
func (t *Table) Len() int { return int(t.size.Load()) }

func (t *Table) find(key string) item {
	t.engine.mu.RLock()
	defer t.engine.mu.RUnlock()
	i, _ := t.objects.Get(item{key: key})
	return i
}

// Snapshot returns the table as it is. It takes O(1).
func (t *Table) Snapshot() Snapshot {
	t.engine.mu.Lock() // a clone marks the original's nodes as shared
	defer t.engine.mu.Unlock()
	return Snapshot{table: t, objects: t.objects.Clone(), Version: t.engine.version}
}

// At returns the table as it was at a version, by undoing what came after it. The error is Expired or
// Ahead.
func (t *Table) At(version int64) (Snapshot, error) {
	undo, snapshot, err := t.since(version)
	if err != nil {
		return Snapshot{}, err
	}
	for i := len(undo) - 1; i >= 0; i-- {
		if c := &undo[i]; c.before.none() {
			snapshot.objects.Delete(item{key: c.now.key})
		} else {
			snapshot.objects.ReplaceOrInsert(item{c.now.key, c.before})
		}
	}
	snapshot.Version = version
	return snapshot, nil
}

func (t *Table) since(version int64) ([]step, Snapshot, error) {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	at, err := t.place(version)
	if err != nil {
		return nil, Snapshot{}, err
	}
	return t.ring.from(at, t.ring.end), Snapshot{table: t, objects: t.objects.Clone()}, nil
}

// Forget drops the changes up to a version, as a compaction of etcd does: who reads them has to list again.
func (t *Table) Forget(version int64) {
	t.engine.mu.Lock()
	defer t.engine.mu.Unlock()
	t.ring.forget(min(version, t.engine.version))
}

// Oldest returns the version after which all changes are at hand.
func (t *Table) Oldest() int64 {
	t.engine.mu.RLock()
	defer t.engine.mu.RUnlock()
	return t.ring.floor
}

// place returns where in the ring the changes after a version begin.
func (t *Table) place(version int64) (int64, error) {
	switch {
	case version > t.engine.version:
		return 0, &Ahead{Version: version, Current: t.engine.version}
	case version < t.ring.floor:
		return 0, &Expired{Version: version, Oldest: t.ring.floor}
	default:
		return t.ring.after(version), nil
	}
}

// prepare makes an object fit to be committed.
func (t *Table) prepare(o Object) {
	o.SetResourceVersion("")
	if !t.resource.Kind.Empty() && o.GetObjectKind().GroupVersionKind() != t.resource.Kind { // setting it makes a string
		o.GetObjectKind().SetGroupVersionKind(t.resource.Kind)
	}
}

// record notes a change for watchers, and lets go of an object that has not changed for long.
func (t *Table) record(s step) {
	t.stirred = true
	if dropped := t.ring.add(s); dropped != nil {
		t.cool(dropped)
	}
}

// cool lets go of an object that is packed, unless it has changed since.
func (t *Table) cool(i *item) {
	cold := i.cold()
	if cold == i.Row {
		return
	}
	if stored, _ := t.objects.Get(*i); stored.Row == i.Row {
		t.objects.ReplaceOrInsert(item{i.key, cold})
	}
}

// set puts an object in its place, or takes it away, and returns what was there.
func (t *Table) set(i item) item {
	var old item
	if i.none() {
		old, _ = t.objects.Delete(i)
	} else {
		old, _ = t.objects.ReplaceOrInsert(i)
	}
	t.size.Store(int64(t.objects.Len()))
	return old
}

// wake tells those who wait that the table has changed.
func (t *Table) wake() {
	if t.stirred {
		t.stirred = false
		close(t.changed)
		t.changed = make(chan struct{})
	}
}

// Tables are the tables of an engine that keeps all kinds of the catalog, those that definitions define, and further ones.
func Tables(more ...*catalog.Resource) []Resource {
	kept := append(append(catalog.Kept(), catalog.CertificateRequests), more...)
	tables := make([]Resource, len(kept))
	for i, r := range kept {
		tables[i] = tableOf(r)
	}
	return tables
}

func tableOf(r *catalog.Resource) Resource {
	table := Resource{Name: r.Name(), Kind: r.Kind, New: func() Object { return r.New() }, Packed: r.Numerous()}
	if r == catalog.Customs {
		table.Kind = schema.GroupVersionKind{} // each object has its own
	}
	return table
}
