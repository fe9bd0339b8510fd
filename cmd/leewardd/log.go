package main

import (
	"io"

	"github.com/rs/zerolog"

	"leeward/cmd/internal/logging"
)

// newLogger logs in the format of the options. Its level is that of the process, because it may change while the daemon runs.
func newLogger(o *options, out io.Writer) zerolog.Logger {
	setLogLevel(o)
	return logging.New(out, o.logFormat)
}

func setLogLevel(o *options) {
	level, _ := o.level() // it was validated
	zerolog.SetGlobalLevel(level)
}
