package scenario

import (
	"fmt"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
)

// Fleet reads the objects and members of a fleet: those of the scenario in a file, or of any number of files of manifests, as one
// scenario that includes them all would have them. Where s.Scenario names one, it is that scenario of the files.
func (s Source) Fleet(files []string) (*Scenario, manifest.Problems) {
	if len(files) == 1 || s.Scenario != "" {
		all, problems := s.Among(files)
		switch {
		case len(problems) > 0:
			return nil, problems
		case len(all) > 0 || s.Scenario != "":
			return s.choose(files, all)
		}
	}
	r := &reader{source: s, decoder: manifest.NewDecoder(kinds()), cast: newCast(), members: map[messages.ClusterName]messages.MemberBehaviour{}}
	for _, name := range files {
		r.add(r.bare(name))
	}
	if n := len(r.holders); n > 0 {
		others := ""
		switch {
		case n == 2:
			others = " (as does another file)"
		case n > 2:
			others = fmt.Sprintf(" (as do %d other files)", n-1)
		}
		r.problems = slices.DeleteFunc(r.problems, func(p *manifest.Problem) bool { return slices.Contains(r.holders, p.File) }) // which may follow from that
		r.problems = append(r.problems, problem(r.holders[0], "holds a Scenario"+others+", which can only be named alone, or be chosen with --scenario")...)
	}
	if len(r.problems) == 0 && len(r.objects) == 0 {
		r.problems = problem(files[0], "holds no manifest")
	}
	return &Scenario{Objects: r.objects, Members: r.members}, r.problems
}

// FleetOf is the fleet of objects that were not read from manifests: of a server, or of the beginning of a recording. Problems name
// them by from. Objects may change.
func FleetOf(objects []api.Object, from string) *Scenario {
	r := &reader{cast: newCast(), members: map[messages.ClusterName]messages.MemberBehaviour{}}
	docs := lists.Of(objects, func(o api.Object) manifest.Document {
		return manifest.Document{Object: o, Place: manifest.Place{File: from, Object: api.KeyOf(o).String()}}
	})
	r.add(docs)
	return &Scenario{Objects: r.objects, Members: r.members}
}

// Among reads the scenarios among files; the others are not decoded.
func (s Source) Among(files []string) (all []*Scenario, problems manifest.Problems) {
	for _, name := range files {
		data, err := s.Read(name)
		switch {
		case err != nil:
			problems = append(problems, problem(name, err.Error())...)
		case mentionsScenario(data):
			some, wrong := s.Decode(name, data)
			all, problems = append(all, some...), append(problems, wrong...)
		}
	}
	return all, problems
}

// mostNamed is how many scenarios an error names.
const mostNamed = 10

// choose returns the scenario that is asked for, or the only one.
func (s Source) choose(files []string, all []*Scenario) (*Scenario, manifest.Problems) {
	var names, places []string
	var chosen *Scenario
	for _, one := range all {
		names = append(names, one.Name)
		if s.Scenario == "" || one.Name == s.Scenario {
			chosen = one
			places = append(places, one.File)
		}
	}
	if beyond := len(names) - mostNamed; beyond > 0 {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", beyond))
	}
	named := strings.Join(names, ", ")
	switch {
	case len(places) == 1:
		return chosen, nil
	case s.Scenario == "":
		return nil, problem(files[0], fmt.Sprintf("holds %d scenarios, choose one with --scenario: %s", len(all), named))
	case len(all) == 0:
		return nil, problem(strings.Join(files[:min(len(files), mostNamed)], ", "), fmt.Sprintf("no scenario, so none that --scenario %s can choose", s.Scenario))
	case len(places) == 0:
		return nil, problem(all[0].File, fmt.Sprintf("no scenario %q%s; there are %s", s.Scenario, spelling.Hint(s.Scenario, names), named))
	}
	return nil, problem(places[0], fmt.Sprintf("scenario %q is in %s, too", s.Scenario, places[1]))
}

// bare returns the manifests of a file that is named beside others, and so may hold no scenario.
func (r *reader) bare(name string) []manifest.Document {
	data, err := r.source.Read(name)
	if err != nil {
		r.problems = append(r.problems, problem(name, err.Error())...)
		return nil
	}
	docs, problems := r.decoder.Decode(name, data)
	r.problems = append(r.problems, problems...)
	if slices.ContainsFunc(docs, isScenario) {
		r.holders = append(r.holders, name)
		return nil // objects of several scenarios may contradict each other
	}
	return docs
}
