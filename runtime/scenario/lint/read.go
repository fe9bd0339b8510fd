package lint

import (
	"slices"
	"strings"

	"leeward/messages/manifest"
	"leeward/runtime/scenario"
)

// Read returns the fleets that files describe: each scenario with all that belongs to it, and the manifests that belong to none as
// one fleet. Where several files define the same object, each of those files is a fleet of its own; apart says so.
func Read(source scenario.Source, files []string) (fleets []*scenario.Scenario, apart bool, problems manifest.Problems) {
	var bare []string
	included := map[string]bool{}
	for _, file := range files {
		data, err := source.Read(file)
		if err != nil {
			problems = append(problems, &manifest.Problem{File: file, Message: err.Error()})
			continue
		}
		scenarios, wrong := source.Decode(file, data)
		problems = append(problems, wrong...)
		if len(wrong) > 0 {
			continue
		}
		if len(scenarios) == 0 {
			bare = append(bare, file)
		}
		for _, s := range scenarios {
			fleets = append(fleets, s)
			for _, d := range s.Objects {
				included[d.Place.File] = true
			}
			for i := range s.Timeline {
				if a, is := s.Timeline[i].Action.(*scenario.Apply); is {
					for _, d := range a.Documents {
						included[d.Place.File] = true
					}
				}
			}
		}
	}
	bare = slices.DeleteFunc(bare, func(file string) bool { return included[file] })
	if len(bare) == 0 {
		return fleets, false, problems
	}
	fleet, wrong := source.Fleet(bare)
	if len(wrong) > 0 && slices.ContainsFunc(wrong, twice) {
		for _, file := range bare {
			one, wrong := source.Fleet([]string{file})
			problems = append(problems, wrong...)
			fleets = append(fleets, one)
		}
		return fleets, true, problems
	}
	return append(fleets, fleet), false, append(problems, wrong...)
}

func twice(p *manifest.Problem) bool { return strings.Contains(p.Message, "defined twice") }
