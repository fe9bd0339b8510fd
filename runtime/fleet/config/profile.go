package config

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"leeward/messages"
	"leeward/messages/spelling"
)

// Default is the profile of those who name none.
const Default = "leeward"

// Profiles returns the names of the profiles, oldest behaviour first.
func Profiles() []string { return []string{"karmada-legacy", "karmada", "kubernetes", "leeward"} }

// files has each profile as a configuration file: the profile that it begins with, and what it sets otherwise.
//
//go:embed profiles/*.yaml
var files embed.FS

var profiles = sync.OnceValue(func() map[string]messages.Settings {
	all := map[string]messages.Settings{}
	for _, name := range Profiles() {
		all[name] = read(name)
	}
	return all
})

// read returns the settings of a profile's file. It panics where the file is wrong.
func read(name string) (s messages.Settings) {
	file := "profiles/" + name + ".yaml"
	text, err := files.ReadFile(file)
	overrides, problems := Read(bytes.NewReader(text), file)
	problems = append(problems, err)
	for _, o := range overrides {
		if o.Field == "profile" {
			s = read(o.Value.(string))
		} else {
			problems = append(problems, set(&s, o.Field, o.Value)...)
		}
	}
	if err := errors.Join(problems...); err != nil {
		panic(fmt.Sprintf("config: %s: %v", file, err))
	}
	return s
}

// Profile returns the settings of a profile; no name is the default's. With an error, which lists the
// profiles there are, it returns those of the default.
func Profile(name string) (messages.Settings, error) {
	name = cmp.Or(name, Default)
	if s, known := profiles()[name]; known {
		return s, nil
	}
	return profiles()[Default], fmt.Errorf("unknown profile %q: the profiles are %s%s", name, strings.Join(slices.Sorted(slices.Values(Profiles())), ", "), spelling.Hint(name, Profiles()))
}

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
