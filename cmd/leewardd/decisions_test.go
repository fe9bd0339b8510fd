package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/catalog"
	"leeward/runtime/engine"
	"leeward/runtime/journal"
	"leeward/runtime/live"
	"leeward/runtime/telemetry"
)

// kept is what a folder has of decisions.
func kept(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "decisions.jsonl"))
	if os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

// hears has a cluster fall silent.
func (d *decisions) hears(cluster messages.ClusterName) {
	f := &messages.HeartbeatStopped{Cluster: cluster}
	d.hear(time.Unix(0, 0), f, journal.Tell(time.Time{}, f))
}

func TestOnlyWhatIsCommittedWasDecided(t *testing.T) {
	dir := t.TempDir()
	d := newDecisions(dir, false, zerolog.Nop())
	d.hears("m1")
	require.Empty(t, kept(t, dir))
	d.flush()
	require.Contains(t, kept(t, dir), `"cluster":"m1"`)
	d.hears("m2")
	require.NoError(t, d.close(), "the machines ended in between")
	require.NotContains(t, kept(t, dir), "m2")
}

// TestWhatMachinesThatFailedDecidedIsForgotten shows one that fails before it has committed what it decided.
func TestWhatMachinesThatFailedDecidedIsForgotten(t *testing.T) {
	dir := t.TempDir()
	e, err := engine.Open(engine.Config{Resources: catalog.Tables(), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	d := &daemon{clock: clock.New(), log: zerolog.Nop(), decided: newDecisions(dir, false, zerolog.Nop())}
	d.metrics = telemetry.New(telemetry.Config{Clock: d.clock})
	d.machines.metrics, d.machines.config = d.metrics, live.Config{Engine: e, Clock: d.clock, Hear: d.hear, Flushed: d.decided.flush}
	d.machines.settings.Store(&messages.Settings{})
	d.decided.hears("m1")
	ctx, stop := context.WithCancel(t.Context())
	stop() // those that are made anew end once they have committed what they decide: nothing
	require.NoError(t, d.supervisor(0).run(ctx, func(context.Context) error { return panicked }))
	require.Empty(t, kept(t, dir))
}
