// Package config makes settings: from a profile, and from what scenario files, the command line and
// people at run time set otherwise. A field is named as in messages.Settings with a small first
// letter, which is Karmada's flag in camelCase where Karmada has one. docs/profiles.md lists them all.
package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// Override sets one field.
type Override struct {
	Field string
	// Value is a scalar as YAML decodes it, or its text. For featureGates it may be a map, too.
	Value any
	// Source says where the override is written, for errors: "outage.yaml:7", "--set".
	Source string
}

// ParseOverride reads the "field=value" of a flag.
func ParseOverride(text, source string) (Override, error) {
	field, value, found := strings.Cut(text, "=")
	if !found || field == "" {
		return Override{}, fmt.Errorf("%s: %q is not of the form field=value", source, text)
	}
	return Override{Field: field, Value: value, Source: source}, nil
}

// Resolve returns the settings of a profile with the overrides on top; of two for one field the later
// holds. Feature gates are set last, so that one named outright holds against one that only follows
// from another field (see Set). It reports every problem; with any, the settings are not for use.
func Resolve(profile string, overrides []Override) (messages.Settings, []error) {
	var problems []error
	s, err := Profile(profile)
	if err != nil {
		problems = append(problems, err)
	}
	for _, gates := range []bool{false, true} {
		for _, o := range overrides {
			if isGate(o.Field) != gates {
				continue
			}
			for _, problem := range set(&s, o.Field, o.Value) {
				problems = append(problems, fmt.Errorf("%s: %w", o.Source, problem))
			}
		}
	}
	return s, problems
}

// Set changes one field, or both feature gates by the field featureGates. Asking for eviction with
// enableNoExecuteTaintEviction turns on the gate failover, too: one does nothing without the other.
// On an error, which names the field and the value, the settings stay as they were.
func Set(s *messages.Settings, field string, value any) error {
	return errors.Join(set(s, field, value)...)
}

func set(s *messages.Settings, field string, value any) []error {
	next, problems := *s, []error(nil)
	if field == featureGates {
		problems = setGates(&next, value)
	} else if err := setField(&next, field, value); err != nil {
		problems = []error{err}
	}
	if problems == nil {
		*s = next
	}
	return problems
}

func setField(s *messages.Settings, name string, value any) error {
	f, err := lookup(name)
	if err != nil {
		return err
	}
	if err := f.set(s, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if name == "enableNoExecuteTaintEviction" && s.EnableNoExecuteTaintEviction {
		s.Failover = true
	}
	return nil
}

// String returns a field's value as Set reads it, or "" for an unknown field.
func String(s *messages.Settings, field string) string {
	if field == featureGates {
		return gatesOf(s)
	}
	f, err := lookup(field)
	if err != nil {
		return ""
	}
	return f.Of(s)
}

// Changes tells the fields in which two settings differ, in the order of Fields.
func Changes(before, after *messages.Settings) []*messages.SettingChanged {
	var changes []*messages.SettingChanged
	for _, f := range fields {
		if from, to := f.Of(before), f.Of(after); from != to {
			changes = append(changes, &messages.SettingChanged{Field: f.Name, From: from, To: to})
		}
	}
	return changes
}

// Describe tells settings in few words: the profile that is nearest to them, the first of several, and the fields that differ
// from it, as ParseOverride reads them.
func Describe(s *messages.Settings) (profile string, differing []string) {
	fewest := -1
	for _, name := range Profiles() {
		from, _ := Profile(name) // one of those that there are
		changes := Changes(&from, s)
		if fewest >= 0 && len(changes) >= fewest {
			continue
		}
		profile, fewest = name, len(changes)
		differing = lists.Of(changes, func(c *messages.SettingChanged) string { return c.Field + "=" + c.To })
	}
	return profile, differing
}

// featureGates sets all gates together, as Karmada's flag --feature-gates does: the text
// "Failover=true,GracefulEviction=false", or a map.
const featureGates = "featureGates"

// gates are the feature gates by Karmada's names, each with its field.
var gates = map[string]string{
	"CustomizedClusterResourceModeling": "customizedClusterResourceModeling",
	"Failover":                          "failover",
	"FederatedQuotaEnforcement":         "federatedQuotaEnforcement",
	"GracefulEviction":                  "gracefulEviction",
	"MultiplePodTemplatesScheduling":    "multiplePodTemplatesScheduling",
	"PropagationPolicyPreemption":       "propagationPolicyPreemption",
	"StatefulFailoverInjection":         "statefulFailoverInjection",
	"WorkloadAffinity":                  "workloadAffinity",
}

func gateNames() []string { return slices.Sorted(maps.Keys(gates)) }

func isGate(field string) bool {
	return field == featureGates || slices.Contains(slices.Collect(maps.Values(gates)), field)
}

func setGates(s *messages.Settings, value any) (problems []error) {
	named, err := namedGates(value)
	if err != nil {
		return []error{err}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if err := setGate(s, name, named[name]); err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", featureGates, err))
		}
	}
	return problems
}

func setGate(s *messages.Settings, name string, value any) error {
	field, known := gates[name]
	if !known {
		return fmt.Errorf("unknown gate %q: the gates are %s%s", name, strings.Join(gateNames(), ", "), spelling.Hint(name, gateNames()))
	}
	return setField(s, field, value)
}

// namedGates returns the gates that a value names, with their values.
func namedGates(value any) (map[string]any, error) {
	if named, ok := value.(map[string]any); ok {
		return named, nil
	}
	text, err := scalar(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", featureGates, err)
	}
	named := map[string]any{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			return nil, fmt.Errorf("%s: %q is not of the form Failover=true,GracefulEviction=true", featureGates, text)
		}
		named[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return named, nil
}

// gatesOf writes all gates as Karmada's flag takes them.
func gatesOf(s *messages.Settings) string {
	pairs := gateNames()
	for i, name := range pairs {
		pairs[i] += "=" + String(s, gates[name])
	}
	return strings.Join(pairs, ",")
}
