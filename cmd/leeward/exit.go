package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
)

// Exit codes, the same for every command.
const (
	exitHeld     = exitcode.Held
	exitFailed   = exitcode.Failed
	exitInvalid  = exitcode.Invalid
	exitInternal = exitcode.Internal
)

const exitCodes = `Exit codes:
  0  every expectation held
  1  an expectation failed
  2  a scenario, a manifest or the command line is invalid
  3  an internal error, a file that cannot be read or written, or a replay that is not deterministic`

// invalid is for problems that say themselves in which file they are.
func invalid(err error) error { return &exitcode.Exit{Code: exitInvalid, Err: err} }

// internal is also for errors of commands that are no Exit, such as output that cannot be written.
func internal(err error) error {
	return &exitcode.Exit{Code: exitInternal, Err: fmt.Errorf("leeward: %w", err)}
}

// ofInput is for problems of what is read: people name a file that is not there, or the machine cannot read one that is.
func ofInput(err error) error { return &exitcode.Exit{Code: exitcode.OfInput(err), Err: err} }

// misused is for errors of the command line; it says where its help is.
func misused(c *cobra.Command, err error) error {
	return &exitcode.Exit{Code: exitInvalid, Err: fmt.Errorf("leeward: %w\nsee '%s --help'", err, c.CommandPath())}
}

// textOf returns what an error has to say on standard error.
func textOf(err error) string {
	var e *exitcode.Exit
	switch {
	case err == nil, errors.As(err, &e) && e.Err == nil:
		return ""
	case e == nil:
		return "leeward: " + err.Error() + "\nsee 'leeward --help'"
	default:
		return e.Err.Error()
	}
}

// arguments demands at least one argument and says what it should be.
func arguments(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return misused(c, fmt.Errorf("%s needs %s", c.CommandPath(), what))
		}
		return nil
	}
}

// filesByFlag refuses words behind a command whose files are named with -f.
func filesByFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misused(c, fmt.Errorf("%s takes no arguments: name files with a flag, as -f %s", c.Name(), args[0]))
	}
	return nil
}
