package exitcode

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

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
