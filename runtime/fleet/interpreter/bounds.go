package interpreter

import (
	"context"
	"errors"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// The bounds of one call of a script.
const (
	// MostSteps is how many instructions it may run. A script that reads the statuses of a thousand clusters takes some ten thousand.
	MostSteps = 200_000
	// mostBytes is how much memory strings and sparse tables that it makes may take, whether they are still used or not.
	mostBytes = 16 << 20
	// mostString is how long a string that it makes may be.
	mostString = 256 << 10
	// mostCalls is how deep functions may call functions, and mostValues how many values they may have on the stack.
	mostCalls, mostValues = 200, 1 << 14
	// mostDepth and mostNodes bound what it returns.
	mostDepth, mostNodes = 64, 100_000
	// MostScript is how many bytes a script may have.
	MostScript = 64 << 10
	// MostDependencies is how many dependencies it may return, and how many objects of those that it selects by labels are followed.
	MostDependencies = 1000
	// mostComponents is how many pod templates a workload may have.
	mostComponents = 100
	// mostMatching bounds the work of one search for a pattern, which grows with the length of the text to the power of the repetitions.
	mostMatching = 10_000_000
)

var errSteps = errors.New("the script runs for too many steps")

// meter counts what a call of a script takes. Lua asks it before each instruction whether its context is done.
type meter struct {
	steps, bytes int
}

var _ context.Context = (*meter)(nil)

// never and ended are what Done returns.
var (
	never = make(chan struct{})
	ended = func() chan struct{} {
		c := make(chan struct{})
		close(c)
		return c
	}()
)

// Done counts a step.
func (m *meter) Done() <-chan struct{} {
	if m.steps++; m.steps > MostSteps {
		return ended
	}
	return never
}

// Err is why a call ends.
func (m *meter) Err() error { return errSteps }

// Deadline is none: the clock has no say.
func (m *meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value is nothing.
func (m *meter) Value(any) any { return nil }

// take counts memory, and ends the call where there is no more.
func (m *meter) take(l *lua.LState, bytes int) {
	if m.bytes += bytes; m.bytes > mostBytes || bytes > mostBytes {
		l.RaiseError("the script takes more than %d bytes of memory", mostBytes)
	}
}

// makes counts a string that the script makes.
func (m *meter) makes(l *lua.LState, length int) {
	if length > mostString {
		l.RaiseError("a string of %d bytes: the script may make strings of up to %d", length, mostString)
	}
	m.take(l, length)
}
