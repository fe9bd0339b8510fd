package main

import (
	"strings"

	"github.com/spf13/pflag"

	"leeward/runtime/fleet/config"
)

// settingFlags are the flags that set a setting: those of Karmada by their names, and --set for any.
func (c *commandLine) settingFlags() *pflag.FlagSet {
	set := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	set.Var(&settingFlag{to: &c.overrides}, "set", "set a setting: field=value, by its name in docs/profiles.md; may be repeated")
	add := func(name, field, kind string) {
		flag := set.VarPF(&settingFlag{name: name, field: field, kind: kind, to: &c.overrides}, name, "", "Karmada's: sets "+field)
		if kind == switched {
			flag.NoOptDefVal = "true"
		}
	}
	add("feature-gates", "featureGates", "gates")
	for _, f := range config.Fields() {
		name, isFlag := strings.CutPrefix(f.Flag, "--")
		name, _, _ = strings.Cut(name, " ") // a remark follows
		if isFlag && !strings.Contains(name, "=") {
			add(name, f.Name, kindOf(f))
		}
	}
	return set
}

// switched is the type of a flag that may be given without a value.
const switched = "bool"

func kindOf(f config.Field) string {
	switch f.Type() {
	case "true or false":
		return switched
	case "duration", "number":
		return f.Type()
	case "whole number":
		return "number"
	}
	return "word"
}

// settingFlag sets one field, or, without one, what its value names. Values are held to their types when the settings
// are made, with those of the file.
type settingFlag struct {
	name, field, kind string
	to                *[]config.Override
}

func (f *settingFlag) Set(value string) error {
	o := config.Override{Field: f.field, Value: value, Source: "--" + f.name}
	if f.field == "" {
		var err error
		if o, err = config.ParseOverride(value, "--set"); err != nil {
			return err
		}
	}
	*f.to = append(*f.to, o)
	return nil
}

func (f *settingFlag) String() string { return "" }

func (f *settingFlag) Type() string {
	if f.field == "" {
		return "field=value"
	}
	return f.kind
}
