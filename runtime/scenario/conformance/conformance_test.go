package conformance

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// beside is where recordings lie that are not part of the repository: in the folder shared/oracle next
// to it. They are checked where they are there.
var beside = filepath.Join("..", "..", "..", "..", "shared", "oracle")

// folders with recordings: those that every clone has, those beside the repository, and those of the
// folder that LEEWARD_RECORDINGS names.
func folders() []string {
	all := []string{"testdata", beside}
	if more := os.Getenv("LEEWARD_RECORDINGS"); more != "" {
		all = append(all, more)
	}
	return all
}

// eachRecording runs a test for every recording of some folders.
func eachRecording(t *testing.T, folders []string, test func(*testing.T, *Recording)) {
	t.Helper()
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		for _, file := range files {
			name := filepath.Join(filepath.Base(folder), strings.TrimSuffix(filepath.Base(file), ".json"))
			t.Run(name, func(t *testing.T) { test(t, read(t, file)) })
		}
	}
}

func read(t *testing.T, file string) *Recording {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	r, err := Decode(data)
	require.NoError(t, err)
	return r
}

// Every recording of a real control plane replays as it went, in every order of the mailboxes: the same
// placements in the same order, the same eviction tasks, taints, copies, reasons and refusals, and all
// of it at the same times.
//
// Karmada cuts the times of taints and tasks to whole seconds. At which fraction of a second a recording
// began is not known, so it must go as it went from one of them.
func TestReplaysGoAsRecorded(t *testing.T) {
	eachRecording(t, folders(), func(t *testing.T, r *Recording) {
		var complaint string
		for began := 1050 * time.Millisecond; began < 2*time.Second; began += 100 * time.Millisecond {
			difference := strayed(t, r, began)
			if difference == "" {
				return
			}
			complaint = cmp.Or(complaint, difference)
		}
		require.Fail(t, "the replay differs from the recording", complaint)
	})
}

// Bounds of how much later than in a replay a thing was seen. The control plane took its time for
// everything, and shared its machine.
const (
	apart = 500 * time.Millisecond
	// relist is how long it may not notice that a policy was edited, or that a placement came to a
	// cluster that was tainted already.
	relist = 10 * time.Second
)

// strayed says how a replay that begins at a fraction of a second differs from its recording.
func strayed(t *testing.T, r *Recording, began time.Duration) string {
	t.Helper()
	recorded, b := accountOf(r), bounds{-apart, apart}
	if comesLate(r) {
		b.to += relist
	}
	for seed := range uint64(5) {
		ran := play(t, r, seed+1, began)
		if all := differences(recorded, ran.account(), b); len(all) > 0 {
			return fmt.Sprintf("%s, seed %d, begun %s into a second:\n%s\n\n%s", r.Script.ID, seed+1, began, join(all), timeline(t, ran.run))
		}
	}
	return ""
}

func play(t *testing.T, r *Recording, seed uint64, began time.Duration) *replayed {
	t.Helper()
	s, err := r.Scenario(r.Script.ID)
	require.NoError(t, err)
	s.Duration += began
	for i := range s.Timeline {
		s.Timeline[i].At += began
	}
	run, err := replay.Play(s, replay.Options{Seed: seed})
	require.NoError(t, err)
	s.Timeline = nil
	initial, err := replay.Play(s, replay.Options{Seed: seed, Until: time.Second})
	require.NoError(t, err)
	return &replayed{run: run, initial: initial, began: began}
}

func join(lines []string) string { return strings.Join(lines, "\n") }

func timeline(t *testing.T, run *replay.Run) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, journal.WriteText(&text, run.Start, run.Events, journal.Style{}))
	return text.String()
}

func TestEveryRecordingKeepsToTheFormat(t *testing.T) {
	eachRecording(t, folders(), func(t *testing.T, r *Recording) {
		s, err := r.Scenario("a.json")
		require.NoError(t, err)
		require.Equal(t, r.Script.ID, s.Name)
		require.Len(t, s.Timeline, len(r.Script.Events))
		require.Equal(t, fmt.Sprintf("%gs", r.Script.EndSeconds), fmt.Sprintf("%gs", s.Duration.Seconds()))
	})
}
