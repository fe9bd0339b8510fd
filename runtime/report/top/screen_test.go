package top

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

var update = flag.Bool("update", false, "write the golden screens")

// played is the source of a scenario of this repository.
func played(t testing.TB, file string) Source {
	t.Helper()
	path := filepath.Join("..", "..", "..", "scenarios", file)
	all, _, problems := scenario.Find(path)
	require.Empty(t, problems)
	run, err := replay.Play(all[0], replay.Options{})
	require.NoError(t, err)
	s, err := Of(viewer.Of(run))
	require.NoError(t, err)
	return s
}

const nginx = "nginx-is-evicted-from-a-failed-cluster.yaml"

// press presses keys, each as bubbletea names it.
func press(s *Screen, keys ...string) (last tea.Cmd) {
	named := map[string]tea.Key{
		"tab": {Code: tea.KeyTab}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "space": {Code: tea.KeySpace, Text: " "}, "backspace": {Code: tea.KeyBackspace},
		"pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	}
	for _, k := range keys {
		key, is := named[k]
		if !is {
			key = tea.Key{Code: []rune(k)[0], Text: k}
		}
		_, last = s.Update(tea.KeyPressMsg(key))
	}
	return last
}

// text is the screen without colours.
func text(s *Screen) string { return ansi.Strip(s.View().Content) }

// sized is a screen of a size.
func sized(s *Screen, width, height int) *Screen {
	s.Update(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

func TestTheScreenShowsTheFleetAtTheCursorAndWhy(t *testing.T) {
	for _, c := range []struct {
		golden string
		keys   []string
	}{
		{"at-the-start", nil},
		{"an-eviction-is-scheduled", []string{".", ".", "."}},
		{"an-eviction-is-under-way", []string{".", ".", ".", "."}},
		{"a-cluster-is-selected", []string{".", ".", ".", "tab", "tab"}},
		{"filtered", []string{".", ".", ".", ".", "/", "m", "e", "m", "b", "e", "r", "3", "enter"}},
		{"keys", []string{"?"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			s := sized(New(played(t, nginx)), 120, 32)
			press(s, c.keys...)
			golden := filepath.Join("testdata", c.golden+".txt")
			var lines []string
			for line := range strings.Lines(text(s)) {
				lines = append(lines, strings.TrimRight(line, " \n"))
			}
			got := strings.Join(lines, "\n") + "\n"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestKeysMoveTheCursorFromChangeToChange(t *testing.T) {
	s := New(played(t, nginx))
	first, last := s.shown().Bounds()
	var seen []time.Time
	for range s.shown().Changes() - 1 {
		press(s, ".")
		seen = append(seen, s.at)
	}
	require.IsIncreasing(t, offsets(first, seen))
	press(s, ".", ".")
	require.Equal(t, seen[len(seen)-1], s.at, "there is nothing after the last change")
	for i := len(seen) - 2; i >= 0; i-- {
		press(s, ",")
		require.Equal(t, seen[i], s.at)
	}
	press(s, "end", ",")
	require.True(t, s.at.Before(last))
	press(s, "home", ",", ",")
	require.Equal(t, first, s.at)
	press(s, "]")
	require.Equal(t, last.Sub(first)/20, s.at.Sub(first))
	press(s, ".")
	require.Equal(t, seen[0], s.at, "the first change after an instant between changes")
	press(s, "[", "[", "[", "[", "[")
	require.Equal(t, first, s.at)
}

func offsets(first time.Time, all []time.Time) (list []int64) {
	for _, t := range all {
		list = append(list, t.Sub(first).Milliseconds())
	}
	return list
}

func TestARunPlaysToItsEndAndPauses(t *testing.T) {
	s := New(played(t, nginx))
	require.NotNil(t, press(s, "space"))
	s.Update(tick{})
	halfway := s.at
	require.Nil(t, press(s, "space"))
	s.Update(tick{})
	require.Equal(t, halfway, s.at, "paused")
	press(s, "space")
	for range s.shown().Changes() {
		s.Update(tick{})
	}
	require.False(t, s.playing)
	require.Contains(t, text(s), "00:20:40 of 00:20:40")
}

// TestNoLineIsLongerThanTheTerminal shrinks the terminal to nothing, where whatever is selected and typed is shown as far as it fits.
func TestNoLineIsLongerThanTheTerminal(t *testing.T) {
	s := New(played(t, nginx))
	press(s, ".", ".", ".", ".")
	for _, size := range [][2]int{{200, 60}, {80, 24}, {40, 10}, {20, 6}, {9, 3}, {1, 1}, {0, 0}} {
		sized(s, size[0], size[1])
		for _, keys := range [][]string{nil, {"tab"}, {"tab"}, {"?"}, {"?"}, {"/", "x", "esc"}} {
			press(s, keys...)
			lines := strings.Split(text(s), "\n")
			require.LessOrEqual(t, len(lines), max(1, size[1]))
			for _, l := range lines {
				require.LessOrEqual(t, ansi.StringWidth(l), max(1, size[0]))
			}
		}
	}
}

func TestTheSelectedRowStaysSelectedWhileTheFleetChanges(t *testing.T) {
	s := New(played(t, nginx))
	press(s, "tab", "tab", "down", "down")
	require.Equal(t, "cluster member3", s.title(clusterTable))
	press(s, ".", ".", ".", ".")
	require.Equal(t, "cluster member3", s.title(clusterTable))
	press(s, "pgdown")
	require.Equal(t, "cluster member5", s.title(clusterTable))
	press(s, "pgup", "up")
	require.Equal(t, "cluster member2", s.title(clusterTable), "the worst is first")
}

func TestSeveralRunsAreShownInTurn(t *testing.T) {
	s := New(played(t, nginx), played(t, "taints/a-cluster-is-drained.yaml"))
	require.Contains(t, text(s), "run 1 of 2")
	press(s, "n")
	require.Contains(t, text(s), "run 2 of 2")
	press(s, "n")
	require.Contains(t, text(s), "run 1 of 2")
	press(s, "N")
	require.Contains(t, text(s), "run 2 of 2")
}

func TestAFilterIsBounded(t *testing.T) {
	s := New(played(t, nginx))
	press(s, "/")
	for range 3 * mostTyped {
		press(s, "é")
	}
	require.LessOrEqual(t, len(s.filter), mostTyped)
	press(s, "backspace")
	require.LessOrEqual(t, len(s.filter), mostTyped-2)
	require.Contains(t, text(s), "none")
	press(s, "esc")
	require.Empty(t, s.filter)
}
