package wal

import (
	"hash/maphash"
	"sync"
)

// latest knows what a log says last of each object that it speaks of. Anyone may note what it says, in any order; when all
// of it is noted and settled, anyone may ask.
type latest struct {
	words [64]words
	// standing tells of each version from first on whether its record is the last word on its object, and no deletion.
	first    int64
	standing []bool
}

// words are of those objects whose keys have a hash in common.
type words struct {
	mu     sync.Mutex
	places map[string]int32 // in last
	// last are the versions of the last records, negative where that is a deletion.
	last []int64
}

var seed = maphash.MakeSeed()

func (l *latest) of(key []byte) *words {
	return &l.words[maphash.Bytes(seed, key)%uint64(len(l.words))]
}

// note notes a record: that its object is stored as of its version, or is gone.
func (l *latest) note(key []byte, version int64, stored bool) {
	said := version
	if !stored {
		said = -version
	}
	w := l.of(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	i, known := w.places[string(key)]
	switch {
	case !known:
		if w.places == nil {
			w.places = map[string]int32{}
		}
		w.places[string(key)] = int32(len(w.last))
		w.last = append(w.last, said)
	case max(w.last[i], -w.last[i]) < version:
		w.last[i] = said
	}
}

// settle looks through what was noted up to a version: to ask of versions is far cheaper than to ask of keys.
func (l *latest) settle(version int64) {
	l.first = version + 1
	for i := range l.words {
		for _, said := range l.words[i].last {
			l.first = min(l.first, max(said, -said))
		}
	}
	l.standing = make([]bool, version+1-l.first)
	for i := range l.words {
		for _, said := range l.words[i].last {
			if said > 0 {
				l.standing[said-l.first] = true
			}
		}
	}
}

// stored reports whether the record of a version is the last word on its object, and no deletion.
func (l *latest) stored(version int64) bool {
	i := version - l.first
	return i >= 0 && i < int64(len(l.standing)) && l.standing[i]
}

// knows reports whether the log speaks of an object.
func (l *latest) knows(key []byte) bool {
	_, known := l.of(key).places[string(key)]
	return known
}
