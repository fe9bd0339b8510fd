package etcd

import (
	"fmt"
	"strconv"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
)

// places is how many objects of one revision have a version of their own: those of a transaction, and more. What
// another program deletes beyond that, by etcdctl, has the last one.
const places = 128

// versionOf makes a version of a revision and a place in it, from 0.
func versionOf(revision int64, place int) int64 { return revision*places + int64(min(place, places-1)) }

// revisionOf returns the revision that an object has; 0 for none.
func revisionOf(version int64) int64 { return version / places }

// valueOf is what etcd keeps of a write: a line of its place and when it expires, and then the object, in JSON.
func valueOf(w *engine.ProposedWrite, place int) string {
	return fmt.Sprintf("%d %d\n%s", place, w.Expires, w.Object)
}

// read makes a record of what etcd keeps under a key.
func (s *Store) read(kv *mvccpb.KeyValue) (wal.Record, error) {
	r := wal.Record{Key: string(kv.Key[len(s.objects()):])}
	line, object, _ := strings.Cut(string(kv.Value), "\n")
	first, second, _ := strings.Cut(line, " ")
	place, err := strconv.Atoi(first)
	if err == nil {
		r.Expires, err = strconv.ParseInt(second, 10, 64)
	}
	if err != nil || place < 0 || place >= places {
		return r, fmt.Errorf("read %s of etcd: %.40q is not a place and an expiry: %w", kv.Key, line, err)
	}
	r.Version, r.Object = versionOf(kv.ModRevision, place), []byte(object)
	return r, nil
}
