package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/messages"
	"leeward/messages/api"
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

// A scheduler that reserves nothing sees what agents report, as Karmada's does, and from the moment on that it ceases to reserve.
func TestWhatAgentsReportIsTakenAsItIsWithoutReservations(t *testing.T) {
	f := running(t)
	f.reports("m1", 10)
	f.pass(time.Second)
	taken := func() int64 {
		return f.world.Store().Cluster("m1").Status.ResourceSummary.Allocated.Pods().Value()
	}
	reserved := taken()
	for _, reserves := range []bool{false, true} {
		s := *f.world.Settings()
		s.CapacityReservation = reserves
		f.world.SetAll(s)
		f.pass(time.Second)
		require.Equal(t, reserves, taken() == reserved)
		require.Equal(t, !reserves, taken() == 10)
	}
}

func TestAClusterHearsWhatIsTakenOfItOnceInASecond(t *testing.T) {
	f := running(t)
	told := 0
	watched(f, func(_ time.Time, _ messages.Address, m messages.Message) []messages.Message {
		if _, is := m.(*messages.ResourcesReported); is {
			told++
		}
		return []messages.Message{m}
	}, nil)
	f.pass(time.Minute)
	told = 0
	for pods := range int64(5) {
		edit(f, member("m1"), func(c *api.Cluster) {
			c.Status.ResourceSummary.Allocated = corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(pods+1, resource.DecimalSI)}
		})
		require.NoError(t, f.step())
	}
	require.Equal(t, 1, told)
	require.Equal(t, f.clock.Now().UTC().Truncate(time.Second).Add(time.Second), f.dueAgain())
	f.clock.Add(time.Second)
	require.NoError(t, f.step())
	require.Equal(t, 2, told)
	require.Zero(t, f.dueAgain())
	f.pass(time.Minute)
	require.Equal(t, 2, told)
}

// What copies take is no news to a start: a cluster is as full as it was.
func TestAStartCountsWhatCopiesTakeOnce(t *testing.T) {
	f := running(t)
	f.reports("m1", 10)
	f.pass(time.Second)
	others := func() int64 { return f.world.Store().Cluster("m1").Status.ResourceSummary.Allocated.Pods().Value() }
	require.EqualValues(t, 8, others(), "two of ten pods are those of the copy")
	f.restart()
	require.EqualValues(t, 8, others())
}

// What changes when all copies are being counted is counted once, though it is heard of afterwards.
func TestWhatIsEditedBeforeCopiesAreCountedIsCountedOnce(t *testing.T) {
	f := running(t)
	f.reports("m1", 10)
	f.restart()
	others := func() int64 { return f.world.Store().Cluster("m1").Status.ResourceSummary.Allocated.Pods().Value() }
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Status.ResourceSummary.Allocated = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("11")}
	})
	f.take()
	edit(f, binding(), func(b *api.ResourceBinding) {
		b.Status.AggregatedStatus = append(b.Status.AggregatedStatus, b.Status.AggregatedStatus[0])
	})
	f.tellRooms()
	require.NotNil(t, f.rooms.own, "they were counted")
	f.pass(time.Minute)
	f.reports("m1", 12)
	f.pass(time.Minute)
	require.EqualValues(t, 10, others())
}

// A binding that people delete gives up what its copies take, and counts it again once it is created again.
func TestWhatABindingTakesGoesWithIt(t *testing.T) {
	f := running(t)
	edit(f, policy(), func(p *api.PropagationPolicy) {
		p.Spec.Placement.ClusterAffinity = &api.ClusterAffinity{ClusterNames: []string{"m1"}}
	})
	f.reports("m1", 10)
	f.remove(binding())
	require.Equal(t, "m1:2", placed(f))
	f.reports("m1", 11)
	f.pass(time.Minute)
	require.EqualValues(t, 9, f.world.Store().Cluster("m1").Status.ResourceSummary.Allocated.Pods().Value())
}
