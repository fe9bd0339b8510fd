package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// pageSize is how many objects are asked for in one page.
const pageSize = 2000

// loadsWithin is how long etcd may take for a page.
const loadsWithin = 30 * time.Second

// againAfter is how long it is waited until a watch that has ended is begun again.
const againAfter = time.Second

// Load reads all objects, as of one revision. Those that are still being filled in are none.
func (s *Store) Load(ctx context.Context) (wal.State, error) {
	if err := s.whole(ctx); err != nil {
		return wal.State{}, err
	}
	var state wal.State
	var revision int64 // of the first page, and so of all
	from, end := s.objects()+"/", clientv3.GetPrefixRangeEnd(s.objects()+"/")
	for more := true; more; {
		page, err := s.page(ctx, from, end, revision)
		if err != nil {
			return wal.State{}, err
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		for _, kv := range page.Kvs {
			r, err := s.read(kv)
			if err != nil {
				return wal.State{}, err
			}
			state.Records = append(state.Records, r)
			from = string(kv.Key) + "\x00"
		}
		more = page.More
	}
	state.Version = versionOf(revision, places-1)
	return state, nil
}

func (s *Store) page(ctx context.Context, from, end string, revision int64) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, loadsWithin)
	defer cancel()
	page, err := s.client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageSize), clientv3.WithRev(revision))
	if err != nil {
		return nil, fmt.Errorf("list %s of etcd at %s: %w", s.objects(), strings.Join(s.client.Endpoints(), ", "), err)
	}
	return page, nil
}

// Follow watches the objects. A watch that etcd ends is begun again where it ended; only what is compacted is lost.
func (s *Store) Follow(ctx context.Context, after int64, hear func([]engine.News) error) error {
	f := following{Store: s, revision: revisionOf(after), hear: hear}
	for ctx.Err() == nil {
		err := f.watch(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-s.clock.After(againAfter):
		}
	}
	return ctx.Err()
}

// following is how far a follower has heard.
type following struct {
	*Store
	revision int64
	place    int // of the last change in the revision
	hear     func([]engine.News) error
}

// watch delivers what happens until etcd ends the watch. The error says why there is no going on.
func (f *following) watch(ctx context.Context) error {
	ctx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx)) // a member on its own knows nothing of the others
	defer cancel()
	for answer := range f.client.Watch(ctx, f.prefix+"/", clientv3.WithPrefix(), clientv3.WithRev(f.revision+1)) {
		if err := answer.Err(); errors.Is(err, rpctypes.ErrCompacted) {
			return fmt.Errorf("what happened after revision %d is not known to etcd any more: %w", f.revision, err)
		} else if err != nil {
			return nil
		}
		if err := f.tell(answer.Events); err != nil {
			return err
		}
	}
	return nil
}

// tell delivers the changes of objects. The head, which a transaction writes last, names the proposal that they were.
func (f *following) tell(events []*clientv3.Event) error {
	var news []engine.News
	begins := 0 // the transaction
	for _, e := range events {
		if e.Kv.ModRevision != f.revision {
			f.revision, f.place, begins = e.Kv.ModRevision, -1, len(news)
		}
		switch key := string(e.Kv.Key); {
		case key == f.head():
			proposal, _ := strconv.ParseUint(string(e.Kv.Value), 16, 64) // one that cannot be read names no proposal
			for i := range news[begins:] {
				news[begins+i].Proposal = proposal
			}
		case strings.HasPrefix(key, f.objects()+"/"):
			n, err := f.next(e)
			if err != nil {
				return err
			}
			news = append(news, n)
		}
	}
	if len(news) == 0 {
		return nil
	}
	return f.hear(news)
}

// next reads one change. A deletion has the place that follows that of the change before it.
func (f *following) next(e *clientv3.Event) (n engine.News, err error) {
	if e.Type == mvccpb.Event_DELETE {
		f.place++
		n.Key, n.Version = string(e.Kv.Key[len(f.objects()):]), versionOf(f.revision, f.place)
		return n, nil
	}
	n.Record, err = f.read(e.Kv)
	f.place = int(n.Version % places)
	return n, err
}

// KeepCompacted has etcd forget, at every interval, what was current at the one before, until the context is done. Every
// daemon may; so does a kube-apiserver on the same etcd.
func (s *Store) KeepCompacted(ctx context.Context, interval time.Duration) error {
	ticker := s.clock.Ticker(interval)
	defer ticker.Stop()
	for before := int64(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			before = s.compact(ctx, before)
		}
	}
}

// compact forgets what was before a revision, and returns the current one. What fails is done the next time.
func (s *Store) compact(ctx context.Context, before int64) int64 {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	if before > 0 {
		_, _ = s.client.Compact(ctx, before) // another daemon may have been faster
	}
	now, err := s.client.Get(ctx, s.head(), clientv3.WithKeysOnly())
	if err != nil {
		return before
	}
	return now.Header.Revision
}
