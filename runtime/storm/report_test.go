package storm_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/storm"
)

func TestSecondsAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                   "0s",
		999:                                 "999ns",
		1234:                                "1.23µs",
		56_789:                              "56.8µs",
		456_789:                             "457µs",
		9_876_543:                           "9.88ms",
		123_456_789:                         "123ms",
		12_345_678_901:                      "12.3s",
		90*time.Second + 4*time.Millisecond: "1m30s",
	} {
		require.Equal(t, want, storm.Seconds(d).String())
	}
}

func TestAReportReadsBackAsItWasWritten(t *testing.T) {
	want := storm.Report{
		Command: "leeward storm", Elapsed: storm.Seconds(1500 * time.Millisecond),
		Latencies: []storm.Latency{{Stage: storm.StageEvicted, P99: storm.Seconds(time.Millisecond), Buckets: []storm.LatencyBucket{{To: 1000, Count: 3}}}},
		Checks:    []storm.Check{{Name: "nothing is lost", Passed: true}},
	}
	text, err := json.Marshal(&want)
	require.NoError(t, err)
	require.Contains(t, string(text), `"elapsedSeconds":1.5`)
	var got storm.Report
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, want, got)
	require.True(t, got.Passed())
	got.Checks[0].Passed = false
	require.False(t, got.Passed())
	require.ErrorContains(t, json.Unmarshal([]byte(`{"elapsedSeconds":"x"}`), &got), "read a number of seconds")
}
