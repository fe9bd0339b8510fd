// Package journal keeps what happened, in order, and tells it: as a timeline with its reasons, as JSON
// for machines, and as one log line per fact.
//
// A fact is told from its own fields alone, so a reader of a transcript reads what the machines
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
	// Actor recorded the fact. The zero Address means that it came from outside.
	Actor messages.Address
	Fact  messages.Fact
}

// Journal is append-only. It is not safe for concurrent use: one lane appends, and readers come
// after it.
type Journal struct {
	start time.Time
	// blocks are all full but the last, so that no entry is moved once the first is full: a storm has millions.
	blocks [][]Entry
	count  int
}

const blockSize = 1024

// firstBlock is the capacity of the first block: most scenarios fill no more.
const firstBlock = 64

// New returns an empty journal. Transcripts count time from start.
func New(start time.Time) *Journal { return &Journal{start: start} }

// Append adds a fact. Instants never go backwards; the caller sees to that.
func (j *Journal) Append(at time.Time, actor messages.Address, f messages.Fact) {
	if j.count%blockSize == 0 {
		size := blockSize
		if j.count == 0 {
			size = firstBlock
		}
		j.blocks = append(j.blocks, make([]Entry, 0, size))
	}
	j.count++
	last := &j.blocks[len(j.blocks)-1]
	*last = append(*last, Entry{Seq: uint64(j.count), At: at, Actor: actor, Fact: f})
}

// Start returns the instant from which transcripts count.
func (j *Journal) Start() time.Time { return j.start }

// Len returns how many entries there are.
func (j *Journal) Len() int { return j.count }

// Entries returns everything so far, oldest first. It must not be changed.
func (j *Journal) Entries() []Entry { return j.Since(0) }

// Since returns all but the first n entries, oldest first; it costs no more than they are. They must not be changed.
func (j *Journal) Since(n int) []Entry {
	if n >= j.count {
		return nil
	}
	first := j.blocks[n/blockSize][n%blockSize:]
	if n/blockSize == len(j.blocks)-1 {
		return slices.Clip(first)
	}
	blocks := slices.Clone(j.blocks[n/blockSize:])
	blocks[0] = first
	return slices.Concat(blocks...)
}
