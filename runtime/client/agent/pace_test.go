package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRepairsOfOneObjectWaitLongerEachTime(t *testing.T) {
	var r repairs
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Zero(t, r.due(now), "the first is made immediately")
	for _, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		require.Equal(t, wait-time.Millisecond, r.due(now.Add(time.Millisecond)))
		require.Equal(t, time.Nanosecond, r.due(now.Add(wait-1)))
		now = now.Add(wait)
		require.Zero(t, r.due(now))
	}
	for range 20 {
		now = now.Add(r.wait)
		require.Zero(t, r.due(now))
	}
	require.Equal(t, lastRepairWait, r.due(now), "the longest wait")
	now = now.Add(2 * lastRepairWait)
	require.Zero(t, r.due(now))
	require.Equal(t, firstRepairWait, r.due(now), "after a long peace, as at first")
}

func TestADigestIsOfWhatAManifestSays(t *testing.T) {
	const base = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: y}}, data: {k: v}}"
	same := []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: y}, resourceVersion: '7', generation: 3, managedFields: [{manager: m}]}, data: {k: v}, status: {a: b}}",
		"{kind: ConfigMap, data: {k: v}, metadata: {labels: {x: y}, name: a}, apiVersion: v1}",
	}
	for _, text := range same {
		require.Equal(t, digest(object(t, base)), digest(object(t, text)))
	}
	others := []string{
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: z}}, data: {k: v}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: y}, uid: u}, data: {k: v}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {x: y}}, data: {k: w}}",
	}
	for _, text := range others {
		require.NotEqual(t, digest(object(t, base)), digest(object(t, text)))
	}
}
