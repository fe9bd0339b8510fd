package scenario

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

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
