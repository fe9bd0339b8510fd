package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// terminal is a pseudo-terminal in which leeward runs, and what it shows.
type terminal struct {
	t   *testing.T
	pty *os.File
	// mu is for shown.
	mu    sync.Mutex
	shown *vt.Emulator
	// changed says that more was written, and is closed when leeward has ended.
	changed chan struct{}
	cmd     *exec.Cmd
}

// longest is how long leeward may take in a terminal.
const longest = 2 * time.Minute

// onTerminal starts leeward in a terminal of 100 columns and 30 lines.
func onTerminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), longest)
	t.Cleanup(stop)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Args = append([]string{"leeward"}, args...)
	cmd.Env = append(os.Environ(), append([]string{"TERM=xterm-256color"}, env...)...)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 100, Rows: 30})
	require.NoError(t, err)
	s := &terminal{t: t, pty: file, shown: vt.NewEmulator(100, 30), changed: make(chan struct{}, 1), cmd: cmd}
	go func() { _, _ = io.Copy(file, s.shown) }() // what the terminal answers when it is asked what it can do
	go s.read()
	t.Cleanup(func() { _ = file.Close() })
	return s
}

func (s *terminal) read() {
	defer close(s.changed)
	chunk := make([]byte, 4096)
	for {
		n, err := s.pty.Read(chunk)
		s.mu.Lock()
		_, _ = s.shown.Write(chunk[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}
}

func (s *terminal) press(keys string) {
	s.t.Helper()
	_, err := s.pty.WriteString(keys)
	require.NoError(s.t, err)
}

// text is what the screen shows.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// isFull reports whether leeward has the whole terminal.
func (s *terminal) isFull() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.IsAltScreen()
}

// sees waits until the screen shows all these texts.
func (s *terminal) sees(texts ...string) {
	s.t.Helper()
	for {
		screen := s.text()
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if _, more := <-s.changed; !more {
			require.Contains(s.t, s.text(), missing, "leeward has ended")
			return
		}
	}
}

// ends waits until leeward has ended, and returns its exit code.
func (s *terminal) ends() int {
	s.t.Helper()
	for range s.changed {
		continue // until all that was written is shown
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func TestARunIsShownOnTheTerminal(t *testing.T) {
	s := onTerminal(t, nil, "replay", "--tui", "../../scenarios/nginx-is-evicted-from-a-failed-cluster.yaml")
	s.sees("00:00:00 of 00:20:40", "CLUSTER", "member1", "q quit")
	s.press("...")
	s.sees("eviction scheduled", "in 1m", "for 60s", "00:06:40")
	s.press(".")
	s.sees("00:06:40 of", "evicting", "TaintManager")
	s.press(",")
	s.sees("in 1m")
	s.press("\t\t")
	s.sees("WHY cluster member2")
	require.True(t, s.isFull())
	s.press(arrowDown)
	s.sees("› member1")
	s.press("q")
	require.Zero(t, s.ends())
	require.False(t, s.isFull(), "the terminal is as it was")
}

// arrowDown is the key as terminals send it.
const arrowDown = "\x1b[B"
