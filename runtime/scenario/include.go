package scenario

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"leeward/messages/manifest"
)

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
