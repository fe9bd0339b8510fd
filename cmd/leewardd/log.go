package main

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// newLogger writes lines of JSON, or, for people at a terminal, of text. Its level is that of the process, because it
// may change while the daemon runs.
func newLogger(o *options, out io.Writer) zerolog.Logger {
	setLogLevel(o)
	if o.logFormat == logConsole || o.logFormat == logAuto && isTerminal(out) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).With().Timestamp().Logger()
}

func setLogLevel(o *options) {
	level, _ := o.level() // it was validated
	zerolog.SetGlobalLevel(level)
}

func isTerminal(out io.Writer) bool {
	f, isFile := out.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}
