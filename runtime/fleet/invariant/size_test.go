package invariant_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/invariant"
	"leeward/runtime/fleet/store"
)

// What a monitor says of its memory is near what the heap has for it, for a fleet large enough that the rest does not count.
func TestAMonitorKnowsAboutHowMuchMemoryItHas(t *testing.T) {
	const bindings = 50_000
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	s := store.New(0)
	for i := range bindings {
		b := &api.ResourceBinding{}
		b.Kind, b.APIVersion, b.Namespace, b.Name = "ResourceBinding", "work.karmada.io/v1alpha2", "default", fmt.Sprintf("w%d", i)
		b.Spec.Clusters = []api.TargetCluster{{Name: "m1", Replicas: 1}, {Name: "m2", Replicas: 1}}
		s.Put(b)
	}
	empty := invariant.Watch(messages.Settings{}, now, s)
	require.Zero(t, empty.Bytes())
	before := heap()
	m := invariant.Watch(messages.Settings{}, now, s)
	m.Meet(now, s)
	grown := heap() - before
	require.InEpsilon(t, grown, m.Bytes(), 0.5)
	runtime.KeepAlive(s)
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
