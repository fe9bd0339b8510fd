package scenario

import (
	"slices"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

// Fleet reads the objects and members of a fleet: those of the first scenario of a file, or of any number of files of
// manifests, as one scenario that includes them all would have them.
func (s Source) Fleet(files []string) (*Scenario, manifest.Problems) {
	if len(files) == 1 {
		data, err := s.Read(files[0])
		if err != nil {
			return nil, problem(files[0], err.Error())
		}
		if mentionsScenario(data) {
			return s.first(files[0])
		}
	}
	r := &reader{source: s, decoder: manifest.NewDecoder(kinds()), cast: newCast(), members: map[messages.ClusterName]messages.MemberBehaviour{}}
	for _, name := range files {
		r.add(r.bare(name))
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
	docs := make([]manifest.Document, len(objects))
	for i, o := range objects {
		docs[i] = manifest.Document{Object: o, Place: manifest.Place{File: from, Object: api.KeyOf(o).String()}}
	}
	r.add(docs)
	return &Scenario{Objects: r.objects, Members: r.members}
}

// first returns the first scenario of a file.
func (s Source) first(name string) (*Scenario, manifest.Problems) {
	scenarios, problems := s.file(name)
	if len(problems) > 0 {
		return nil, problems
	}
	return scenarios[0], nil
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
		r.problems = append(r.problems, problem(name, "holds a Scenario, which can only be named alone")...)
	}
	return docs
}
