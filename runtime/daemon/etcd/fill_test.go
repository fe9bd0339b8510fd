package etcd

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/daemon/etcd/etcdtest"
)

// records are so many ConfigMaps, by name.
func records(n int) []wal.Record {
	all := make([]wal.Record, n)
	for i := range all {
		name := fmt.Sprintf("m%04d", i)
		all[i] = wal.Record{Version: int64(i + 1), Key: key(name), Object: fmt.Appendf(nil, `{"metadata":{"namespace":"default","name":%q,"uid":"u%d"}}`, name, i)}
	}
	return all
}

// holds is what etcd holds, but for its versions.
func (s *Store) holds(t *testing.T) []wal.Record {
	t.Helper()
	state, err := s.Load(t.Context())
	require.NoError(t, err)
	for i := range state.Records {
		state.Records[i].Version = int64(i + 1)
	}
	return state.Records
}

func opened(t *testing.T, server string) *Store {
	t.Helper()
	s, err := Open(Config{Servers: []string{server}, Prefix: "/fleet"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestAFleetIsFilledInAsItIs(t *testing.T) {
	server := etcdtest.Start(t)
	s, all := opened(t, server), records(250)
	all[3].Expires = 4e18
	all[4].Object = append(all[4].Object, bytes.Repeat([]byte(" "), batchBytes)...)
	all[5].Object = append(all[5].Object, bytes.Repeat([]byte(" "), batchBytes)...)
	require.NoError(t, s.Fill(t.Context(), false, all))
	require.Equal(t, all, s.holds(t))

	r := join(t, server)
	o, version := r.Table(maps).Get(key("m0007"))
	require.EqualValues(t, "u7", o.GetUID())
	require.NoError(t, r.Commit(engine.Delete(key("m0007"), version)), "versions are those of etcd")
}

func TestAFleetIsReplacedOnlyWhereItMayBe(t *testing.T) {
	s := opened(t, etcdtest.Start(t))
	require.NoError(t, s.Fill(t.Context(), false, records(3)))
	require.EqualError(t, s.Fill(t.Context(), false, records(2)), "etcd has objects under /fleet/objects already")
	require.Len(t, s.holds(t), 3)
	require.NoError(t, s.Fill(t.Context(), true, records(2)))
	require.Len(t, s.holds(t), 2)
}

func TestALeaderOfWhatIsReplacedDecidesNothing(t *testing.T) {
	server := etcdtest.Start(t)
	r, s := join(t, server), opened(t, server)
	term, err := r.Lead(engine.Create(key("lease"), configMap("lease", "a")))
	require.NoError(t, err)
	require.NoError(t, s.Fill(t.Context(), true, records(2)))
	require.ErrorAs(t, r.Follow().Begin(term, engine.Create(key("one"), configMap("one", "1")))(), new(*engine.Deposed))
}

// TestAProcessThatIsKilledWhileFillingCanTryAgain shows what each step leaves: nothing that a daemon would take for a fleet.
func TestAProcessThatIsKilledWhileFillingCanTryAgain(t *testing.T) {
	s, all := opened(t, etcdtest.Start(t)), records(250)
	begun, err := s.beginToFill(t.Context(), false)
	require.NoError(t, err)
	for _, done := range []int{0, 100, 200} {
		_, err := s.Load(t.Context())
		require.EqualError(t, err, "/fleet/filling is there: a fleet is being moved to etcd, or was not moved as a whole and has to be again")
		ours := clientv3.Compare(clientv3.ModRevision(s.filling()), "=", begun)
		require.NoError(t, s.fill(t.Context(), ours, s.puts(all[done:min(done+100, len(all))])))
	}
	require.NoError(t, s.Fill(t.Context(), false, all[:120]), "what was left is no fleet")
	require.Equal(t, all[:120], s.holds(t))
	stale := clientv3.Compare(clientv3.ModRevision(s.filling()), "=", begun)
	require.EqualError(t, s.fill(t.Context(), stale, s.puts(all[:1])), "somebody else is writing a fleet there")
}

func TestAnObjectThatEtcdDoesNotTakeIsNamed(t *testing.T) {
	s, all := opened(t, etcdtest.Start(t)), records(3)
	all[1].Object = append(all[1].Object, bytes.Repeat([]byte(" "), 2<<20)...)
	err := s.Fill(t.Context(), false, all)
	require.ErrorAs(t, err, new(*engine.TooLarge))
	require.ErrorContains(t, err, "write "+key("m0001")+" and what follows: ")
}

func TestAnEtcdThatIsNotThereIsNamed(t *testing.T) {
	s := opened(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Load(ctx)
	require.ErrorContains(t, err, "reach etcd at http://127.0.0.1:1: ")
	require.ErrorAs(t, err, new(*engine.Unreachable))
}
