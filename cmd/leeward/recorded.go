package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"leeward/messages/admission"
	"leeward/messages/manifest"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// load reads what files hold: scenarios first, then recordings. The error has every problem of the former, or those of
// the first recording that has any.
func (r *replaying) load(paths []string, stderr io.Writer) ([]*scenario.Scenario, error) {
	var plain []string
	var recordings []*scenario.Scenario
	mayHoldNone := map[string]bool{}
	r.recorded = map[*scenario.Scenario]*incident.Incident{}
	for _, path := range paths {
		found, err := recordingsOf(path)
		if err != nil {
			return nil, ofInput(err)
		}
		if len(found) == 0 || found[0] != path {
			plain, mayHoldNone[path] = append(plain, path), len(found) > 0
		}
		for _, file := range found {
			s, err := r.recording(file, stderr)
			if err != nil {
				return nil, ofInput(err)
			}
			recordings = append(recordings, s)
		}
	}
	if len(r.with) > 0 && len(plain) > 0 {
		return nil, invalid(errors.New("leeward: --with is for recordings: a scenario has its own manifests"))
	}
	scenarios, err := loadScenarios(plain, mayHoldNone, stderr)
	return append(scenarios, recordings...), err
}

// recordingsOf returns a path that is a recording, or the recordings in a directory that leeward record wrote.
func recordingsOf(path string) ([]string, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return recordingsIn(path)
	}
	return isRecording(path), nil
}

// recordingsIn are those in a directory, in the order of their paths.
func recordingsIn(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(name)
		if beginsRecording(data) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// isRecording returns a file if it is one, by its name.
func isRecording(path string) []string {
	if filepath.Ext(path) == ".jsonl" {
		return []string{path}
	}
	return nil
}

// recording reads a file that leeward record wrote.
func (r *replaying) recording(path string, stderr io.Writer) (*scenario.Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	with, err := manifests(r.with)
	if err != nil {
		return nil, err
	}
	i, err := incident.Read(path, data)
	if err != nil {
		return nil, err
	}
	for _, note := range i.Notes {
		say(stderr, fmt.Sprintf("%s: %s\n", path, note))
	}
	s := i.Scenario(incident.Under{With: with, Profile: r.profile, Set: r.set})
	r.recorded[s] = i
	return s, nil
}

// manifests reads those of files, in the namespaces that an API server would put them in.
func manifests(files []string) ([]manifest.Document, error) {
	decoder := manifest.NewDecoder(manifest.FleetKinds())
	var all []manifest.Document
	var problems manifest.Problems
	for _, file := range files {
		data, err := bounded(file)
		if err != nil {
			return nil, err
		}
		documents, wrong := decoder.Decode(file, data)
		all, problems = append(all, documents...), append(problems, wrong...)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	for _, d := range all {
		admission.DefaultNamespace(d.Object)
	}
	return all, nil
}

// hold holds the run of a recording against what was recorded.
func (r *replaying) hold(s *scenario.Scenario, run *replay.Run) {
	if recorded := r.recorded[s]; recorded != nil {
		run.Compared = recorded.Held(run, s, time.Duration(r.until))
		run.Assumed = recorded.Assumed().Lines()
	}
}
