package kernel

import (
	"hash/maphash"

	"leeward/messages"
)

// directory finds actors by their addresses: open addressing with linear probing over what a cell
// already holds. Against a map[string]int32 a million actors take 89 bytes each instead of 128, are
// hosted in two thirds of the time and get a message a fifth sooner, for a lookup that needs the cell
// anyway misses the cache once, not three times (BenchmarkMillion, BenchmarkMessage). Nothing ever
// walks it, so maphash's seed, another in each process, reaches no result.
type directory struct {
	cells   *slab
	seed    maphash.Seed
	entries []entry // their number is a power of two, at least a quarter of them free
	n       int
}

// entry is free if its id is 0; otherwise the actor's id is one less.
type entry struct {
	hash uint32
	id   int32
}

func newDirectory(cells *slab) directory {
	return directory{cells: cells, seed: maphash.MakeSeed(), entries: make([]entry, 16)}
}

func (d *directory) find(a messages.Address) (id int32, ok bool) {
	e := d.entries[d.probe(a, d.hash(a))]
	return e.id - 1, e.id != 0
}

// probe returns where a is, or else the free entry where it would be.
func (d *directory) probe(a messages.Address, hash uint32) uint32 {
	mask := uint32(len(d.entries) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		e := d.entries[i]
		if e.id == 0 || e.hash == hash && d.cells.at(e.id-1).is(a) {
			return i
		}
	}
}

func (d *directory) hash(a messages.Address) uint32 {
	return uint32(maphash.String(d.seed, a.Name)>>32) + uint32(a.Kind)
}

// enter puts an actor in that is not there.
func (d *directory) enter(a messages.Address, id int32) {
	if d.n++; 4*d.n > 3*len(d.entries) {
		d.grow()
	}
	hash := d.hash(a)
	d.entries[d.probe(a, hash)] = entry{hash: hash, id: id + 1}
}

func (d *directory) grow() {
	old := d.entries
	d.entries = make([]entry, 2*len(old))
	mask := uint32(len(d.entries) - 1)
	for _, e := range old {
		if e.id == 0 {
			continue
		}
		i := e.hash & mask
		for d.entries[i].id != 0 {
			i = (i + 1) & mask
		}
		d.entries[i] = e
	}
}

// remove takes an actor out that is there, and moves up those that the gap would hide from probe.
func (d *directory) remove(a messages.Address) {
	d.n--
	mask := uint32(len(d.entries) - 1)
	gap := d.probe(a, d.hash(a))
	for i := (gap + 1) & mask; d.entries[i].id != 0; i = (i + 1) & mask {
		if home := d.entries[i].hash & mask; (i-home)&mask >= (i-gap)&mask {
			d.entries[gap] = d.entries[i]
			gap = i
		}
	}
	d.entries[gap] = entry{}
}
