// Package exitcode holds how programs end, and which errors end them so.
package exitcode

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"leeward/runtime/daemon/engine/wal"
)

// Exit codes, the same for every command of every program.
const (
	Held     = iota
	Failed   // an expectation failed, or what was asked for was refused
	Invalid  // the command line, or a file that it names, is at fault
	Internal // the program or its machine is
)

// OfInput is the code for an error of what people pass in. What cannot be read is the machine's fault, unless the name is
// wrong.
func OfInput(err error) int {
	if isIO(err) {
		return Internal
	}
	return Invalid
}

// OfStore is the code for an error of a store: one that is damaged, or in use, refuses; one that must be there, or must
// not, was named wrongly.
func OfStore(err error) int {
	switch {
	case errors.As(err, new(*wal.Damage)), errors.Is(err, wal.ErrInUse):
		return Failed
	case errors.Is(err, wal.ErrNoStore), errors.Is(err, wal.ErrExists):
		return Invalid
	}
	return Internal
}

// misnamed are errors of a name that was given.
var misnamed = []error{fs.ErrNotExist, syscall.EISDIR, syscall.ENOTDIR, syscall.ENAMETOOLONG, syscall.EINVAL}

// isIO reports whether an error, or one of those that it joins, is of a file that cannot be used under a name that is right.
func isIO(err error) bool {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return slices.ContainsFunc(joined.Unwrap(), isIO)
	}
	var path *fs.PathError
	return errors.As(err, &path) && !slices.ContainsFunc(misnamed, func(e error) bool { return errors.Is(path, e) })
}

// Exit is an error that says how the program ends.
type Exit struct {
	Code int
	// Err is for standard error; nil where the report has said everything.
	Err error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return e.Err.Error()
}

func (e *Exit) Unwrap() error { return e.Err }

// Of returns the exit code that an error asks for. An error that is no Exit comes from parsing the command line, before a
// command runs.
func Of(err error) int {
	var e *Exit
	switch {
	case err == nil:
		return Held
	case errors.As(err, &e):
		return e.Code
	}
	return Invalid
}

// Classify wraps RunE of a command, and of all below it, so that each error that it returns is an Exit: where it returns
// another error, sort makes an Exit of that.
func Classify(c *cobra.Command, sort func(error) error) {
	for _, below := range c.Commands() {
		Classify(below, sort)
	}
	run := c.RunE
	if run == nil {
		return
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		err := run(c, args)
		if err == nil || errors.As(err, new(*Exit)) {
			return err
		}
		return sort(err)
	}
}
