package config

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

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
	if name == "" {
		name = Default
	}
	if s, known := profiles()[name]; known {
		return s, nil
	}
	return profiles()[Default], fmt.Errorf("unknown profile %q: the profiles are %s%s", name, strings.Join(slices.Sorted(slices.Values(Profiles())), ", "), spelling.Hint(name, Profiles()))
}
