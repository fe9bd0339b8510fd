package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func countingStarts(s *messages.Settings) { s.MaxStartingPerCluster = 1 }

// handsOver returns a binding that left m1 for m3.
func handsOver(t *testing.T, changes ...func(*messages.Settings)) *subject {
	b := placed(t, settings(append(changes, destinationFirst, unlimited, keepLastCopy)...), duplicated(), "m1:2")
	b.tell(tainted("m1", b.Now(), "down"))
	b.tell(b.replace("m1", "m3:2"))
	return b
}

func TestAStartLastsUntilTheCopyIsHealthy(t *testing.T) {
	b := handsOver(t, countingStarts)
	b.tell(workload(3))
	require.Equal(t, []messages.ClusterName{"m3"}, b.asked.Starting)
	b.tell(report("m3", api.Healthy, 1, 1))
	b.tell(workload(4))
	require.Empty(t, b.asked.Starting)
}

func TestAStartThatIsOverdueNoLongerCounts(t *testing.T) {
	b := handsOver(t, countingStarts)
	b.tell(workload(3))
	b.tell(b.place("m3:3"))
	before := b.asked
	b.advance(10 * time.Minute)
	require.NotSame(t, before, b.asked, "the scheduler is told")
	require.Empty(t, b.asked.Starting)
}

func TestWhereNobodyCountsStartsNobodyHearsOfThem(t *testing.T) {
	b := handsOver(t)
	b.tell(workload(3))
	require.Nil(t, b.asked.Starting)
	b.tell(b.place("m3:3"))
	before := b.asked
	b.advance(10 * time.Minute)
	require.Same(t, before, b.asked)
}
