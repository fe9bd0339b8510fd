// Package logging makes the logs of programs that run for long, by their flags --log-level and --log-format.
package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
	"k8s.io/klog/v2"
)

// The formats: lines of JSON, text for people, or text on a terminal and JSON elsewhere.
const (
	Auto    = "auto"
	JSON    = "json"
	Console = "console"
)

// CheckFormat reports a format that there is not.
func CheckFormat(format string) error {
	if formats := []string{Auto, JSON, Console}; !slices.Contains(formats, format) {
		return fmt.Errorf("%q is not one of %s", format, strings.Join(formats, ", "))
	}
	return nil
}

// Level is the lowest level to log, by its name: zerolog.InfoLevel with the error of a name that means none.
func Level(name string) (zerolog.Level, error) {
	level, err := zerolog.ParseLevel(name)
	if err != nil || level < zerolog.DebugLevel || level > zerolog.ErrorLevel {
		return zerolog.InfoLevel, fmt.Errorf("%q is not one of debug, info, warn, error", name)
	}
	return level, nil
}

// New logs in a format that was checked.
func New(out io.Writer, format string) zerolog.Logger {
	if format == Console || format == Auto && IsTerminal(out) {
		out = zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).With().Timestamp().Logger()
}

// IsTerminal reports whether what is written there is shown to a person.
func IsTerminal(out io.Writer) bool {
	f, isFile := out.(*os.File)
	return isFile && term.IsTerminal(int(f.Fd()))
}

var libraryLogs sync.Once

// HearLibraries has what libraries log, as far as it matters to an admin, logged here. It is done once: klog has one logger
// for the whole process.
func HearLibraries(log zerolog.Logger) {
	libraryLogs.Do(func() {
		quiet := log.Level(max(log.GetLevel(), zerolog.WarnLevel)) // what they tell of themselves is of no use
		klog.SetSlogLogger(slog.New(zerolog.NewSlogHandler(quiet)))
	})
}
