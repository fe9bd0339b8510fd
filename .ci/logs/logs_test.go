// Package logs measures the daemon's log against two that others keep: etcd's, and that of pebble, a store of keys
// (docs/store.md has the figures, and says why ours is kept). It is a module of its own, so that Leeward needs neither.
//
//	go test -bench . -benchtime 2s
package logs

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	etcdwal "go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"go.uber.org/zap"

	"leeward/runtime/daemon/engine/wal"
)

// log keeps records: append returns when they are durable.
type log interface {
	append(records []wal.Record) error
	close() error
}

// store is one way to keep records in a folder. open returns how many objects it read, each with its key, version and text.
type store struct {
	name string
	open func(t testing.TB, dir string) (log, int)
}

var stores = []store{{"leeward", openOurs}, {"etcd", openEtcd}, {"pebble", openPebble}}

// ours is the log of Leeward's daemon.
type ours struct{ *wal.Log }

func openOurs(t testing.TB, dir string) (log, int) {
	t.Helper()
	var read [8]int
	l, _, err := wal.Restore(dir, wal.Options{Log: zerolog.Nop()}, len(read), func() func(int, *wal.Record) error {
		read = [8]int{}
		return func(part int, _ *wal.Record) error { read[part]++; return nil }
	})
	require.NoError(t, err)
	sum := 0
	for _, n := range read {
		sum += n
	}
	return ours{l}, sum
}

func (o ours) append(records []wal.Record) error { return o.Append(records) }
func (o ours) close() error                      { return o.Close() }

// etcds is etcd's log, a batch an entry. Its snapshots are its user's: it reads back all that was ever appended.
type etcds struct {
	*etcdwal.WAL
	index uint64
	data  []byte
}

func openEtcd(t testing.TB, dir string) (log, int) {
	t.Helper()
	if !etcdwal.Exist(dir) {
		w, err := etcdwal.Create(zap.NewNop(), dir, nil)
		require.NoError(t, err)
		return &etcds{WAL: w}, 0
	}
	w, err := etcdwal.Open(zap.NewNop(), dir, &walpb.Snapshot{})
	require.NoError(t, err)
	_, _, entries, err := w.ReadAll()
	require.NoError(t, err)
	latest := map[string]wal.Record{}
	for i := range entries {
		for rest := entries[i].Data; len(rest) > 0; {
			var r wal.Record
			r, rest = decode(rest)
			if r.Object == nil {
				delete(latest, r.Key)
				continue
			}
			latest[r.Key] = r
		}
	}
	return &etcds{WAL: w, index: uint64(len(entries))}, len(latest)
}

func (e *etcds) append(records []wal.Record) error {
	e.data = e.data[:0]
	for i := range records {
		e.data = encode(e.data, &records[i])
	}
	e.index++
	return e.Save(&raftpb.HardState{Term: new(uint64(1)), Commit: new(e.index)}, []*raftpb.Entry{{Term: new(uint64(1)), Index: new(e.index), Data: e.data}})
}

func (e *etcds) close() error { return e.Close() }

// encode appends a record to bytes as decode reads it.
func encode(b []byte, r *wal.Record) []byte {
	b = binary.AppendUvarint(b, uint64(r.Version))
	b = binary.AppendUvarint(b, uint64(len(r.Key)))
	b = append(b, r.Key...)
	b = binary.AppendUvarint(b, uint64(len(r.Object)))
	return append(b, r.Object...)
}

func decode(b []byte) (wal.Record, []byte) {
	number := func() int {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return int(n)
	}
	take := func() []byte {
		n := number()
		taken := b[:n]
		b = b[n:]
		return taken
	}
	r := wal.Record{Version: int64(number()), Key: string(take())}
	if object := take(); len(object) > 0 {
		r.Object = object
	}
	return r, b
}

// pebbles is a store of keys with a log, memory tables and sorted files.
type pebbles struct {
	*pebble.DB
	value []byte
}

func openPebble(t testing.TB, dir string) (log, int) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{MemTableSize: 64 << 20, Logger: quiet{}})
	require.NoError(t, err)
	all, err := db.NewIter(nil)
	require.NoError(t, err)
	n := 0
	for all.First(); all.Valid(); all.Next() {
		value, err := all.ValueAndErr()
		require.NoError(t, err)
		require.Greater(t, len(string(all.Key()))+len(append([]byte(nil), value...)), 8)
		n++
	}
	require.NoError(t, all.Close())
	return &pebbles{DB: db}, n
}

func (p *pebbles) append(records []wal.Record) error {
	b := p.NewBatch()
	defer func() { _ = b.Close() }()
	for i := range records {
		r := &records[i]
		if r.Object == nil {
			if err := b.Delete([]byte(r.Key), nil); err != nil {
				return err
			}
			continue
		}
		p.value = append(binary.BigEndian.AppendUint64(p.value[:0], uint64(r.Version)), r.Object...)
		if err := b.Set([]byte(r.Key), p.value, nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

func (p *pebbles) close() error { return p.Close() }

type quiet struct{}

func (quiet) Infof(string, ...any)      {}
func (quiet) Errorf(string, ...any)     {}
func (quiet) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// text is an object as large as most of a storm's: a binding with its decision.
var text = func() []byte {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, 700)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz0123456789{}:\","[r.IntN(41)]
	}
	return b
}()

// write appends a number of records in batches, to some keys again and again.
func write(t testing.TB, l log, from int64, records, keys, batched int) {
	t.Helper()
	batch := make([]wal.Record, 0, batched)
	for i := range records {
		batch = append(batch, wal.Record{Version: from + int64(i), Key: fmt.Sprintf("/work.karmada.io/resourcebindings/team-%02d/app-%06d", i%keys%50, i%keys), Object: text})
		if len(batch) == batched || i == records-1 {
			require.NoError(t, l.append(batch))
			batch = batch[:0]
		}
	}
}

func size(t testing.TB, dir string) (bytes int64) {
	t.Helper()
	require.NoError(t, filepath.Walk(dir, func(_ string, f os.FileInfo, err error) error {
		if err == nil && !f.IsDir() {
			bytes += f.Size()
		}
		return err
	}))
	return bytes
}

// TestEachReadsBackWhatItKept has all three keep the same objects.
func TestEachReadsBackWhatItKept(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			l, n := s.open(t, dir)
			require.Zero(t, n)
			write(t, l, 1, 1000, 300, 7)
			require.NoError(t, l.append([]wal.Record{{Version: 1001, Key: "/work.karmada.io/resourcebindings/team-00/app-000000"}}))
			require.NoError(t, l.close())
			l, n = s.open(t, dir)
			require.Equal(t, 299, n)
			require.NoError(t, l.close())
		})
	}
}

// BenchmarkAppend makes batches of records durable.
func BenchmarkAppend(b *testing.B) {
	for _, batched := range []int{1, 100, 2000} {
		for _, s := range stores {
			b.Run(fmt.Sprintf("%d/%s", batched, s.name), func(b *testing.B) {
				dir := filepath.Join(b.TempDir(), "log")
				l, _ := s.open(b, dir)
				b.ResetTimer()
				write(b, l, 1, b.N*batched, 100_000, batched)
				b.StopTimer()
				b.ReportMetric(float64(b.N*batched)/b.Elapsed().Seconds(), "records/s")
				require.NoError(b, l.close())
			})
		}
	}
}

// BenchmarkStart reads 400,000 objects back, each of which was written twice.
func BenchmarkStart(b *testing.B) {
	const objects = 400_000
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "log")
			l, _ := s.open(b, dir)
			write(b, l, 1, 2*objects, objects, 2000)
			require.NoError(b, l.close())
			held := size(b, dir)
			for b.Loop() {
				l, n := s.open(b, dir)
				require.Equal(b, objects, n)
				b.StopTimer()
				require.NoError(b, l.close())
				b.StartTimer()
			}
			b.ReportMetric(float64(held)/(1<<20), "MiB")
		})
	}
}
