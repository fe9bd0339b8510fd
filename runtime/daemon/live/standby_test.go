package live

import (
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
	// prepared is a fleet that the standby has made in advance, or nil; used counts those that went on, outdated those that were
	// made again.
	prepared       *Prepared
	used, outdated int
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
	if r.prepared != nil {
		r.prepared.Close()
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

// goOn has the fleet that was made in advance lead, or makes one.
func (r *replicas) goOn() {
	r.t.Helper()
	p := r.prepared
	r.prepared = nil
	if p == nil {
		r.open()
		return
	}
	f, err := p.Lead(r.t.Context(), r.term)
	require.NoError(r.t, err)
	if f == nil {
		r.outdated++
		r.open()
		return
	}
	r.used++
	r.Fleet = f
	require.NoError(r.t, r.step())
}

// prepare has the standby make a fleet in advance.
func (r *replicas) prepare() {
	r.t.Helper()
	if r.prepared != nil {
		r.prepared.Close()
	}
	require.NoError(r.t, r.standby.Fresh(r.t.Context()))
	var err error
	r.prepared, err = Prepare(r.t.Context(), r.configOn(r.standby))
	require.NoError(r.t, err)
}

// TestAStandbyThatTakesOverChangesNothing lives through the same troubles with one daemon, and with two on one etcd, of
// which now this one leads and now that. They end in the same place with the same times, also where the standby had made its
// machines in advance, at any time before.
func TestAStandbyThatTakesOverChangesNothing(t *testing.T) {
	server, deposed, used, outdated := etcdtest.Start(t), 0, 0, 0
	for seed := range uint64(20) {
		alone := troubles(newFixture(t), seed, false)
		r := newReplicas(t, server, fmt.Sprint("/seed-", seed))
		both := troubles(r.fixture, seed, true)
		both.succeed = r.takeOver
		kills, dice := both.kills, rand.New(rand.NewPCG(seed, 11))
		both.kills = func() bool {
			if dice.IntN(4) == 0 {
				r.prepare()
			}
			return kills()
		}
		require.Equal(t, alone.live(), both.live(), "seed %d", seed)
		deposed, used, outdated = deposed+r.deposed, used+r.used, outdated+r.outdated
		r.close()
	}
	require.Positive(t, deposed)
	require.Positive(t, used)
	require.Positive(t, outdated)
}
