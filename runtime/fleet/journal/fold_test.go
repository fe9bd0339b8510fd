package journal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
)

// flappingTimes is a journal of a cluster that fails a number of times, for half of each minute; web, which runs there, is
// evicted in the third.
func flappingTimes(times int) *Journal {
	j := New(start)
	is := func(at time.Duration, status metav1.ConditionStatus) {
		j.Append(after(at), messages.Address{}, &messages.ConditionChanged{Cluster: "member1", Type: "Ready", Status: status})
	}
	for i := range times {
		at := time.Duration(i) * time.Minute
		is(at, "False")
		j.Append(after(at), messages.Address{}, &messages.EvictionScheduled{Binding: "default/web", Cluster: "member1"})
		if i == 2 {
			j.Append(after(at), messages.Address{}, &messages.EvictionStarted{Binding: "default/web", Cluster: "member1"})
		}
		is(at+30*time.Second, "True")
		j.Append(after(at+30*time.Second), messages.Address{}, &messages.EvictionCancelled{Binding: "default/web", Cluster: "member1"})
	}
	return j
}

func TestAClusterThatFlapsSixtyTimesIsToldOnOneLineThatCounts(t *testing.T) {
	text := textOf(t, flappingTimes(60), Style{Fold: true})
	require.Contains(t, text, "00:02:00  member1                   flaps               57 more times       until 00:58:30: condition Ready=False, condition Ready=True\n")
	require.Contains(t, text, "00:02:00  default/web               repeats             57 more times       until 00:58:30: eviction scheduled member1, eviction cancelled member1\n")
	require.Contains(t, text, "00:02:00  default/web               evicting from       member1", "a decision is told wherever it falls")
	require.Equal(t, 4*3+2+1, strings.Count(text, "\n"), "the first two and the last are told in full")
	for _, last := range []string{"00:59:00  member1", "00:59:30  member1"} {
		require.Contains(t, text, last)
	}
}

func TestWhatHappensFourTimesIsToldFourTimes(t *testing.T) {
	require.Equal(t, textOf(t, flappingTimes(4), Style{}), textOf(t, flappingTimes(4), Style{Fold: true}))
	require.NotEqual(t, textOf(t, flappingTimes(5), Style{}), textOf(t, flappingTimes(5), Style{Fold: true}))
}

func TestTranscriptsAndWideTimelinesTellEveryFlap(t *testing.T) {
	j := flappingTimes(60)
	require.Equal(t, j.Len(), strings.Count(textOf(t, j, Style{}), "\n"))
	require.Equal(t, j.Len(), strings.Count(textOf(t, j, Style{Wide: true}), "\n"))
}

// A heartbeat stops at another time each time, and is the same change all the same.
func TestSilenceThatRepeatsIsCounted(t *testing.T) {
	j := New(start)
	for i := range 10 {
		at := after(time.Duration(i) * time.Minute)
		j.Append(at, messages.Address{}, &messages.HeartbeatStopped{Cluster: "member1", RenewedAt: at, Deadline: at.Add(time.Minute)})
		j.Append(at, messages.Address{}, &messages.HeartbeatReturned{Cluster: "member1"})
	}
	require.Contains(t, textOf(t, j, Style{Fold: true}), "member1                   flaps               7 more times        until 00:08:00: silent, heartbeat again\n")
}
