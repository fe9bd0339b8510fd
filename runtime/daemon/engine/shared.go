package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"leeward/runtime/daemon/engine/wal"
)

// Shared is a store that the engines of several processes have in common, as etcd is one. What is committed there is
// the truth: each engine keeps all of it in memory, and shows of it what it has heard.
type Shared interface {
	// Load returns what is stored.
	Load(ctx context.Context) (wal.State, error)
	// Propose makes writes happen as one, or none of them, and returns the version of the last. The error is Conflict,
	// with a version by which the other change was made, Deposed, TooLarge, or Unreachable: then it is not known.
	Propose(ctx context.Context, p *Proposal) (version int64, err error)
	// Follow delivers all that is committed after a version, each once and in the order of versions, what happened at
	// once together, until the context is done or hear fails.
	Follow(ctx context.Context, after int64, hear func([]News) error) error
	// Latest returns a version that nothing which was committed before the call is beyond.
	Latest(ctx context.Context) (version int64, err error)
	Close() error
}

// Proposal is what a writer wants to happen as one in a shared store, or not at all.
type Proposal struct {
	// ID is by chance, so that an engine knows its own when it hears of it.
	ID uint64
	// Term is that of the leader whose decision it is; it fails once there is another. Zero: that of no leader.
	Term int64
	// Leads begins a term, which its version names.
	Leads  bool
	Writes []ProposedWrite
	// by is the feed whose reader made it; nil: another.
	by *Feed
}

// ProposedWrite is one change.
type ProposedWrite struct {
	Key string
	// Expected is the version that the object has; 0 if there must be none.
	Expected int64
	// Expires is when the object goes by itself, in nanoseconds since 1970; 0 is never.
	Expires int64
	// Object is JSON; nil deletes.
	Object []byte
}

// News is one change in a shared store, and the proposal that it was a part of.
type News struct {
	wal.Record
	Proposal uint64
}

// SharedBatch is how many objects one commit to a shared store may change. Source: etcd's --max-txn-ops is 128, some of
// which go to what guards them.
const SharedBatch = 100

// expiresEvery is how often it is looked whether something has to go by itself.
const expiresEvery = time.Second

// share fills the tables with what a shared store holds, and follows it from there.
func (e *Engine) share(s Shared) error {
	ctx, stop := context.WithCancel(context.Background())
	state, err := s.Load(ctx)
	if err == nil {
		err = e.recoverShared(&state)
	}
	if err != nil {
		stop()
		return errors.Join(err, s.Close())
	}
	e.shared = &follower{
		Shared: s, ctx: ctx, stop: stop, stuck: make(chan struct{}), own: map[uint64]*proposed{}, moved: make(chan struct{}),
	}
	e.shared.working.Go(func() { e.follow(state.Version) })
	e.shared.working.Go(e.expireShared)
	return nil
}

// propose makes writes happen in the shared store, and returns when they are visible here.
func (e *Engine) propose(p *Proposal, writes []Write) (int64, error) {
	f, now := e.shared, e.clock.Now()
	switch err := e.Health(); {
	case err != nil:
		return 0, err
	case f.ctx.Err() != nil:
		return 0, ErrClosed
	case len(writes) > SharedBatch:
		return 0, &TooLarge{Cause: fmt.Errorf("%d writes at once, and %d may be", len(writes), SharedBatch)}
	}
	own := f.add(p, writes, now)
	version, err := f.Propose(f.ctx, p)
	if err != nil && f.withdraw(p.ID) { // or it was heard of, whatever became of the answer
		return 0, f.after(e, version, err)
	}
	select {
	case <-own.shown:
	case <-f.stuck:
		return 0, e.ended()
	}
	if e.committed != nil {
		e.committed(len(writes), e.clock.Now().Sub(now))
	}
	return own.version, nil
}

// after returns why a proposal failed, once this engine has heard of what it met: who reads again then sees that.
func (f *follower) after(e *Engine, version int64, err error) error {
	if conflict := new(Conflict); errors.As(err, &conflict) {
		return cmp.Or(e.Reach(f.ctx, version), err)
	}
	return err
}

// ended is why nothing more is heard of the shared store.
func (e *Engine) ended() error {
	if err := e.Health(); err != nil {
		return err
	}
	return ErrClosed
}

// Lead is Commit of what says who leads a shared store, and begins a term: no decision of another one is taken any more.
func (e *Engine) Lead(writes ...Write) (term int64, err error) {
	return e.submit(&Proposal{Leads: true}, writes)
}

// Batch is how many writes one commit may have.
func (e *Engine) Batch() int {
	if e.shared == nil {
		return math.MaxInt
	}
	return SharedBatch
}

// Fresh returns when what was committed before the call, by whichever process, is visible here.
func (e *Engine) Fresh(ctx context.Context) error {
	if e.shared == nil {
		return nil
	}
	version, err := e.shared.Latest(ctx)
	if err != nil {
		return err
	}
	return e.Reach(ctx, version)
}

// Reach returns when a version is visible here that another process has, or the context is done. It does not wait
// where there is no other writer.
func (e *Engine) Reach(ctx context.Context, version int64) error {
	if e.shared == nil {
		return nil
	}
	for {
		moved := e.shared.moves()
		if e.Version() >= version {
			return nil
		}
		select {
		case <-moved:
		case <-e.shared.stuck:
			return e.ended()
		case <-ctx.Done():
			return &Ahead{Version: version, Current: e.Version()}
		}
	}
}

// Lost is closed once the shared store cannot be followed any more, as Health says then: only a new engine can. It is nil,
// and so never closed, where the store is not shared.
func (e *Engine) Lost() <-chan struct{} {
	if e.shared == nil {
		return nil
	}
	return e.shared.stuck
}

// expireShared deletes what is due, until the engine is closed. Every process does: who comes first, wins.
func (e *Engine) expireShared() {
	ticker := e.clock.Ticker(expiresEvery)
	defer ticker.Stop()
	for {
		select {
		case <-e.shared.ctx.Done():
			return
		case <-ticker.C:
			for due := e.due(SharedBatch); len(due) > 0; due = e.due(SharedBatch) {
				if _, err := e.CommitVersion(due...); err != nil && !errors.As(err, new(*Conflict)) {
					break
				}
			}
		}
	}
}

// leave ends what follows the shared store.
func (e *Engine) leave() error {
	e.shared.stop()
	e.shared.working.Wait()
	e.end()
	close(e.gone)
	return e.shared.Close()
}
