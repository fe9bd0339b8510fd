// Package state holds the rules of state that survives a failover: which values of a copy's status go along,
// and how they are found. Pure functions of values.
//
// Source: Karmada's "Application-level Failover", stateful application failover.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/util/jsonpath"

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
		value, err := find(s, strings.TrimSpace(r.JSONPath))
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

// find follows a path of Kubernetes' JSONPath to the one value that it leads to. Several have no order that
// could be repeated, so they are none. Numbers are written as Go writes a float, as there.
func find(status map[string]any, path string) (string, error) {
	if !strings.HasPrefix(path, "{") || !strings.HasSuffix(path, "}") {
		return "", fmt.Errorf("want a path in braces, such as {.readyReplicas}")
	}
	p := jsonpath.New("path")
	if err := p.Parse(path); err != nil {
		return "", fmt.Errorf("read the path: %w", err)
	}
	found, err := p.FindResults(status)
	if err != nil {
		return "", err
	}
	if len(found) != 1 || len(found[0]) != 1 {
		return "", errNoSingleValue
	}
	switch value := found[0][0].Interface().(type) {
	case string, float64, bool:
		return fmt.Sprint(value), nil
	default:
		return "", errNoSingleValue
	}
}

var errNoSingleValue = errors.New("leads to no single value")
