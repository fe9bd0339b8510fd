// Package simulation tries to break the engine: it draws short random fleets, policies, settings and outages,
// replays each on the deterministic world under the invariants of package invariant, and cuts what broke one down
// to the smallest scenario that still does.
//
// A case is a scenario as people write it, so that what is tried is what `leeward replay` runs.
package simulation

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/lists"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
)

// mapping is a mapping of YAML.
type mapping = map[string]any

// Case is one scenario in parts that can be omitted one by one.
type Case struct {
	// Seed is what it was drawn from, and the seed of its run.
	Seed     uint64
	Profile  string
	Duration time.Duration
	// OfNodes is set where the case is about the nodes of one cluster, which are then its Fleet.
	OfNodes bool
	// Config are settings, a field each, Fleet clusters, Timeline steps and Manifests all other documents: what
	// YAML decodes to, mappings and lists all through.
	Config, Fleet, Timeline, Manifests []any
}

// YAML returns the case as a scenario file, with a description.
func (c *Case) YAML(description string) []byte {
	var file bytes.Buffer
	encoder := yaml.NewEncoder(&file)
	encoder.SetIndent(2)
	for _, d := range c.documents(description) {
		if err := encoder.Encode(d); err != nil {
			panic(fmt.Sprintf("simulation: write what was drawn: %v", err)) // maps, lists, numbers and texts
		}
	}
	return file.Bytes()
}

// documents are those of the scenario file: all manifests, and the scenario.
func (c *Case) documents(description string) []any {
	config := mapping{}
	for _, one := range c.Config {
		maps.Copy(config, one.(mapping))
	}
	spec := mapping{"description": description, "profile": c.Profile, "seed": c.Seed, "duration": span.String(c.Duration)}
	if c.OfNodes {
		spec["nodes"] = c.Fleet
	} else {
		spec["fleet"] = c.Fleet
	}
	if len(config) > 0 {
		spec["config"] = config
	}
	if len(c.Timeline) > 0 {
		spec["timeline"] = c.Timeline
	}
	document := mapping{
		"apiVersion": scenario.APIVersion, "kind": scenario.Kind,
		"metadata": mapping{"name": fmt.Sprintf("seed-%d", c.Seed)}, "spec": spec,
	}
	return append(slices.Clip(c.Manifests), document)
}

// plain returns a value as YAML decodes it: what is drawn has lists of texts and of mappings.
func plain(v any) any {
	switch v := v.(type) {
	case mapping:
		for key, value := range v { // order-free: each value by itself
			v[key] = plain(value)
		}
		return v
	case []mapping:
		return plainList(v)
	case []string:
		return plainList(v)
	default:
		return v
	}
}

func plainList[T any](list []T) []any {
	return lists.Of(list, func(l T) any { return plain(l) })
}

// Scenario returns the case as replay runs it. The error tells what the scenario language has against it.
//
// It decodes the nodes that a parser would make of the written case: to write a case and to parse it again would be a fifth of
// all the work.
func (c *Case) Scenario() (*scenario.Scenario, error) {
	documents := c.documents("drawn")
	roots := lists.Of(documents, node)
	scenarios, problems := scenario.Source{}.DecodeNodes(c.file(), roots)
	if len(problems) > 0 {
		return c.written()
	}
	return scenarios[0], nil
}

// written is Scenario of the case as people would read it: problems say their lines.
func (c *Case) written() (*scenario.Scenario, error) {
	scenarios, problems := scenario.Source{}.Decode(c.file(), c.YAML("drawn"))
	if len(problems) > 0 {
		return nil, problems
	}
	return scenarios[0], nil
}

func (c *Case) file() string { return fmt.Sprintf("seed-%d.yaml", c.Seed) }

// Size counts the parts of a case.
func (c *Case) Size() int {
	return len(c.Config) + len(c.Fleet) + len(c.Timeline) + len(c.Manifests)
}
