package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"

	"leeward/cmd/internal/logging"
	"leeward/runtime/report/top"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario/replay"
)

// screenReport shows runs on the terminal, once all of them are over.
type screenReport struct{ runs []top.Source }

// Add takes the next run.
func (s *screenReport) Add(r *replay.Run) error {
	source, err := top.Of(viewer.Of(r))
	if err == nil {
		s.runs = append(s.runs, source)
	}
	return err
}

// Close shows the runs until the user quits.
func (s *screenReport) Close() error {
	if len(s.runs) == 0 {
		return nil
	}
	return onScreen(top.New(s.runs...), nil)
}

// onScreen lets a screen have the terminal until the user quits. What feeds it sends to the program.
func onScreen(s *top.Screen, feed func(*tea.Program)) error {
	p := tea.NewProgram(s)
	if feed != nil {
		feed(p)
	}
	if _, err := p.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("show on the terminal: %w", err)
	}
	return nil
}

// needsTerminal refuses a screen where there is no terminal.
func needsTerminal(what string, stdout io.Writer) error {
	if !logging.IsTerminal(stdout) || !logging.IsTerminal(os.Stdin) {
		return fmt.Errorf("%s needs a terminal", what)
	}
	return nil
}
