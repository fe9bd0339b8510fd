package conformance

import (
	"maps"
	"slices"
	"strings"

	"leeward/runtime/fleet/config"
)

// overrides are the settings that the flags of all components ask for, in the order of their names. A
// flag without a setting, such as an address, shapes no decision.
func overrides(commandLines map[string]string) []config.Override {
	known := map[string]bool{"featureGates": true}
	for _, f := range config.Fields() {
		known[f.Name] = true
	}
	var all []config.Override
	for _, component := range slices.Sorted(maps.Keys(commandLines)) {
		for word := range strings.FieldsSeq(commandLines[component]) {
			flag, isFlag := strings.CutPrefix(word, "--")
			name, value, given := strings.Cut(flag, "=")
			if !given {
				value = "true"
			}
			if field := config.FieldOf(name); isFlag && known[field] {
				all = append(all, config.Override{Field: field, Value: value, Source: component + " --" + name})
			}
		}
	}
	return all
}
