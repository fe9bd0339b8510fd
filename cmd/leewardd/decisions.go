package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	lumberjack "gopkg.in/natefinch/lumberjack.v2"

	"leeward/messages"
	"leeward/runtime/daemon/live"
)

// decisions keeps what the machines decided and why in decisions.jsonl, whatever the level of the log: five files of
// 100 MB at most. A decision is written once what it tells of is committed, on the goroutine of the machines alone; what a
// kill leaves out is found in the store at the next start.
type decisions struct {
	file  lumberjack.Logger
	log   zerolog.Logger
	lines bytes.Buffer // what is being written
	shown *json.Encoder
	// shadow says that nothing of it was done.
	shadow bool
}

// decision is one line of the file.
type decision struct {
	At      time.Time            `json:"at"`
	Kind    string               `json:"kind"`
	Binding messages.BindingName `json:"binding,omitempty"`
	Cluster messages.ClusterName `json:"cluster,omitempty"`
	// Text tells what was decided, and its reason.
	Text   string `json:"text"`
	Shadow bool   `json:"shadow,omitempty"`
	// Restored is set where the line was missing after a kill: it tells what the store has of the decision.
	Restored bool `json:"restored,omitempty"`
}

// began is the kind of the first line of a record.
const began = "RecordBegan"

// newDecisions begins a record, or goes on with the one in a folder. A line that a kill cut off is omitted.
func newDecisions(dataDir string, shadow bool, now time.Time, log zerolog.Logger) (*decisions, error) {
	d := &decisions{file: lumberjack.Logger{Filename: filepath.Join(dataDir, "decisions.jsonl"), MaxSize: 100, MaxBackups: 4}, log: log, shadow: shadow}
	d.shown = json.NewEncoder(&d.lines)
	d.shown.SetEscapeHTML(false)
	tail, size, err := d.tail()
	if err != nil {
		return nil, err
	}
	if whole := int64(bytes.LastIndexByte(tail, '\n') + 1); whole < int64(len(tail)) {
		if err := os.Truncate(d.file.Filename, size-int64(len(tail))+whole); err != nil {
			return nil, fmt.Errorf("cut off the unfinished last line: %w", err)
		}
	}
	if size == 0 {
		d.write(&decision{At: now, Kind: began, Text: "the record of decisions begins"})
		d.flush()
	}
	return d, nil
}

// decided takes down what was committed.
func (d *decisions) decided(all []live.Decision) {
	for i := range all {
		one := &all[i]
		line := decision{At: one.At, Kind: one.Fact.Kind(), Text: one.Told.Text(), Shadow: d.shadow, Restored: one.Restored}
		if about, is := one.Fact.(messages.AboutBinding); is {
			line.Binding = about.AboutBinding()
		}
		if about, is := one.Fact.(messages.AboutCluster); is {
			line.Cluster = about.AboutCluster()
		}
		d.write(&line)
	}
	d.flush()
}

func (d *decisions) write(line *decision) {
	if err := d.shown.Encode(line); err != nil {
		panic(fmt.Sprintf("leewardd: a decision cannot be written down: %v", err)) // it is text and numbers
	}
}

// flush writes what was encoded. What cannot be written is in the log all the same.
func (d *decisions) flush() {
	if _, err := d.lines.WriteTo(&d.file); err != nil {
		d.log.Error().Err(err).Str("file", d.file.Filename).Msg("decisions not written")
		d.lines.Reset()
	}
}

// latest is how much of the end of a record is read to find out what it lacks: some 20 000 decisions.
const latest = 4 << 20

// tail reads the end of the file, and returns the size of the whole.
func (d *decisions) tail() (text []byte, size int64, err error) {
	f, err := os.Open(d.file.Filename)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err = io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-latest), latest))
	return text, info.Size(), err
}

// decisionKey names a decision. Times in the store are of whole microseconds.
type decisionKey struct {
	kind    string
	binding messages.BindingName
	cluster messages.ClusterName
	at      int64
}

// recorded returns what tells whether a decision is in the record. What is older than the part that was read counts as recorded,
// and all does in a record that cannot be read.
func (d *decisions) recorded() func(string, messages.BindingName, messages.ClusterName, time.Time) bool {
	tail, size, err := d.tail()
	if err != nil {
		d.log.Error().Err(err).Str("file", d.file.Filename).Msg("decisions not read: decisions that a kill left out are not restored")
	}
	if int64(len(tail)) < size { // it begins within a line
		tail = tail[bytes.IndexByte(tail, '\n')+1:]
	}
	var since time.Time
	known := map[decisionKey]bool{}
	for text := range bytes.Lines(tail) {
		var line decision
		if json.Unmarshal(text, &line) != nil { // another process wrote into the file
			continue
		}
		if since.IsZero() {
			since = line.At
		}
		known[decisionKey{line.Kind, line.Binding, line.Cluster, line.At.UnixMicro()}] = true
	}
	return func(kind string, b messages.BindingName, c messages.ClusterName, at time.Time) bool {
		return since.IsZero() || at.Before(since) || known[decisionKey{kind, b, c, at.UnixMicro()}]
	}
}

// close ends the file.
func (d *decisions) close() error {
	if err := d.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", d.file.Filename, err)
	}
	return nil
}
