package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func countingStarts(s *messages.Settings) { s.MaxStartingPerCluster = 1 }

// underWay returns a binding that left m1 for m3.
func underWay(t *testing.T, changes ...func(*messages.Settings)) *subject {
	b := placed(t, settings(append(changes, destinationFirst, unlimited, keepLastCopy)...), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(b.replace("m1", "m3:2"))
	return b
}

func TestAStartLastsUntilTheCopyIsHealthy(t *testing.T) {
	b := underWay(t, countingStarts)
	b.tell(workload(3))
	require.Equal(t, []messages.ClusterName{"m3"}, b.asked.Starting)
	b.tell(report("m3", api.Healthy, 1, 1))
	b.tell(workload(4))
	require.Empty(t, b.asked.Starting)
}

func TestAStartThatIsOverdueNoLongerCounts(t *testing.T) {
	b := underWay(t, countingStarts)
	b.tell(workload(3))
	b.tell(b.place("m3:3"))
	before := b.asked
	b.advance(10 * time.Minute)
	require.NotSame(t, before, b.asked, "the scheduler is told")
	require.True(t, b.asked.Late)
}

func TestWhereStartsAreNotCountedTheyAreNotReported(t *testing.T) {
	b := underWay(t)
	b.tell(workload(3))
	require.Nil(t, b.asked.Starting)
	b.tell(b.place("m3:3"))
	before := b.asked
	b.advance(10 * time.Minute)
	require.Same(t, before, b.asked)
}

func backingOff(s *messages.Settings) { s.StartFailureLimit = 3 }

func TestAStartThatFailsIsToldToTheGovernorOnce(t *testing.T) {
	b := underWay(t, backingOff)
	failed := &messages.StartFailed{Binding: name, Cluster: "m3", Began: b.Now()}
	b.tell(report("m3", api.Unhealthy, 0, 2)).Told(governor)
	b.advance(10*time.Minute).Told(governor, failed)
	b.tell(workload(3)).Told(governor)
	require.Equal(t, []messages.ClusterName{"m3"}, b.asked.Starting, "who is late may still succeed")
	b.tell(report("m3", api.Healthy, 3, 2)).Told(governor)
}

func TestAStartThatIsGivenUpFailed(t *testing.T) {
	spec := toleratingUnhealthy(30, api.PurgeGracefully)
	b := placed(t, settings(backingOff, destinationFirst, unlimited, keepLastCopy), spec, "m1:2")
	b.tell(report("m1", api.Healthy, 2, 1))
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(b.replace("m1", "m3:2"))
	began := b.Now()
	b.tell(report("m3", api.Unhealthy, 0, 2))
	b.advance(30 * time.Second)
	b.tell(b.replace("m3", "m4:2")).Told(governor, &messages.StartFailed{Binding: name, Cluster: "m3", Began: began})
}

func TestWhatWasHealthyOnceDidStart(t *testing.T) {
	b := underWay(t, backingOff)
	b.tell(report("m3", api.Healthy, 1, 2)) // of two
	b.advance(10 * time.Minute).Told(governor)
}

func TestCopiesThatAreGivenUpTogetherReplacedNone(t *testing.T) {
	spec := toleratingUnhealthy(30, api.PurgeGracefully)
	b := placed(t, settings(backingOff, destinationFirst, unlimited, keepLastCopy), spec)
	b.tell(b.place("m1:2", "m2:2"))
	b.tell(report("m1", api.Unhealthy, 0, 1), report("m2", api.Unhealthy, 0, 2))
	b.advance(30 * time.Second)
	p := b.replace("m1", "m3:2", "m4:2")
	p.Leaving = append(p.Leaving, "m2")
	b.tell(p).Told(governor)
}
