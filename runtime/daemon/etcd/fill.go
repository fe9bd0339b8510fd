package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// batchBytes is about how many bytes go in one transaction. Source: etcd's --max-request-bytes is 1.5 MiB.
const batchBytes = 1 << 20

// filling is a key that is there from the first to the last transaction of a Fill: what is in etcd meanwhile is not a
// fleet, and no daemon loads it.
func (s *Store) filling() string { return s.prefix + "/filling" }

// NotEmpty says that there is a fleet where another was to go.
type NotEmpty struct{ Prefix string }

func (e *NotEmpty) Error() string { return fmt.Sprintf("etcd has objects under %s already", e.Prefix) }

// ErrPartial says that what etcd has is not, or not yet, a fleet.
var ErrPartial = errors.New("a fleet is being moved to etcd, or was not moved as a whole and has to be again")

// Fill stores records, in place of any objects that may be replaced. Who is killed meanwhile leaves something
// that cannot be loaded, and that the next Fill replaces. No daemon may use the store: one that led can decide nothing
// any more.
func (s *Store) Fill(ctx context.Context, replace bool, records []wal.Record) error {
	begun, err := s.beginToFill(ctx, replace)
	if err != nil {
		return err
	}
	ours := clientv3.Compare(clientv3.ModRevision(s.filling()), "=", begun)
	for rest := records; len(rest) > 0; {
		n := batch(rest)
		if err := s.fill(ctx, ours, s.puts(rest[:n])); err != nil {
			return fmt.Errorf("write %s and what follows: %w", rest[0].Key, err)
		}
		rest = rest[n:]
	}
	return s.fill(ctx, ours, []clientv3.Op{clientv3.OpDelete(s.filling())})
}

// beginToFill empties the store, if it may, and returns the revision at which it did.
func (s *Store) beginToFill(ctx context.Context, replace bool) (int64, error) {
	var empty []clientv3.Cmp
	if !replace {
		all, end := s.objects()+"/", clientv3.GetPrefixRangeEnd(s.objects()+"/")
		empty = []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(all), "=", 0).WithRange(end)}
	}
	answer, err := s.transact(ctx, empty, s.emptying(), []clientv3.Op{clientv3.OpGet(s.filling())})
	switch {
	case err != nil:
		return 0, err
	case answer.Succeeded:
		return answer.Header.Revision, nil
	case len(answer.Responses[0].GetResponseRange().Kvs) == 0:
		return 0, &NotEmpty{Prefix: s.objects()}
	}
	return s.beginToFill(ctx, true) // it was begun, and not ended
}

// emptying deletes all objects, and writes down that what follows is not yet a fleet. The key of the leader is written, so
// that no decision of an earlier term is taken.
func (s *Store) emptying() []clientv3.Op {
	return []clientv3.Op{
		clientv3.OpPut(s.filling(), ""), clientv3.OpPut(s.leader(), ""), clientv3.OpPut(s.head(), ""),
		clientv3.OpDelete(s.objects()+"/", clientv3.WithPrefix()),
	}
}

// fill makes one change of a Fill, unless another has been begun since.
func (s *Store) fill(ctx context.Context, ours clientv3.Cmp, ops []clientv3.Op) error {
	answer, err := s.transact(ctx, []clientv3.Cmp{ours}, append(ops, clientv3.OpPut(s.head(), "")), nil)
	if err == nil && !answer.Succeeded {
		err = errors.New("somebody else is writing a fleet there")
	}
	return err
}

// batch is how many of the records go in one transaction.
func batch(records []wal.Record) int {
	size := 0
	for n := range min(len(records), engine.SharedBatch) {
		if size += len(records[n].Object); n > 0 && size > batchBytes {
			return n
		}
	}
	return min(len(records), engine.SharedBatch)
}

func (s *Store) puts(records []wal.Record) []clientv3.Op {
	ops := make([]clientv3.Op, 0, len(records)+1)
	for place := range records {
		r := &records[place]
		w := engine.ProposedWrite{Expires: r.Expires, Object: r.Object}
		ops = append(ops, clientv3.OpPut(s.objects()+r.Key, valueOf(&w, place)))
	}
	return ops
}

// whole says that the objects are a fleet, and not a part of one.
func (s *Store) whole(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	answer, err := s.client.Get(ctx, s.filling(), clientv3.WithKeysOnly())
	switch {
	case err != nil:
		return fmt.Errorf("reach etcd at %s: %w", strings.Join(s.client.Endpoints(), ", "), &engine.Unreachable{Cause: err})
	case len(answer.Kvs) > 0:
		return fmt.Errorf("%s is there: %w", s.filling(), ErrPartial)
	}
	return nil
}
