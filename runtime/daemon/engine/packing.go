package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/s2"
)

// packed is the text of an object, as what sets it apart from a sample of others.
type packed struct {
	sample *s2.Dict
	text   string // empty: there is none
}

// sampleBytes bounds a sample: it is searched from its beginning for every text.
const sampleBytes = 32 << 10

// packer makes the texts of a table small. Objects of one kind say most things alike, so that each is told by a tenth of
// its text where it refers to others for the rest. Anyone may use it at any time.
type packer struct {
	count  atomic.Int64
	sample atomic.Pointer[s2.Dict]

	mu    sync.Mutex
	texts []byte // of the sample
}

func (p *packer) pack(text []byte) packed {
	if n := p.count.Add(1); n&(n-1) == 0 {
		p.learn(text)
	}
	sample := p.sample.Load()
	if sample == nil {
		return packed{text: string(s2.Encode(nil, text))}
	}
	into := buffers.Get().(*[]byte)
	defer buffers.Put(into)
	if most := s2.MaxEncodedLen(len(text)); len(*into) < most {
		*into = make([]byte, most)
	}
	return packed{sample: sample, text: string(sample.Encode(*into, text))}
}

// learn adds a text to the sample. That is done each time that twice as many were packed: often while a table is new,
// and then seldom. What was packed keeps the sample that it was packed by.
func (p *packer) learn(text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts = append(p.texts, text...)
	p.texts = p.texts[max(0, len(p.texts)-sampleBytes):]
	p.sample.Store(s2.MakeDict(slices.Clone(p.texts), nil)) // nil for what is too short to be like anything
}

// buffers are what texts are packed and unpacked in.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// read returns the text, which is gone afterwards.
func (p packed) read(visit func(text []byte) error) error {
	into, from := buffers.Get().(*[]byte), buffers.Get().(*[]byte)
	defer buffers.Put(into)
	defer buffers.Put(from)
	*from = append((*from)[:0], p.text...)
	text, err := p.unpack((*into)[:cap(*into)], *from)
	if err != nil {
		return fmt.Errorf("unpack %d bytes: %w", len(p.text), err)
	}
	if cap(text) > cap(*into) {
		*into = text
	}
	return visit(text)
}

func (p packed) unpack(into, from []byte) ([]byte, error) {
	if p.sample == nil {
		return s2.Decode(into, from)
	}
	return p.sample.Decode(into, from)
}
