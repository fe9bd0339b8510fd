package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"
)

// follower keeps an engine the same as a shared store.
type follower struct {
	Shared
	ctx     context.Context // until the engine is closed
	stop    context.CancelFunc
	working sync.WaitGroup
	stuck   chan struct{} // closed when nothing more will be heard

	mu  sync.Mutex
	own map[uint64]*proposed
	// moved is closed when the engine has heard of something.
	moved chan struct{}
}

// proposed is a commit of this engine until it is shown.
type proposed struct {
	writes []Write
	by     *Feed
	// version is that of the last of them, once they are shown.
	version int64
	heard   bool
	shown   chan struct{}
}

// follow shows what is committed until the engine is closed. Where it cannot go on, the engine takes no more writes.
func (e *Engine) follow(after int64) {
	b := batch{version: after}
	err := e.shared.Follow(e.shared.ctx, after, func(news []News) error { return e.hear(&b, news) })
	if e.shared.ctx.Err() == nil {
		e.fail(fmt.Errorf("follow the shared store: %w", err))
	}
	close(e.shared.stuck)
}

// hear shows what was committed, all of it in one step.
func (e *Engine) hear(b *batch, news []News) error {
	defer b.empty()
	items, by := make([]item, len(news)), make([]*Feed, len(news))
	err := inParts(len(news), func(from, to int) (err error) {
		r := newReader()
		for i := from; i < to && err == nil; i++ {
			own := e.shared.proposal(news[i].Proposal)
			if items[i], err = e.heard(r, &news[i], own); own != nil {
				by[i] = own.by
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	b.changes, b.by, b.version = append(b.changes, items...), append(b.by, by...), items[len(items)-1].version
	e.apply(b)
	e.shared.shown(news)
	return nil
}

// heard is what a piece of news makes of an object. One that this engine proposed is the one that it was given: it need
// not be read.
func (e *Engine) heard(r *reader, n *News, own *proposed) (item, error) {
	t := e.tables[PrefixOf(n.Key)]
	switch {
	case t == nil:
		return item{}, unknown(n.Key)
	case n.Object == nil:
		return item{n.Key, &Row{table: t, version: n.Version}}, nil
	case own == nil:
		i, err := t.decode(r, &n.Record)
		if err == nil {
			i.packed = t.packed(n.Object)
		}
		return i, err
	}
	w := own.of(n.Key)
	w.object.SetResourceVersion(strconv.FormatInt(n.Version, 10))
	return item{n.Key, &Row{table: t, object: w.object, packed: w.packed, version: n.Version, expires: n.Expires}}, nil
}

// add makes writes a proposal, and notes it.
func (f *follower) add(p *Proposal, writes []Write, now time.Time) *proposed {
	p.ID = rand.Uint64()
	for i := range writes {
		w := &writes[i]
		next := ProposedWrite{Key: w.key, Expected: w.expected, Object: w.json}
		if w.ttl > 0 {
			next.Expires = now.Add(w.ttl).UnixNano()
		}
		p.Writes = append(p.Writes, next)
	}
	own := &proposed{writes: writes, by: p.by, shown: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own[p.ID] = own
	return own
}

// proposal returns a proposal of this engine that is heard of; nil where it is another's.
func (f *follower) proposal(id uint64) *proposed {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.own[id]
	if own != nil {
		own.heard = true
	}
	return own
}

func (p *proposed) of(key string) *Write {
	for i := range p.writes {
		if p.writes[i].key == key {
			return &p.writes[i]
		}
	}
	panic(fmt.Sprintf("engine: %s was not proposed", key)) // cannot be: its number is its own
}

// withdraw forgets a proposal. It reports false where that has been heard of.
func (f *follower) withdraw(id uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	own := f.own[id]
	if own == nil || own.heard {
		return false
	}
	delete(f.own, id)
	return true
}

// shown tells those who wait for news that it can be seen.
func (f *follower) shown(news []News) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range news {
		if own := f.own[news[i].Proposal]; own != nil {
			own.version = news[i].Version
			if last := i+1 == len(news) || news[i+1].Proposal != news[i].Proposal; last {
				delete(f.own, news[i].Proposal)
				close(own.shown)
			}
		}
	}
	close(f.moved)
	f.moved = make(chan struct{})
}

// moves is closed at the next news.
func (f *follower) moves() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moved
}
