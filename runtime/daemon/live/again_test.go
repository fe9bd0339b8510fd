package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

// TestABindingThatAUserDeletesIsMadeAgain shows a slip with kubectl: the resource is there, and so what runs stays.
func TestABindingThatAUserDeletesIsMadeAgain(t *testing.T) {
	f := running(t)
	before, copied := get(f, binding()).UID, get(f, work("m1")).UID
	f.remove(binding())
	require.Equal(t, "m1:2", placed(f))
	require.NotEqual(t, before, get(f, binding()).UID)
	require.Equal(t, copied, get(f, work("m1")).UID)
	require.Nil(t, get(f, work("m1")).DeletionTimestamp)
	f.serves("m1", 2)
	version := f.engine.Version()
	f.restart()
	require.Equal(t, version, f.engine.Version(), "a start finds all as it is to be")
}

// TestAWorkloadThatIsReplacedImmediatelyIsHeard shows kubectl replace --force: the fleet hears of both writes together.
func TestAWorkloadThatIsReplacedImmediatelyIsHeard(t *testing.T) {
	f := running(t)
	table, key := f.table(deployment(2, "nginx:1"))
	_, version := table.Get(key)
	require.NoError(t, f.engine.Commit(engine.Delete(key, version)))
	f.apply(deployment(2, "nginx:1"))
	require.Equal(t, "m1:2", placed(f))
	f.serves("m1", 2)
	require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health)
}

func TestAStartTellsNothingAgain(t *testing.T) {
	f := newFixture(t)
	p := policy()
	p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"nowhere"}}
	f.apply(member("m1"), p, deployment(2, "nginx:1"))
	told, before := f.events(binding()), f.engine.Version()
	require.Len(t, told, 1)
	f.pass(time.Minute)
	f.restart()
	require.Equal(t, told, f.events(binding()))
	require.Equal(t, before, f.engine.Version())

	f.Close()
	f.clock.Add(time.Minute)
	f.write(member("m2"))
	f.open()
	require.Len(t, f.events(binding()), 2, "what is new is told")
}
