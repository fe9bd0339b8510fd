package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/shrink"
)

// shrinkTries is how many smaller scenarios --shrink tries where no flag says otherwise: most are as small as they get after some
// hundred.
const shrinkTries = 2000

// shrink writes the smallest scenario that fails in the same way as the first one of the files that fails.
func (r *replaying) shrink(c *cobra.Command, paths []string) error {
	if err := r.checkShrink(c); err != nil {
		return misused(c, err)
	}
	scenarios, err := r.load(paths, c.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := mayWrite(r.smallest, r.force); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	var last error
	for _, s := range scenarios {
		result, err := r.shrinkOne(ctx, c, s)
		switch {
		case errors.Is(err, shrink.ErrHolds), errors.Is(err, shrink.ErrSame):
			last = err
		case err == nil:
			return r.tellShrunk(c, s, result)
		case isInvalid(err):
			return invalid(err)
		default:
			return internal(fmt.Errorf("shrink %s: %w", s.Name, err))
		}
	}
	name := spelling.Count(len(scenarios), "scenario")
	if len(scenarios) == 1 {
		name = scenarios[0].Name
	}
	return invalid(fmt.Errorf("leeward: --shrink: %s: %w", name, last))
}

// checkShrink reports what makes no sense together.
func (r *replaying) checkShrink(c *cobra.Command) error {
	for _, flag := range []string{"update", "html", "seeds", "check-determinism", "log-level", "output", "sweep", "min"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--shrink writes a scenario: omit --%s", flag)
		}
	}
	if r.smallest == "" {
		return errors.New("--shrink: name the file to write the smallest scenario to")
	}
	_, problems := config.Resolve(r.profile, r.set)
	return errors.Join(problems...)
}

// mayWrite refuses a file that exists, unless it may be replaced.
func mayWrite(name string, force bool) error {
	_, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return ofInput(err)
	case !force:
		return invalid(fmt.Errorf("leeward: %s exists: give another name, or --force to replace it", name))
	}
	return nil
}

// shrinkOne shrinks one scenario, if it fails, or one recording, if its replay differs from it.
func (r *replaying) shrinkOne(ctx context.Context, c *cobra.Command, s *scenario.Scenario) (*shrink.Result, error) {
	with, err := manifests(r.with)
	if err != nil {
		return nil, err
	}
	settings := shrink.Config{
		Source: scenario.Disk, Scenario: s, Seed: s.Seed, Profile: r.profile, Set: r.set, Until: time.Duration(r.until), With: with, Most: int(r.tries),
	}
	if r.seed.set {
		settings.Seed = r.seed.value
	}
	stderr := c.ErrOrStderr()
	if logging.IsTerminal(stderr) {
		settings.Progress = func(tries, parts int) { say(stderr, fmt.Sprintf("\r\x1b[K%d tried, %d parts", tries, parts)) }
		defer say(stderr, "\r\x1b[K")
	}
	recorded := r.recorded[s] != nil
	if recorded != (len(isRecording(r.smallest)) > 0) {
		return nil, &world.Invalid{Problems: []error{fmt.Errorf("--shrink %s: a recording becomes a smaller one, in a .jsonl file, and a scenario a .yaml file: %s", r.smallest, s.File)}}
	}
	if recorded {
		return shrink.Recording(ctx, settings)
	}
	return shrink.Shrink(ctx, settings)
}

// tellShrunk writes the scenario or the recording, and says how far it came. A scenario fails, and so does the command.
func (r *replaying) tellShrunk(c *cobra.Command, s *scenario.Scenario, result *shrink.Result) error {
	if err := writeWhole(r.smallest, result.Text, r.force); err != nil {
		return internal(err)
	}
	what, exit := ", which fails:", error(&exitcode.Exit{Code: exitFailed})
	repeat := "leeward replay " + shellWord(r.smallest)
	if r.recorded[s] != nil {
		what, exit = ", whose replay differs:", nil
		if r.seed.set {
			repeat += fmt.Sprintf(" --seed %d", r.seed.value)
		}
	}
	text := "shrunk " + s.Name + what + "\n"
	for _, f := range result.Fails {
		text += "  " + f + "\n"
	}
	text += fmt.Sprintf("from %s\nto   %s, in %d tries\n", result.Before, result.After, result.Tries)
	if result.Late > 0 {
		text += fmt.Sprintf("%s come after %s, where the run ends, and are omitted.\n", spelling.Count(result.Late, "expectation"), span.String(time.Duration(r.until)))
	}
	if result.Bounded {
		text += fmt.Sprintf("It may become smaller: the search ended after %d tries; --tries allows more.\n", result.Tries)
	}
	if _, err := fmt.Fprintf(c.OutOrStdout(), "%swrote %s\nrepeat: %s\n", text, r.smallest, repeat); err != nil {
		return internal(err)
	}
	return exit
}

// writeWhole writes a file whole or not at all. One that exists is replaced only by force.
func writeWhole(name string, text []byte, force bool) error {
	if !force {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return errors.Join(err, file.Close())
	}
	unfinished := name + ".tmp"
	if err := os.WriteFile(unfinished, text, 0o644); err != nil {
		return err
	}
	return os.Rename(unfinished, name)
}
