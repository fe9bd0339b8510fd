// Package state holds the rules of state that survives a failover: which values of a copy's status go along,
// and how they are found. Pure functions of values.
//
// Source: Karmada's "Application-level Failover", stateful application failover.
package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/messages/api"
)

// Status is what a copy reports of itself, with the counts that a workload with replicas has.
type Status map[string]any

// Of returns the status of a copy: the JSON object that it reported, empty for nothing, and its counts where
// it has replicas.
func Of(reported string, hasReplicas bool, ready, replicas int32) (Status, error) {
	s := Status{}
	if reported != "" {
		if err := json.Unmarshal([]byte(reported), &s); err != nil {
			return nil, fmt.Errorf("read the reported status: %w", err)
		}
	}
	if s == nil {
		s = Status{}
	}
	if hasReplicas {
		s["availableReplicas"], s["readyReplicas"], s["updatedReplicas"] = float64(ready), float64(ready), float64(ready)
		s["replicas"] = float64(max(ready, replicas))
	}
	return s, nil
}

// Extract returns the labels that the rules ask for, nil without rules. A path that leads nowhere, or to
// something else than a single value, is an error, as in Karmada.
func Extract(s Status, rules []api.StatePreservationRule) (map[string]string, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	labels := make(map[string]string, len(rules))
	for _, r := range rules {
		value, err := find(map[string]any(s), r.JSONPath)
		if err != nil {
			return nil, fmt.Errorf("label %s: path %s: %w", r.AliasLabelName, r.JSONPath, err)
		}
		labels[r.AliasLabelName] = value
	}
	return labels, nil
}

// Usable returns why values cannot go along: the API server of a member refuses a copy with a label whose
// value is none. Source: Kubernetes' "Labels and Selectors", syntax and character set.
func Usable(labels map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsValidLabelValue(labels[name]); len(problems) > 0 {
			return fmt.Errorf("label %s: value %q: %s", name, labels[name], problems[0])
		}
	}
	return nil
}

// find follows a path of the form {.name['name'][index]}: the part of Kubernetes' JSONPath that names one
// value. Numbers are written as Go writes a float, as there.
func find(value any, path string) (string, error) {
	inner, open := strings.CutPrefix(strings.TrimSpace(path), "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !open || !closed {
		return "", fmt.Errorf("want a path in braces, such as {.readyReplicas}")
	}
	for rest := strings.TrimPrefix(inner, "$"); rest != ""; {
		var err error
		if value, rest, err = step(value, rest); err != nil {
			return "", err
		}
	}
	switch value.(type) {
	case string, float64, bool:
		return fmt.Sprint(value), nil
	default:
		return "", fmt.Errorf("leads to no single value")
	}
}

// step follows the first part of a path and returns the others.
func step(value any, path string) (next any, rest string, err error) {
	if name, isName := strings.CutPrefix(path, "."); isName {
		end := strings.IndexAny(name, ".[")
		if end < 0 {
			end = len(name)
		}
		next, err = member(value, name[:end])
		return next, name[end:], err
	}
	part, rest, closed := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if path[0] != '[' || !closed {
		return nil, "", fmt.Errorf("cannot read %q", path)
	}
	if len(part) > 1 && part[0] == '\'' && part[len(part)-1] == '\'' {
		next, err = member(value, part[1:len(part)-1])
		return next, rest, err
	}
	next, err = item(value, part)
	return next, rest, err
}

func member(value any, name string) (any, error) {
	fields, isObject := value.(map[string]any)
	found, there := fields[name]
	switch {
	case name == "" || strings.ContainsAny(name, "*?(){}"):
		return nil, fmt.Errorf("cannot read the name %q", name)
	case !isObject || !there:
		return nil, fmt.Errorf("%s is not found", name)
	}
	return found, nil
}

func item(value any, index string) (any, error) {
	items, isList := value.([]any)
	i, err := strconv.Atoi(index)
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the index %q", index)
	case !isList || i < 0 || i >= len(items):
		return nil, fmt.Errorf("index %d is not found", i)
	}
	return items[i], nil
}
