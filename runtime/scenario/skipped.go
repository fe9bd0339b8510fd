package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/manifest"
	"leeward/messages/spelling"
)

// Skipped is a file under a directory that holds nothing to run, and why.
type Skipped struct{ File, Reason string }

// unused returns those of the skipped files that no scenario read, which are not part of any.
func unused(skipped []Skipped, read map[string]bool) []Skipped {
	return slices.DeleteFunc(skipped, func(s Skipped) bool { return read[filepath.Clean(s.File)] })
}

// heading is what a document says that it is.
type heading struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Spec       struct {
		Fleet, Nodes, Timeline, Expect yaml.Node
	} `yaml:"spec"`
}

// means reports whether a document was likely meant to be a Scenario, by its kind, its group or what is in it.
func (h *heading) means() bool {
	switch {
	case h.Kind == "":
		return h.Spec.Fleet.Kind != 0 || h.Spec.Nodes.Kind != 0 || h.Spec.Timeline.Kind != 0 || h.Spec.Expect.Kind != 0
	case spelling.Slip(h.Kind, []string{Kind}, mostSlips) != "":
		return true
	}
	group, _, _ := strings.Cut(h.APIVersion, "/")
	own, _, _ := strings.Cut(APIVersion, "/")
	return group == own && !slices.Contains(ownKinds, h.Kind)
}

// mostSlips is how many letters of a misspelt kind may be wrong.
const mostSlips = 2

// ownKinds are those of the group of Scenario that are something else.
var ownKinds = []string{"Governor", "EvictionBudget", "ClusterEvictionBudget", "FailoverPreview"}

// headings reads what the documents of a file say that they are. Fields of another form than a Scenario's do not count.
func headings(data []byte) (all []heading, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var h heading
		var misfit *yaml.TypeError
		switch err := decoder.Decode(&h); {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.As(err, &misfit):
		case err != nil:
			return all, err
		}
		all = append(all, h)
	}
}

// unfit says why a file without a Scenario is skipped, or what is wrong with one that was meant to hold a Scenario.
func (s Source) unfit(name string, data []byte) (reason string, problems manifest.Problems) {
	if bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "is binary", nil
	}
	documents, err := headings(data)
	if err != nil {
		return "is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: "), nil
	}
	var kinds []string
	for i := range documents {
		h := &documents[i]
		if h.means() {
			return "", s.misspelt(name, data, h)
		}
		if h.Kind != "" && !slices.Contains(kinds, h.Kind) {
			kinds = append(kinds, h.Kind)
		}
	}
	switch {
	case len(documents) == 0:
		return "is empty", nil
	case len(kinds) == 0:
		return "has no kind", nil
	}
	return "holds no Scenario, but " + strings.Join(kinds, ", "), nil
}

// misspelt returns the problems of a file whose Scenario is none by its heading: those that reading it has, or else that
// of the heading.
func (s Source) misspelt(name string, data []byte, h *heading) manifest.Problems {
	if _, problems := s.Decode(name, data); len(problems) > 0 {
		return problems
	}
	return problem(name, fmt.Sprintf("kind: %s of %s is not known; did you mean %s of %s?", h.Kind, h.APIVersion, Kind, APIVersion))
}
