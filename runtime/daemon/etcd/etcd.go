// Package etcd keeps the objects of several daemons in etcd.
//
// Each object is a key under PREFIX/objects, named as in the engine. A commit is one transaction, which holds where each
// object still has the revision that its writer has seen. So writers need not know of each other, and what belongs
// together happens together. A decision names the term of its leader besides, and holds while PREFIX/leader, which is
// written when one begins, is of that term: a leader that was deposed without noticing can decide nothing.
//
// PREFIX/head is written by every transaction: its revision is the one that a reader must have heard of to have seen all.
//
// The objects of a transaction share a revision, and clients that go on watching from an object must miss none of the
// others. A version is therefore a revision and the place in its transaction.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/fleet/config"
)

// Config says where etcd is.
type Config struct {
	// Servers are the addresses of its members: "https://10.0.0.1:2379".
	Servers []string
	// Prefix begins every key, without a slash at its end: "/leeward". Fleets with different ones share an etcd.
	Prefix string
	// CAFile is the authority that signs the members' certificates, CertFile and KeyFile are those of this client.
	// All are optional.
	CAFile, CertFile, KeyFile string
	Clock                     clock.Clock
}

// Source of these: kube-apiserver.
const (
	dialTimeout      = 20 * time.Second
	keepAliveEvery   = 30 * time.Second
	keepAliveTimeout = 10 * time.Second
)

// reconnects says how often a connection that was lost is tried again: soon, for nothing is decided without.
var reconnects = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 2 * time.Second,
}

// answersWithin is how long etcd may take for a request. It is shorter than a leader may take to renew its lease.
const answersWithin = 5 * time.Second

// Store is what one fleet has in etcd.
type Store struct {
	client *clientv3.Client
	clock  clock.Clock
	prefix string
}

var _ engine.Shared = (*Store)(nil)

// Open returns the store, whether or not etcd can be reached now.
func Open(c Config) (*Store, error) {
	secured, err := c.tls()
	if err != nil {
		return nil, &config.Invalid{Problem: fmt.Errorf("read the certificates for etcd: %w", err)}
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: c.Servers, TLS: secured, DialTimeout: dialTimeout,
		DialKeepAliveTime: keepAliveEvery, DialKeepAliveTimeout: keepAliveTimeout, Logger: zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(reconnects)},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd at %s: %w", strings.Join(c.Servers, ", "), err)
	}
	return &Store{client: client, clock: c.Clock, prefix: c.Prefix}, nil
}

// tls is nil where no address is https.
func (c *Config) tls() (*tls.Config, error) {
	if !slices.ContainsFunc(c.Servers, func(s string) bool { return strings.HasPrefix(s, "https://") }) {
		return nil, nil
	}
	info := transport.TLSInfo{CertFile: c.CertFile, KeyFile: c.KeyFile, TrustedCAFile: c.CAFile}
	return info.ClientConfig()
}

// Close ends the connection.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("leave etcd: %w", err)
	}
	return nil
}

func (s *Store) objects() string { return s.prefix + "/objects" }
func (s *Store) leader() string  { return s.prefix + "/leader" }
func (s *Store) head() string    { return s.prefix + "/head" }

// Latest returns the version of the last transaction.
func (s *Store) Latest(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	answer, err := s.client.Get(ctx, s.head(), clientv3.WithKeysOnly())
	if err != nil {
		return 0, &engine.Unreachable{Cause: err}
	}
	if len(answer.Kvs) == 0 {
		return 0, nil
	}
	return versionOf(answer.Kvs[0].ModRevision, 0), nil
}

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
