package scenario

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"leeward/messages/manifest"
)

// Source finds and reads the files that scenarios name, by paths as the operating system has them.
type Source struct {
	Read func(name string) ([]byte, error)
	Glob func(pattern string) ([]string, error)
	// Scenario is which one is meant where Fleet finds several; empty: there must be one.
	Scenario string
}

// Disk is the file system.
var Disk = Source{Read: os.ReadFile, Glob: filepath.Glob}

// NoScenario is the problem of a path where there is nothing to run.
const NoScenario = "holds no Scenario"

// Find reads the scenarios of a file, or of every *.yaml, *.yml and *.json file under a directory that holds one, in the order
// of their paths. Scenarios with problems are omitted. It tells, too, which of these files under a directory hold no scenario and
// are not part of one.
func Find(path string) (scenarios []*Scenario, skipped []Skipped, problems manifest.Problems) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, problem(path, err.Error())
	}
	if !info.IsDir() {
		scenarios, problems = Disk.file(path)
		return scenarios, nil, problems
	}
	found := false
	read := map[string]bool{}
	reading := Source{Glob: Disk.Glob, Read: func(name string) ([]byte, error) {
		read[filepath.Clean(name)] = true
		return Disk.Read(name)
	}}
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			return err
		}
		data, err := Disk.Read(name)
		if err != nil {
			return err
		}
		var some []*Scenario
		var wrong manifest.Problems
		if mentionsScenario(data) {
			some, wrong = reading.Decode(name, data)
		} else if reason, meant := reading.unfit(name, data); reason != "" {
			skipped = append(skipped, Skipped{name, reason})
		} else {
			wrong = meant
		}
		found = found || len(some)+len(wrong) > 0
		scenarios, problems = append(scenarios, some...), append(problems, wrong...)
		return nil
	})
	switch {
	case err != nil:
		problems = append(problems, problem(path, err.Error())...)
	case !found:
		problems = problem(path, NoScenario)
	}
	return scenarios, unused(skipped, read), problems
}

// mentionsScenario finds files that hold a Scenario, also where it cannot be parsed. The word is sought first: that takes a hundredth of
// what the pattern takes, and most fleets do not have it.
func mentionsScenario(data []byte) bool {
	return bytes.Contains(data, []byte("Scenario")) && kindScenario.Match(data)
}

var kindScenario = regexp.MustCompile(`["']?kind["']?\s*:\s*["']?Scenario\b`)

func (s Source) file(name string) ([]*Scenario, manifest.Problems) {
	data, err := s.Read(name)
	if err != nil {
		return nil, problem(name, err.Error())
	}
	scenarios, problems := s.Decode(name, data)
	if len(scenarios) == 0 && len(problems) == 0 {
		return nil, problem(name, NoScenario)
	}
	return scenarios, problems
}

// problem is one that a file has as a whole.
func problem(file, message string) manifest.Problems {
	return manifest.Problems{{File: file, Message: message}}
}

// include adds the manifests of the files that the patterns name, each file once.
func (r *reader) include(patterns []string) {
	included := map[string]bool{}
	for i, pattern := range patterns {
		path := fmt.Sprintf("spec.include[%d]", i)
		for _, name := range r.files(path, pattern) {
			if !included[name] {
				included[name] = true
				r.add(r.manifests(path, name, r.decoder))
			}
		}
	}
}

// manifests returns the documents of a file that is named at a path.
func (r *reader) manifests(path, name string, decoder *manifest.Decoder) []manifest.Document {
	if name == filepath.Clean(r.doc.Place.File) {
		r.bad(path, "%s is this very file", name)
		return nil
	}
	data, err := r.source.Read(name)
	if err != nil {
		r.cast.incomplete = true
		r.bad(path, "%v", err)
		return nil
	}
	docs, problems := decoder.Decode(name, data)
	r.problems = append(r.problems, problems...)
	r.cast.incomplete = r.cast.incomplete || len(problems) > 0
	if slices.ContainsFunc(docs, isScenario) {
		r.bad(path, "%s holds a Scenario: only manifests can be named here", name)
		return nil
	}
	return docs
}

// files returns the files that a pattern names, relative to the scenario's own.
func (r *reader) files(path, pattern string) []string {
	if pattern == "" || filepath.IsAbs(pattern) {
		r.bad(path, "want a path relative to this file, not %q", pattern)
		return nil
	}
	full := filepath.Join(filepath.Dir(r.doc.Place.File), filepath.FromSlash(pattern))
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{full}
	}
	names, err := r.source.Glob(full)
	switch {
	case err != nil:
		r.bad(path, "%q is not a glob pattern: %v", pattern, err)
	case len(names) == 0:
		r.cast.incomplete = true
		r.bad(path, "no file matches %q", pattern)
	}
	slices.Sort(names)
	return names
}
