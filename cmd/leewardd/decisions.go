package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
	lumberjack "gopkg.in/natefinch/lumberjack.v2"

	"leeward/messages"
	"leeward/runtime/journal"
)

// decisions keeps what the machines decided and why in decisions.jsonl, whatever the level of the log: five files of
// 100 MB at most. It is written once what it tells of is committed, and used on the goroutine of the machines alone.
type decisions struct {
	file  lumberjack.Logger
	log   zerolog.Logger
	lines bytes.Buffer // what is not yet committed
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
	// Text tells what was decided, and its grounds.
	Text   string `json:"text"`
	Shadow bool   `json:"shadow,omitempty"`
}

func newDecisions(dataDir string, shadow bool, log zerolog.Logger) *decisions {
	d := &decisions{file: lumberjack.Logger{Filename: filepath.Join(dataDir, "decisions.jsonl"), MaxSize: 100, MaxBackups: 4}, log: log, shadow: shadow}
	d.shown = json.NewEncoder(&d.lines)
	d.shown.SetEscapeHTML(false)
	return d
}

// hear takes a fact. One that only follows from another is not kept.
func (d *decisions) hear(at time.Time, f messages.Fact, told journal.Phrase) {
	if told.Level < zerolog.InfoLevel {
		return
	}
	line := decision{At: at, Kind: f.Kind(), Text: told.Text(), Shadow: d.shadow}
	if about, is := f.(messages.AboutBinding); is {
		line.Binding = about.AboutBinding()
	}
	if about, is := f.(messages.AboutCluster); is {
		line.Cluster = about.AboutCluster()
	}
	if err := d.shown.Encode(&line); err != nil {
		panic(fmt.Sprintf("leewardd: a decision cannot be written down: %v", err)) // it is text and numbers
	}
}

// flush writes what was heard. What cannot be written is lost here; it stands in the log all the same.
func (d *decisions) flush() {
	if d.lines.Len() == 0 {
		return
	}
	if _, err := d.lines.WriteTo(&d.file); err != nil {
		d.log.Error().Err(err).Str("file", d.file.Filename).Msg("decisions not kept")
		d.lines.Reset()
	}
}

// forget drops what was heard and is not committed: the machines that decided it are no more, and others decide anew.
func (d *decisions) forget() { d.lines.Reset() }

// close ends the file. Nobody may be heard any more; what is not committed was not done.
func (d *decisions) close() error {
	if err := d.file.Close(); err != nil {
		return fmt.Errorf("close %s: %w", d.file.Filename, err)
	}
	return nil
}
