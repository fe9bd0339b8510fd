package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"leeward/messages"
	"leeward/messages/spelling"
)

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
