package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
)

// Decode returns the scenarios of a file, without those that have problems, and all problems. Each gets
// the file's other documents and the files it includes.
func (s Source) Decode(file string, data []byte) ([]*Scenario, manifest.Problems) {
	return s.scenarios(func(d *manifest.Decoder) ([]manifest.Document, manifest.Problems) { return d.Decode(file, data) })
}

// DecodeNodes is Decode for a file that was not written but made: the root of each of its documents.
func (s Source) DecodeNodes(file string, roots []*yaml.Node) ([]*Scenario, manifest.Problems) {
	return s.scenarios(func(d *manifest.Decoder) ([]manifest.Document, manifest.Problems) { return d.DecodeNodes(file, roots) })
}

// scenarios returns the scenarios among documents that can be read as often as it takes.
func (s Source) scenarios(read func(*manifest.Decoder) ([]manifest.Document, manifest.Problems)) ([]*Scenario, manifest.Problems) {
	decoder := manifest.NewDecoder(kinds())
	docs, problems := read(decoder)
	broken, own, flawed := len(problems) > 0, docs, decoder.Flawed()
	var scenarios []*Scenario
	for _, doc := range docs {
		if !isScenario(doc) {
			problems = append(problems, foreign(doc)...)
			continue
		}
		if own == nil { // an earlier scenario of the file has what was read first
			decoder = manifest.NewDecoder(kinds())
			own, _ = read(decoder)
		}
		r := &reader{source: s, doc: doc, decoder: decoder, cast: newCast()}
		r.cast.incomplete = broken
		scenario := r.scenario(own)
		if !broken && len(r.problems) == 0 {
			scenarios = append(scenarios, scenario)
		}
		problems, own = append(problems, r.problems...), nil
	}
	problems = append(problems, s.further(flawed, docs, problems)...)
	slices.SortStableFunc(problems, func(a, b *manifest.Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return scenarios, problems
}

// further returns what else is wrong with scenarios whose form already has problems, except where a
// line has one: there the second would follow from the first.
func (s Source) further(flawed, docs []manifest.Document, known manifest.Problems) manifest.Problems {
	reported := map[int]bool{}
	for _, p := range known {
		reported[p.Line] = true
	}
	var more manifest.Problems
	for _, doc := range flawed {
		if !isScenario(doc) {
			continue
		}
		r := &reader{source: s, doc: doc, decoder: manifest.NewDecoder(kinds()), cast: newCast()}
		r.cast.incomplete = slices.ContainsFunc(flawed, func(d manifest.Document) bool { return !isScenario(d) })
		r.scenario(docs)
		more = append(more, r.problems...)
	}
	return slices.DeleteFunc(more, func(p *manifest.Problem) bool { return reported[p.Line] })
}

// foreign returns the problem of a Scenario that is of another group, none for any other object.
func foreign(doc manifest.Document) manifest.Problems {
	if doc.Object.GetObjectKind().GroupVersionKind().Kind != Kind {
		return nil
	}
	r := &reader{doc: doc}
	r.bad("apiVersion", "want %s", APIVersion)
	return r.problems
}

// scenario reads the document, beside the manifests of its own file.
func (r *reader) scenario(own []manifest.Document) *Scenario {
	spec := r.doc.Object.(*document).Spec
	if spec == nil {
		r.bad("spec", "required")
		return nil
	}
	r.members = map[messages.ClusterName]messages.MemberBehaviour{}
	r.memberNodes = map[messages.ClusterName]*messages.MemberNodes{}
	r.kubelets = map[messages.NodeName]messages.KubeletBehaviour{}
	r.duration = spec.Duration.orElse(0)
	if spec.Duration != nil && r.duration == 0 {
		r.bad("spec.duration", "must be more than 0; leave it out to run until nothing more is due")
	}
	if _, err := config.Profile(spec.Profile); err != nil {
		r.bad("spec.profile", "%v", err)
	}
	seed := uint64(1)
	if spec.Seed != nil {
		seed = *spec.Seed
	}
	r.add(own)
	r.include(spec.Include)
	r.fleet(spec.Fleet)
	r.nodes(spec.Nodes)
	timeline := r.timeline(spec.Timeline)
	r.boundNodes(timeline)
	return &Scenario{
		Name:        r.doc.Object.GetName(),
		Description: spec.Description,
		File:        r.doc.Place.File,
		Line:        r.doc.Line(""),
		Annotations: r.doc.Object.GetAnnotations(),
		Profile:     spec.Profile,
		Seed:        seed,
		Duration:    r.duration,
		Config:      r.settings("spec.config", &spec.Config),
		Timeline:    timeline,
		Expect:      r.expectations(spec.Expect),
		Objects:     r.objects,
		Members:     r.members,
		OfNodes:     len(r.cast.nodes.all) > 0 && len(r.memberNodes) == 0,
		MemberNodes: r.memberNodes,
		Kubelets:    r.kubelets,
	}
}

func isScenario(doc manifest.Document) bool {
	_, ok := doc.Object.(*document)
	return ok
}

// settings reads a mapping from fields to values, in the order written.
func (r *reader) settings(path string, n *yaml.Node) []config.Override {
	if n.Kind == 0 || n.Tag == "!!null" {
		return nil
	}
	var values map[string]any
	if !r.decode(path, n, &values) {
		return nil
	}
	place := map[string]int{} // 0 for what is merged in: the mapping's own come after it
	for i, key := range follow(n).Content {
		if i%2 == 0 {
			place[key.Value] = i + 1
		}
	}
	fields := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(place[a], place[b]), strings.Compare(a, b))
	})
	overrides := make([]config.Override, len(fields))
	var trial messages.Settings
	for i, field := range fields {
		at := path + "." + field
		overrides[i] = config.Override{Field: field, Value: values[field], Source: fmt.Sprintf("%s:%d", r.doc.Place.File, r.doc.Line(at))}
		if err := config.Set(&trial, field, values[field]); err != nil {
			r.bad(at, "%v", err)
		}
	}
	return overrides
}
