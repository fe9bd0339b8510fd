package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestWhatCopiesTakeFollowsTheirBindings(t *testing.T) {
	f := running(t)
	f.reports("m1", 10)
	taken := func() int64 {
		f.pass(time.Second) // what the fleet wrote itself it hears of next
		return f.rooms.own["m1"][corev1.ResourcePods]
	}
	require.EqualValues(t, 2, taken(), "all are counted once")
	f.serves("m1", 1)
	require.EqualValues(t, 1, taken())
	f.apply(deployment(3, "nginx:1"))
	require.EqualValues(t, 1, taken(), "a copy that is to be larger serves as before")
	f.serves("m1", 3)
	require.EqualValues(t, 3, taken())
	f.remove(deployment(3, ""))
	f.lets("m1")
	require.Zero(t, taken(), "a copy that is gone takes nothing")
	require.Empty(t, f.rooms.stale, "all was told")
}
