package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/rs/zerolog"
	lumberjack "gopkg.in/natefinch/lumberjack.v2"

	"leeward/runtime/fleet/shadow"
)

// comparisons are the lines of a file, or of standard output; without one there are none.
type comparisons struct {
	log zerolog.Logger
	out io.Writer // nil: none
	// file is closed at the end; nil: out is not ours.
	file io.Closer
}

// toOutput names standard output.
const toOutput = "-"

// newComparisons goes on with a file: when that has 100 MB it is renamed, and of those that were, four are kept.
func newComparisons(path string, out io.Writer, log zerolog.Logger) (*comparisons, error) {
	switch path {
	case "":
		return &comparisons{log: log}, nil
	case toOutput:
		return &comparisons{log: log, out: out}, nil
	}
	created, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // that it cannot be written is said now
	if err == nil {
		err = created.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("shadowComparisons: %w", err)
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: 100, MaxBackups: 4}
	return &comparisons{log: log, out: file, file: file}, nil
}

func (c *comparisons) close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// add writes a line. That it could not be written is logged: decisions go on.
func (c *comparisons) add(one *shadow.Comparison) {
	if c.out == nil {
		return
	}
	line, err := json.Marshal(one)
	if err == nil {
		_, err = c.out.Write(append(line, '\n'))
	}
	if err != nil {
		c.log.Error().Err(err).Msg("a comparison was not written")
	}
}
