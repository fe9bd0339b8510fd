package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/daemon/live"
	"leeward/runtime/fleet/journal"
)

// kept are the lines that a folder has of decisions.
func kept(t *testing.T, dir string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "decisions.jsonl"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// recording goes on with the record of a folder, or begins one.
func recording(t *testing.T, dir string, now time.Time) *decisions {
	t.Helper()
	d, err := newDecisions(dir, false, now, zerolog.Nop())
	require.NoError(t, err)
	return d
}

// evicted is the decision to evict a workload.
func evicted(binding messages.BindingName, at time.Time) live.Decision {
	f := &messages.EvictionStarted{Binding: binding, Cluster: "m1"}
	return live.Decision{At: at, Fact: f, Told: journal.Tell(time.Time{}, f)}
}

func TestARecordTellsWhatIsInIt(t *testing.T) {
	dir, start := t.TempDir(), time.Date(2026, 1, 1, 12, 0, 0, 123_456_789, time.UTC)
	d := recording(t, dir, start)
	d.decided([]live.Decision{evicted("shop/a", start.Add(time.Second))})
	require.NoError(t, d.close())
	require.Len(t, kept(t, dir), 2, "one that says when it began, and the decision")

	recorded := recording(t, dir, start.Add(time.Hour)).recorded()
	require.True(t, recorded("EvictionStarted", "shop/a", "m1", start.Add(time.Second).Truncate(time.Microsecond)), "the store has microseconds")
	require.False(t, recorded("EvictionStarted", "shop/b", "m1", start.Add(time.Second)))
	require.False(t, recorded("EvictionEnded", "shop/a", "m1", start.Add(time.Second)))
	require.True(t, recorded("EvictionStarted", "shop/b", "m1", start.Add(-time.Second)), "of what was before it knows nothing")
	require.Len(t, kept(t, dir), 2, "it goes on")
}

// A process that is killed may leave half a line: what it told is as if it was never written.
func TestALineThatAKillCutOffIsOmitted(t *testing.T) {
	dir, start := t.TempDir(), time.Unix(1000, 0).UTC()
	d := recording(t, dir, start)
	d.decided([]live.Decision{evicted("shop/a", start), evicted("shop/b", start)})
	require.NoError(t, d.close())
	file := filepath.Join(dir, "decisions.jsonl")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text[:len(text)-20], 0o600))

	d = recording(t, dir, start)
	recorded := d.recorded()
	require.True(t, recorded("EvictionStarted", "shop/a", "m1", start))
	require.False(t, recorded("EvictionStarted", "shop/b", "m1", start))
	d.decided([]live.Decision{evicted("shop/b", start)})
	require.NoError(t, d.close())
	require.Len(t, kept(t, dir), 3)
	require.Contains(t, kept(t, dir)[2], "shop/b")
}

// Of a long record the end is read, from the first whole line on.
func TestOfALongRecordTheEndIsRead(t *testing.T) {
	dir, start := t.TempDir(), time.Unix(1000, 0).UTC()
	d := recording(t, dir, start)
	many := make([]live.Decision, 40_000)
	for i := range many {
		many[i] = evicted("shop/a", start.Add(time.Duration(i)*time.Second))
	}
	d.decided(many)
	require.NoError(t, d.close())
	recorded := d.recorded()
	require.True(t, recorded("EvictionStarted", "shop/b", "m1", start), "too long ago to be known")
	require.True(t, recorded("EvictionStarted", "shop/a", "m1", many[len(many)-1].At))
	require.False(t, recorded("EvictionStarted", "shop/b", "m1", many[len(many)-1].At))
}
