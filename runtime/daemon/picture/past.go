package picture

import (
	"encoding/json"
	"maps"
	"sync"
	"time"
)

const (
	// remembers is how long ago the picture is remembered, looksEvery in how large steps, and mostPast how many bytes of JSON that may
	// take: where it would take more, the older half is told in steps of twice the size.
	remembers  = time.Hour
	looksEvery = 10 * time.Second
	mostPast   = 1 << 20
	// settles is how long a hub without viewers leaves the store alone at first: a daemon that starts has more urgent things to read.
	settles = 30 * time.Second
)

// past is how the fleet was: a whole picture, and what changed since, without single evictions, which tell themselves when they began.
type past struct {
	mu    sync.Mutex
	steps []step
	bytes int
	// last is the picture as of the last step, next when the next step is due.
	last *frame
	next time.Time
}

// step is a message of the past, which is not changed any more, and about how many bytes it has.
type step struct {
	message *Message
	bytes   int
}

// note remembers how the fleet is now.
func (p *past) note(drawn *frame, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = now.Add(looksEvery)
	without := &frame{totals: drawn.totals, governor: drawn.governor, clusters: drawn.clusters}
	m := without.whole(now)
	if p.last != nil {
		m = without.changedSince(p.last, now)
	}
	if m != nil {
		p.last = without
		p.add(step{m, m.size()})
	}
	for len(p.steps) > 1 && !p.steps[1].message.At.After(now.Add(-remembers)) {
		p.merge(0)
	}
	for p.bytes > mostPast && len(p.steps) > 1 {
		for i := range max(1, len(p.steps)/4) {
			p.merge(i)
		}
	}
}

func (p *past) add(s step) {
	p.steps = append(p.steps, s)
	p.bytes += s.bytes
}

// merge makes one step of one and of that which follows it.
func (p *past) merge(i int) {
	first, second := p.steps[i], p.steps[i+1]
	m := *second.message
	m.Format, m.Version = first.message.Format, first.message.Version
	if m.Totals == nil {
		m.Totals = first.message.Totals
	}
	if m.Governor == nil {
		m.Governor = first.message.Governor
	}
	m.Clusters = maps.Clone(first.message.Clusters)
	if m.Clusters == nil {
		m.Clusters = map[string]json.RawMessage{}
	}
	maps.Copy(m.Clusters, second.message.Clusters)
	if m.Format != "" {
		maps.DeleteFunc(m.Clusters, func(_ string, row json.RawMessage) bool { return string(row) == string(gone) })
	}
	merged := step{&m, m.size()}
	p.bytes += merged.bytes - first.bytes - second.bytes
	p.steps[i] = merged
	p.steps = append(p.steps[:i+1], p.steps[i+2:]...)
}

// size is about how many bytes a message has.
func (m *Message) size() int {
	bytes := 100 + len(m.Totals) + len(m.Governor)
	for name, row := range m.Clusters { // order-free: a sum
		bytes += len(name) + len(row) + 4
	}
	return bytes
}

// Past is how the fleet was within the last hour, the oldest first: a whole picture, and what changed since, both without single
// evictions. Steps are of ten seconds, older ones larger where the fleet is.
func (h *Hub) Past() []Message {
	h.past.mu.Lock()
	defer h.past.mu.Unlock()
	all := make([]Message, len(h.past.steps))
	for i, s := range h.past.steps {
		all[i] = *s.message
		if earliest := h.clock.Now().UTC().Add(-remembers); s.message.At.Before(earliest) {
			all[i].At = earliest // it was so then, too
		}
	}
	return all
}
