// Package journal keeps what happened, in order, and tells it: as a timeline with its reasons, as JSON
// for machines, and as one log line per fact.
//
// A fact is told from its own fields alone, so a reader of a transcript reads what the machines
// recorded and nothing that was guessed later.
package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

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

// AppendJSON appends an entry as one JSON object: "at" in seconds from start, "kind", "actor", then
// the fact's own fields in their order. The same entry always gives the same bytes.
func AppendJSON(dst []byte, start time.Time, e *Entry) ([]byte, error) {
	fields, err := encode(e.Fact)
	if err != nil {
		return dst, fmt.Errorf("encode %s of %s: %w", e.Fact.Kind(), actor(e), err)
	}
	name, err := encode(actor(e))
	if err != nil {
		return dst, fmt.Errorf("encode the name of %s: %w", actor(e), err)
	}
	dst = append(dst, `{"at":`...)
	dst = strconv.AppendFloat(dst, e.At.Sub(start).Seconds(), 'f', -1, 64)
	dst = append(dst, `,"kind":`...)
	dst = strconv.AppendQuote(dst, e.Fact.Kind())
	dst = append(append(dst, `,"actor":`...), name...)
	if len(fields) == len("{}") {
		return append(dst, '}'), nil
	}
	return append(append(dst, ','), fields[1:]...), nil
}

// encode writes a value as JSON that is safe to print: no control character remains, not
// even those that JSON allows.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escaped(bytes.TrimSpace(text.Bytes())), nil
}

func escaped(text []byte) []byte {
	if !bytes.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	var safe []byte
	for _, r := range string(text) {
		if unicode.IsControl(r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
			continue
		}
		safe = utf8.AppendRune(safe, r)
	}
	return safe
}

// actor names who recorded an entry.
func actor(e *Entry) string {
	if e.Actor == (messages.Address{}) {
		return "user"
	}
	return e.Actor.String()
}
