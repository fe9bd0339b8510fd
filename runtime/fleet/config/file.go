package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ReadFile returns what a file sets: a mapping in YAML from fields to values, in the order of the file. Each has its
// line as its source, "leewardd.yaml:7". Whether there are such fields, and such values of them, is for the
// caller. It reports every problem.
func ReadFile(path string) ([]Override, []error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, []error{fmt.Errorf("read the configuration: %w", err)}
	}
	return Read(bytes.NewReader(text), filepath.Base(path))
}

// Read is ReadFile for a file that is open, under the name that its lines are to have.
func Read(text io.Reader, name string) (fields []Override, problems []error) {
	var document yaml.Node
	decoder := yaml.NewDecoder(text)
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, []error{fmt.Errorf("%s: not YAML: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, []error{fmt.Errorf("%s: more than one document", name)}
	}
	root := document.Content[0]
	if root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, []error{fmt.Errorf("%s:%d: not a mapping from fields to values", name, root.Line)}
	}
	for pair := range slices.Chunk(root.Content, 2) {
		o := Override{Field: pair[0].Value, Source: fmt.Sprintf("%s:%d", name, pair[0].Line)}
		if i := slices.IndexFunc(fields, func(other Override) bool { return other.Field == o.Field }); i >= 0 {
			problems = append(problems, fmt.Errorf("%s: %s: given at %s before", o.Source, o.Field, fields[i].Source))
			continue
		}
		if err := pair[1].Decode(&o.Value); err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", o.Source, o.Field, err))
			continue
		}
		fields = append(fields, o)
	}
	return fields, problems
}

// Known reports whether Set knows a field.
func Known(field string) bool {
	_, err := lookup(field)
	return err == nil || field == featureGates
}
