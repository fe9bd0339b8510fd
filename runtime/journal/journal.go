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
	count  int
}

const blockSize = 1024

// New returns an empty journal. Transcripts count time from start.
func New(start time.Time) *Journal { return &Journal{start: start} }

// Append adds a fact. Instants never go backwards; the caller sees to that.
func (j *Journal) Append(at time.Time, actor messages.Address, f messages.Fact) {
	if j.count%blockSize == 0 {
		j.blocks = append(j.blocks, make([]Entry, 0, blockSize))
	}
	j.count++
	last := &j.blocks[len(j.blocks)-1]
	*last = append(*last, Entry{Seq: uint64(j.count), At: at, Actor: actor, Fact: f})
}

// Start returns the instant from which transcripts count.
func (j *Journal) Start() time.Time { return j.start }

// Len returns how many entries there are.
func (j *Journal) Len() int { return j.count }

// Entries returns a copy of everything so far, oldest first.
func (j *Journal) Entries() []Entry { return j.Since(0) }

// Since returns a copy of all but the first n entries, oldest first; it costs no more than they are.
func (j *Journal) Since(n int) []Entry {
	if n >= j.count {
		return nil
	}
	blocks := slices.Clone(j.blocks[n/blockSize:])
	blocks[0] = blocks[0][n%blockSize:]
	return slices.Concat(blocks...)
}
