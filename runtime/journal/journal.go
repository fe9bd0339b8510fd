// Package journal keeps what happened, in order, and tells it: as a story with its reasons, as JSON
// for machines, and as one log line per fact.
//
// A fact is told from its own fields alone, so whoever reads a transcript reads what the machines
// recorded and nothing that was guessed later.
package journal

import (
	"slices"
	"time"

	"leeward/messages"
)

// Entry is one fact with its place in the order of all.
type Entry struct {
	// Seq counts a journal's entries from 1.
	Seq uint64
	At  time.Time
	// Actor recorded the fact. The zero Address stands for what came from outside.
	Actor messages.Address
	Fact  messages.Fact
}

// Journal is append-only. It is not safe for concurrent use: one lane appends, and readers come
// after it.
type Journal struct {
	start time.Time
	// blocks are all full but the last, so that no entry is ever moved: a storm has millions.
	blocks [][]Entry
	seq    uint64
}

const blockSize = 1024

// New returns an empty journal. Transcripts count time from start.
func New(start time.Time) *Journal { return &Journal{start: start} }

// Append adds a fact and returns its entry. Instants never go backwards; the caller sees to that.
func (j *Journal) Append(at time.Time, actor messages.Address, f messages.Fact) Entry {
	if j.seq%blockSize == 0 {
		j.blocks = append(j.blocks, make([]Entry, 0, blockSize))
	}
	j.seq++
	e := Entry{Seq: j.seq, At: at, Actor: actor, Fact: f}
	last := &j.blocks[len(j.blocks)-1]
	*last = append(*last, e)
	return e
}

// Start returns the instant from which transcripts count.
func (j *Journal) Start() time.Time { return j.start }

// Len returns how many facts there are.
func (j *Journal) Len() int { return int(j.seq) }

// Entries returns a copy of everything so far, oldest first.
func (j *Journal) Entries() []Entry { return j.After(0) }

// After returns a copy of the entries that came after number seq, oldest first; it costs no more than
// they are.
func (j *Journal) After(seq uint64) []Entry {
	if seq >= j.seq {
		return nil
	}
	blocks := slices.Clone(j.blocks[seq/blockSize:])
	blocks[0] = blocks[0][seq%blockSize:]
	return slices.Concat(blocks...)
}

// Since returns a copy of all but the first n entries, oldest first.
func (j *Journal) Since(n int) []Entry {
	first := n / blockSize
	if first >= len(j.blocks) {
		return nil
	}
	return slices.Concat(j.blocks[first:]...)[n%blockSize:]
}
