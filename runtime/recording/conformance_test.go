package recording_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/config"
	"leeward/runtime/journal"
	"leeward/runtime/recording"
	"leeward/runtime/report"
	"leeward/runtime/world"
)

// beside is where recordings lie that are not part of the repository: in the folder shared/oracle next
// to it. They are checked where they are there.
var beside = filepath.Join("..", "..", "..", "shared", "oracle")

// folders with recordings: those that every clone has, those beside the repository, and those of the
// folder that LEEWARD_RECORDINGS names.
func folders() []string {
	all := []string{"testdata", beside}
	if more := os.Getenv("LEEWARD_RECORDINGS"); more != "" {
		all = append(all, more)
	}
	return all
}

// eachRecording runs a test for every recording, each once.
func eachRecording(t *testing.T, test func(*testing.T, *recording.Recording)) {
	t.Helper()
	seen := map[string]bool{}
	for _, folder := range folders() {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		for _, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".json"); !seen[name] {
				seen[name] = true
				t.Run(name, func(t *testing.T) { test(t, read(t, file)) })
			}
		}
	}
	require.NotEmpty(t, seen)
}

func read(t *testing.T, file string) *recording.Recording {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	r, err := recording.Decode(data)
	require.NoError(t, err)
	return r
}

// exactTimes switches off that times are cut to whole seconds.
var exactTimes = config.Override{Field: "wholeSecondTaintTimes", Value: "false", Source: "test"}

// Every recording of a real control plane replays as it went: the same placements in the same order,
// the same eviction tasks, the same taints, copies, reasons and refusals, and at the same times.
func TestReplaysGoAsRecorded(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording.Recording) {
		for seed := range uint64(5) {
			requireSame(t, r, replay(t, r, world.Options{Seed: seed + 1}), bounds{early, late + phases})
		}
		if !comesLate(r) {
			requireSame(t, r, replay(t, r, world.Options{Seed: 1, Set: []config.Override{exactTimes}}), bounds{early, late})
		}
	})
}

// Bounds of how much later than replayed a thing was seen. Karmada evicts up to a second early, because
// it cuts times to whole seconds, and everything takes it a little.
const (
	early = -1000 * time.Millisecond
	late  = 500 * time.Millisecond
	// phases is how much more lies between a recording and a replay that both cut times to whole
	// seconds: each began at a fraction of a second of its own, and the recording's is not known.
	phases = time.Second
	// relist is how long Karmada may not notice that a policy was edited, or that a placement came to a
	// cluster that was tainted already.
	relist = 10 * time.Second
)

func requireSame(t *testing.T, r *recording.Recording, ran *replayed, b bounds) {
	t.Helper()
	if comesLate(r) {
		b.to += relist
	}
	if all := differences(accountOf(r), ran.account(), b); len(all) > 0 {
		require.Failf(t, "the replay differs from the recording", "%s, seed %d:\n%s\n\n%s",
			r.Script.ID, ran.run.Seed, join(all), timeline(t, ran.run))
	}
}

// replay runs a recording. Each seed begins at another fraction of a second.
func replay(t *testing.T, r *recording.Recording, o world.Options) *replayed {
	t.Helper()
	s, err := r.Scenario(r.Script.ID)
	require.NoError(t, err)
	ran := &replayed{began: time.Duration(o.Seed%5)*200*time.Millisecond + 100*time.Millisecond}
	s.Duration += ran.began
	for i := range s.Timeline {
		s.Timeline[i].At += ran.began
	}
	ran.run, err = world.Replay(s, o)
	require.NoError(t, err)
	s.Timeline = nil
	o.Until = time.Nanosecond
	ran.initial, err = world.Replay(s, o)
	require.NoError(t, err)
	return ran
}

func join(lines []string) string { return strings.Join(lines, "\n") }

func timeline(t *testing.T, run *report.Run) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, journal.WriteText(&text, run.Start, run.Events, journal.Style{}))
	return text.String()
}

func TestEveryRecordingKeepsToTheFormat(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording.Recording) {
		s, err := r.Scenario("a.json")
		require.NoError(t, err)
		require.Equal(t, r.Script.ID, s.Name)
		require.Len(t, s.Timeline, len(r.Script.Events))
		require.Equal(t, fmt.Sprintf("%gs", r.Script.EndSeconds), fmt.Sprintf("%gs", s.Duration.Seconds()))
	})
}
