package live

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
)

// replicas are two engines on one etcd, and a fixture on the one that leads.
type replicas struct {
	*fixture
	standby *engine.Engine
	// deposed counts fleets that would have decided something after their term.
	deposed int
	// follows is what follows the leader, or nil; used counts those that led, behind those that were made again.
	follows      *Standby
	used, behind int
}

func newReplicas(t *testing.T, server, prefix string) *replicas {
	t.Helper()
	r := &replicas{fixture: unopened(t)}
	for _, e := range []**engine.Engine{&r.engine, &r.standby} {
		store, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: prefix, Clock: clock.New()})
		require.NoError(t, err)
		*e, err = engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.New(), Shared: store})
		require.NoError(t, err)
	}
	r.lead()
	r.open()
	return r
}

func (r *replicas) close() {
	r.t.Helper()
	r.Close()
	if r.follows != nil {
		r.follows.Close()
	}
	require.NoError(r.t, r.engine.Close())
	require.NoError(r.t, r.standby.Close())
}

// lead begins a term.
func (r *replicas) lead() {
	r.t.Helper()
	require.NoError(r.t, r.engine.Fresh(r.t.Context()))
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "leewardd"}}
	key := engine.Key(coordinationv1.Resource("leases"), lease.Namespace, lease.Name)
	_, version := r.engine.Table(coordinationv1.Resource("leases")).Get(key)
	var err error
	r.term, err = r.engine.Lead(engine.Update(key, lease, version))
	require.NoError(r.t, err)
}

// takeOver has the standby go on. The fleet that led was only slow, and would now write what it had decided.
func (r *replicas) takeOver() {
	r.t.Helper()
	before := r.Fleet
	r.engine, r.standby = r.standby, r.engine
	r.lead()
	r.goOn()
	if err := before.step(r.t.Context()); err != nil {
		require.ErrorAs(r.t, err, new(*engine.Deposed))
		r.deposed++
	}
	before.Close()
}

// goOn has the machines that follow lead, or makes some.
func (r *replicas) goOn() {
	r.t.Helper()
	s := r.follows
	r.follows = nil
	if s == nil {
		r.open()
		return
	}
	f, err := s.Lead(r.t.Context(), r.term)
	require.NoError(r.t, err)
	if f == nil {
		r.behind++
		r.open()
		return
	}
	r.used++
	r.Fleet = f
	require.NoError(r.t, r.step())
}

// follow has the standby make machines, if it has none, and these take in what the leader has done.
func (r *replicas) follow() {
	r.t.Helper()
	require.NoError(r.t, r.standby.Fresh(r.t.Context()))
	if r.follows == nil {
		var err error
		r.follows, err = Follow(r.t.Context(), r.configOn(r.standby))
		require.NoError(r.t, err)
	}
	err := r.follows.fleet.step(r.t.Context())
	if errors.Is(err, ErrBehind) {
		r.behind++
		r.follows.Close()
		r.follows = nil
		return
	}
	require.NoError(r.t, err)
}

// TestAStandbyThatTakesOverChangesNothing lives through the same troubles with one daemon, and with two on one etcd, of
// which now this one leads and now that. They end in the same place with the same times, also where the standby's
// machines follow all the time, or now and then.
func TestAStandbyThatTakesOverChangesNothing(t *testing.T) {
	server, deposed, used, behind := etcdtest.Start(t), 0, 0, 0
	for seed := range uint64(20) {
		alone := troubles(newFixture(t), seed, false)
		r := newReplicas(t, server, fmt.Sprint("/seed-", seed))
		both := troubles(r.fixture, seed, true)
		both.succeed = r.takeOver
		kills, dice := both.kills, rand.New(rand.NewPCG(seed, 11))
		both.kills = func() bool {
			if seed%2 == 0 || dice.IntN(4) == 0 {
				r.follow()
			}
			return kills()
		}
		require.Equal(t, alone.live(), both.live(), "seed %d", seed)
		deposed, used, behind = deposed+r.deposed, used+r.used, behind+r.behind
		r.close()
	}
	require.Positive(t, deposed)
	require.Positive(t, used)
	t.Log(deposed, used, behind)
}
