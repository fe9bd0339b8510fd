package live

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

func TestAWorkloadTellsItsOwnerWhyItMoved(t *testing.T) {
	f := running(t)
	web := deployment(2, "")
	require.Empty(t, f.events(web), "a first placement is no failover")
	putTaints(f, "m1", failed)
	f.serves("m2", 2)
	f.pass(time.Minute)
	told := f.events(web)
	require.NotEmpty(t, told)
	require.Subset(t, f.events(binding()), told, "its binding tells the same")
	var reasons []string
	for _, e := range told {
		reason, _, _ := strings.Cut(e, ":")
		reasons = append(reasons, reason)
	}
	require.Equal(t, []string{"EvictWorkloadFromClusterSucceed", "EvictionStarted", "ScheduleBindingSucceed"}, reasons)
	f.restart()
	require.Equal(t, told, f.events(web), "a restart tells nothing again")
}

func TestAWorkloadTellsItsOwnerThatItIsToMove(t *testing.T) {
	f := running(t)
	f.apply(tolerant(60))
	putTaints(f, "m1", failed)
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = nil })
	require.NoError(t, f.step())
	require.Equal(t, []string{
		"EvictionCancelled: default/web-deployment eviction cancelled m1: no NoExecute taint remains",
		"EvictionScheduled: default/web-deployment eviction scheduled m1: for 2026-01-01T12:01:00Z; taint failed:NoExecute; by user; toleration 60s",
	}, f.events(deployment(2, "")))
}
