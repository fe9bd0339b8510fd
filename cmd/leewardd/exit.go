package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/config"
	"leeward/runtime/etcd"
)

const exitCodes = `Exit codes:
  0  done, or stopped by a signal
  1  refused: the store is damaged or in use, a daemon leads there, or what is there would be replaced
  2  the command line or the configuration is invalid
  3  an internal error, or a file, a port or etcd that cannot be used`

// exit is an error that says how the program ends.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }

func (e *exit) Unwrap() error { return e.err }

func invalid(format string, words ...any) error {
	return &exit{exitcode.Invalid, fmt.Errorf(format, words...)}
}

// codeOf returns the exit code that an error asks for. One that no command returned is of the command line.
func codeOf(err error) int {
	var e *exit
	switch {
	case err == nil:
		return exitcode.Held
	case errors.As(err, &e):
		return e.code
	}
	return exitcode.Invalid
}

// sorted has each error of a command say how the program ends.
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
		return &exit{causeOf(err), err}
	}
}

// causeOf is the code for an error of what a command uses.
func causeOf(err error) int {
	switch {
	case errors.As(err, new(*config.Invalid)):
		return exitcode.OfInput(err)
	case errors.As(err, new(*etcd.NotEmpty)):
		return exitcode.Failed
	}
	return exitcode.OfStore(err)
}
