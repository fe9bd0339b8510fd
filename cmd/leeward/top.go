package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"leeward/cmd/internal/logging"
	"leeward/runtime/client"
	"leeward/runtime/report/top"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario/replay"
)

// topping is one top command: its flags.
type topping struct {
	server serverFlags
	once   bool
}

func topCommand() *cobra.Command {
	t := &topping{}
	c := &cobra.Command{
		Use:   "top",
		Short: "Show the fleet of a server on the terminal, as it is and as it changes",
		Long: `Show the fleet of a leewardd on the terminal, as it is and as it changes: clusters with the worst first,
evictions with the time until they are due, what blocks them, and why the selected one happens. Enter shows what
leeward explain says of it, "," rewinds to what was seen before, End returns to now, ? lists all keys.

It reads the picture of the live page (docs/viewer.md), which the server makes once for all viewers, and has the
same rights: to list Clusters, ResourceBindings, ClusterResourceBindings and Governors in all namespaces.

For a run that is over: leeward replay FILE --tui.

` + exitCodes,
		Example: `  leeward top                       # the fleet of the current context
  leeward top --context production
  leeward top --once                # print the fleet as it is, and end`,
		Args: cobra.NoArgs,
		RunE: t.run,
	}
	t.server.add(c)
	c.Flags().BoolVar(&t.once, "once", false, "print the fleet as it is now, without a screen")
	return c
}

func (t *topping) run(c *cobra.Command, _ []string) error {
	if !t.once {
		if err := needsTerminal("leeward top", c.OutOrStdout()); err != nil {
			return misused(c, fmt.Errorf("%w; --once prints the fleet as it is", err))
		}
	}
	config, err := client.Load(t.server.kubeconfig, t.server.context)
	if err != nil {
		return invalid(fmt.Errorf("leeward: %w", err))
	}
	f, err := newFeed(config)
	if err != nil {
		return invalid(fmt.Errorf("leeward: %w", err))
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	stream, err := f.connect(ctx)
	if err != nil {
		return refused(err)
	}
	defer func() { _ = stream.close() }()
	first, err := stream.next()
	if err != nil {
		return refused(err)
	}
	history := &top.History{Of: config.Host}
	history.Append(first)
	s := top.Live(history, func(kind, name string) ([]string, error) { return f.explain(ctx, kind, name) })
	if t.once {
		return printScreen(c.OutOrStdout(), s)
	}
	if err := onScreen(s, func(p *tea.Program) { go f.follow(ctx, stream, p.Send) }); err != nil {
		return internal(err)
	}
	return nil
}

// printScreen writes a screen once, as wide and as long as what it shows.
func printScreen(w io.Writer, s *top.Screen) error {
	s.Update(tea.WindowSizeMsg{Width: 160, Height: 2000})
	for line := range strings.Lines(ansi.Strip(s.View().Content)) {
		if line = strings.TrimRight(line, " \n"); line == "" {
			break
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return internal(err)
		}
	}
	return nil
}

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
