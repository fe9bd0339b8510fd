package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"sigs.k8s.io/yaml"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/world"
	"leeward/runtime/report"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// writer is what all forms of report have in common.
type writer interface {
	Add(*replay.Run) error
	Close() error
}

// faultWriter is a report that also says what keeps files from being run. Others leave that to standard error.
type faultWriter interface{ Fault(report.Fault) error }

// output is where results go: the report to standard output, facts and progress to standard error.
type output struct {
	stdout *bufio.Writer
	report writer
	// faults is nil where the report does not say them.
	faults faultWriter
	log    zerolog.Logger
	// progress is nil where there is no terminal.
	progress   io.Writer
	done, runs int
}

// open prepares the report that the flags ask for of these tasks.
func (r *replaying) open(stdout, stderr io.Writer, page *pageFile, tasks []task) *output {
	o := &output{stdout: bufio.NewWriter(stdout), log: zerolog.Nop(), runs: len(tasks)}
	o.report = r.report(o.stdout, wantsColour(stdout), r.seeds > 1 || severalFiles(tasks))
	o.faults, _ = o.report.(faultWriter)
	if r.logLevel.word != "off" {
		level, err := zerolog.ParseLevel(r.logLevel.word)
		if err != nil {
			panic(fmt.Sprintf("log level %s: %v", r.logLevel.word, err))
		}
		o.log = zerolog.New(stderr).Level(level)
	}
	if len(tasks) > 1 && logging.IsTerminal(stderr) {
		o.progress = stderr
	}
	if page != nil {
		o.report = &paged{o.report, &viewer.Page{W: page}, page}
	}
	return o
}

func severalFiles(tasks []task) bool {
	return slices.ContainsFunc(tasks, func(t task) bool { return t.scenario.File != tasks[0].scenario.File })
}

// report returns the writer of the form that is asked for.
func (r *replaying) report(w io.Writer, colour, many bool) writer {
	switch {
	case r.screen:
		return &screenReport{}
	case r.output.word == "json":
		return &report.JSON{W: w}
	case r.output.word == "timeline":
		return &viewer.JSON{W: w}
	case r.output.word == "junit":
		return &report.JUnit{W: w}
	case r.output.word == "github":
		return &report.GitHub{W: w}
	case r.output.word == "wide":
		return &report.Transcript{W: w, Style: journal.Style{Wide: true, Colour: colour}}
	case many:
		return &report.Summary{W: w, Colour: colour}
	default:
		return &report.Transcript{W: w, Style: journal.Style{Colour: colour, Fold: true}}
	}
}

// add reports the next run.
func (o *output) add(run *replay.Run) error {
	o.done++
	o.wipe()
	if o.log.GetLevel() != zerolog.Disabled {
		log := o.log.With().Str("scenario", run.Name).Uint64("seed", run.Seed).Logger()
		for i := range run.Events {
			journal.Tell(time.Time{}, run.Events[i].Fact).Log(&log, &run.Events[i])
		}
	}
	if err := o.report.Add(run); err != nil {
		return err
	}
	if err := o.stdout.Flush(); err != nil {
		return err
	}
	if o.progress != nil && o.done < o.runs {
		say(o.progress, fmt.Sprintf("%d of %d", o.done, o.runs))
	}
	return nil
}

// fault reports what keeps files from being run.
func (o *output) fault(err error) error {
	if o.faults == nil {
		return nil
	}
	for _, f := range report.Faults(err) {
		if err := o.faults.Fault(f); err != nil {
			return err
		}
	}
	return nil
}

// wipe takes the progress off its line.
func (o *output) wipe() {
	if o.progress != nil {
		say(o.progress, "\r\x1b[K")
	}
}

func (o *output) close() error {
	if err := o.report.Close(); err != nil {
		return err
	}
	return o.stdout.Flush()
}

func wantsColour(w io.Writer) bool {
	return logging.IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// printed writes a result as JSON, YAML, or in words by a function. The error has its exit code.
func printed(stdout io.Writer, form string, result any, words func(io.Writer) error) error {
	out := bufio.NewWriter(stdout)
	var err error
	switch form {
	case "json", "yaml":
		err = encoded(out, form, result)
	default:
		err = words(out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return internal(err)
	}
	return nil
}

// encoded writes a result as JSON or YAML, in which an empty list is [].
func encoded(out io.Writer, form string, result any) error {
	withLists(reflect.ValueOf(result))
	if form == "yaml" {
		text, err := yaml.Marshal(result)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(result)
}

// withLists makes the lists of a result that are nil empty ones, which JSON does not write as null.
func withLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			withLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				withLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			withLists(v.Index(i))
		}
	}
}

// unfinished is the error of a prediction that came to no end, with its exit code: its input is at fault, it was interrupted, or
// neither. Where says which input, undone what did not come to its end.
func unfinished(err error, where fmt.Stringer, undone string) error {
	var fleet *forecast.Invalid
	var manifests *world.Invalid
	switch {
	case errors.As(err, &fleet), errors.As(err, &manifests):
		return invalid(fmt.Errorf("%s: %w", where, err))
	case errors.Is(err, context.Canceled):
		return &exitcode.Exit{Code: exitInternal, Err: fmt.Errorf("leeward: interrupted: nothing was %s", undone)}
	}
	return internal(err)
}

// progressOn returns what tells, on a terminal, how many of how many are done; nil: it is none. Wipe takes it off its line.
func progressOn(stderr io.Writer) (progress func(done, of int), wipe func()) {
	if !logging.IsTerminal(stderr) {
		return nil, func() {}
	}
	return func(done, of int) { say(stderr, fmt.Sprintf("\r\x1b[K%d of %d", done, of)) }, func() { say(stderr, "\r\x1b[K") }
}
