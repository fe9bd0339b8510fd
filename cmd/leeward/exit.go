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

// exit is an error that says how the command ends. Outside of a command, where arguments are parsed, an error of any other
// kind is the command line's.
type exit struct {
	code int
	// err is for standard error; nil where the report has said everything.
	err error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// invalid is for problems that say themselves in which file they are.
func invalid(err error) error { return &exit{exitInvalid, err} }

func internal(err error) error { return &exit{exitInternal, fmt.Errorf("leeward: %w", err)} }

// ofInput is for problems of what is read: people name a file that is not there, or the machine cannot read one that is.
func ofInput(err error) error { return &exit{exitcode.OfInput(err), err} }

// sorted has an error of a command that says nothing of how it ends be an internal one, as that output cannot be written.
func sorted(c *cobra.Command) {
	for _, below := range c.Commands() {
		sorted(below)
	}
	run := c.RunE
	if run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if err == nil || errors.As(err, new(*exit)) {
			return err
		}
		return internal(err)
	}
}

// misused is for errors of the command line; it says where its help is.
func misused(c *cobra.Command, err error) error {
	return &exit{exitInvalid, fmt.Errorf("leeward: %w\nsee '%s --help'", err, c.CommandPath())}
}

// codeOf returns the exit code that an error asks for.
func codeOf(err error) int {
	var e *exit
	switch {
	case err == nil:
		return exitHeld
	case errors.As(err, &e):
		return e.code
	default:
		return exitInvalid
	}
}

// textOf returns what an error has to say on standard error.
func textOf(err error) string {
	var e *exit
	switch {
	case err == nil, errors.As(err, &e) && e.err == nil:
		return ""
	case e == nil:
		return "leeward: " + err.Error() + "\nsee 'leeward --help'"
	default:
		return e.err.Error()
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
