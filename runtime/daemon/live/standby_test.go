package live

import (
	"fmt"
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
	r.open()
	if err := before.step(r.t.Context()); err != nil {
		require.ErrorAs(r.t, err, new(*engine.Deposed))
		r.deposed++
	}
	before.Close()
}

// TestAStandbyThatTakesOverChangesNothing lives through the same troubles with one daemon, and with two on one etcd, of
// which now this one leads and now that. They end in the same place with the same times.
func TestAStandbyThatTakesOverChangesNothing(t *testing.T) {
	server, deposed := etcdtest.Start(t), 0
	for seed := range uint64(20) {
		alone := troubles(newFixture(t), seed, false)
		r := newReplicas(t, server, fmt.Sprint("/seed-", seed))
		both := troubles(r.fixture, seed, true)
		both.succeed = r.takeOver
		require.Equal(t, alone.live(), both.live(), "seed %d", seed)
		deposed += r.deposed
		r.close()
	}
	require.Positive(t, deposed)
}
