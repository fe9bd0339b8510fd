package shrink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/scenario"
)

// mapping is a mapping of YAML.
type mapping = map[string]any

// parts are a scenario and its manifests, taken apart into what can be omitted one by one.
type parts struct {
	name string
	// fixed are the fields of the spec that remain as they are.
	fixed mapping
	// config are settings, a field each; the elements of expect are nodes, so that nothing is omitted inside them.
	config, fleet, nodes, timeline, expect, manifests []any
	// known are the names that the fleet and the nodes had at first.
	known set
}

// lists are those that are reduced, in the order of how much an element of each brings along.
func (p *parts) lists() []*[]any {
	return []*[]any{&p.expect, &p.manifests, &p.fleet, &p.nodes, &p.timeline, &p.config}
}

// Size counts the parts of a scenario.
type Size struct{ Manifests, Clusters, Nodes, Steps, Expectations, Settings, Objects, Changes int }

func (p *parts) size() Size {
	return Size{
		Manifests: len(p.manifests), Clusters: len(p.fleet), Nodes: len(p.nodes), Steps: len(p.steps()), Expectations: len(p.expect), Settings: len(p.config),
	}
}

// String counts what there is: "3 manifests, 2 clusters, 1 step, 1 expectation".
func (s Size) String() string {
	var all []string
	for _, part := range []struct {
		n    int
		noun string
	}{{s.Manifests, "manifest"}, {s.Clusters, "cluster"}, {s.Nodes, "node"}, {s.Steps, "step"}, {s.Expectations, "expectation"}, {s.Settings, "setting"}, {s.Objects, "object"}, {s.Changes, "change"}} {
		if part.n > 0 {
			all = append(all, spelling.Count(part.n, part.noun))
		}
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}

// document returns the scenario as a document.
func (p *parts) document() mapping {
	spec := maps.Clone(p.fixed)
	for field, list := range map[string][]any{"fleet": p.fleet, "nodes": p.nodes, "timeline": p.steps(), "expect": p.expect} { // order-free: a field each
		if len(list) > 0 {
			spec[field] = list
		}
	}
	config := mapping{}
	for _, one := range p.config {
		maps.Copy(config, one.(mapping))
	}
	if len(config) > 0 {
		spec["config"] = config
	}
	return mapping{"apiVersion": scenario.APIVersion, "kind": scenario.Kind, "metadata": mapping{"name": p.name}, "spec": spec}
}

// steps are those of the timeline, without the clusters and nodes that were omitted: what is done to these is omitted with them, and a
// step that nothing else is done in.
func (p *parts) steps() (all []any) {
	gone := maps.Clone(p.known)
	for _, entry := range slices.Concat(p.fleet, p.nodes) {
		if m, is := entry.(mapping); is {
			delete(gone, Text(m["name"]))
		}
	}
	if len(gone) == 0 {
		return p.timeline
	}
	for _, step := range p.timeline {
		if m, is := step.(mapping); is {
			if step = without(m, gone); step == nil {
				continue
			}
		}
		all = append(all, step)
	}
	return all
}

// without is a step without some of its targets; nil: it has no other.
func without(step mapping, gone set) any {
	shorter := maps.Clone(step)
	for action, v := range step { // order-free: each by itself
		of, is := v.(mapping)
		if !is {
			continue
		}
		of = maps.Clone(of)
		for _, key := range targetKeys {
			switch target := of[key].(type) {
			case []any:
				left := slices.DeleteFunc(slices.Clone(target), func(one any) bool { return gone[Text(one)] })
				if of[key] = left; len(left) == 0 && len(target) > 0 {
					return nil
				}
			default:
				if gone[Text(target)] {
					return nil
				}
			}
		}
		shorter[action] = of
	}
	return shorter
}

// yaml writes all as one file, the manifests first.
func (p *parts) yaml() ([]byte, error) {
	var file bytes.Buffer
	e := yaml.NewEncoder(&file)
	e.SetIndent(2)
	for _, d := range append(slices.Clip(p.manifests), any(p.document())) {
		if err := e.Encode(d); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), e.Close()
}

// takeApart reads the file of a scenario, and what it includes. The scenario was read before, without a problem.
func takeApart(source scenario.Source, s *scenario.Scenario) (*parts, error) {
	documents, err := Documents(source, s.File)
	if err != nil {
		return nil, err
	}
	p := &parts{name: s.Name}
	var spec mapping
	for _, d := range documents {
		switch {
		case Text(d["kind"]) != scenario.Kind || Text(d["apiVersion"]) != scenario.APIVersion:
			p.manifests = append(p.manifests, d)
		case Text(under(d, "metadata")["name"]) == s.Name && spec == nil:
			spec = under(d, "spec")
		}
	}
	if spec == nil {
		return nil, fmt.Errorf("%s: there is no scenario %s", s.File, s.Name)
	}
	return p, p.take(source, s.File, spec)
}

// take takes the fields of a spec apart.
func (p *parts) take(source scenario.Source, file string, spec mapping) error {
	included := map[string]bool{}
	for _, pattern := range items(spec["include"]) {
		names, err := files(source, file, Text(pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if included[name] {
				continue
			}
			included[name] = true
			documents, err := Documents(source, name)
			if err != nil {
				return err
			}
			for _, d := range documents {
				p.manifests = append(p.manifests, d)
			}
		}
	}
	for _, step := range items(spec["timeline"]) {
		if err := inline(source, file, step); err != nil {
			return err
		}
		targets(step)
		p.timeline = append(p.timeline, step)
	}
	for _, e := range items(spec["expect"]) {
		n := &yaml.Node{}
		if err := n.Encode(e); err != nil {
			return err
		}
		p.expect = append(p.expect, n)
	}
	config, _ := spec["config"].(mapping)
	for _, field := range slices.Sorted(maps.Keys(config)) {
		p.config = append(p.config, mapping{field: config[field]})
	}
	p.fleet, p.nodes = spread(items(spec["fleet"])), spread(items(spec["nodes"]))
	p.known = set{}
	for _, entry := range slices.Concat(p.fleet, p.nodes) {
		if m, is := entry.(mapping); is && Text(m["name"]) != "" {
			p.known[Text(m["name"])] = true
		}
	}
	for _, field := range []string{"include", "timeline", "expect", "config", "fleet", "nodes", "description"} {
		delete(spec, field)
	}
	p.fixed = spec
	return nil
}

// mostSpread is how many entries a list has at the most in which patterns are written out.
const mostSpread = 500

// spread writes entries with a pattern as their name out, one for each name, so that they can be omitted one by one.
func spread(entries []any) (all []any) {
	for _, e := range entries {
		m, is := e.(mapping)
		names, err := scenario.ExpandBraces(Text(m["name"]))
		if !is || err != nil || len(names) < 2 || len(all)+len(names) > mostSpread {
			all = append(all, e)
			continue
		}
		for _, name := range names {
			one := deepCopy(m).(mapping)
			one["name"] = name
			all = append(all, one)
		}
	}
	return all
}

// targetKeys are the fields that say what a step is about.
var targetKeys = []string{"cluster", "node"}

// targets writes patterns out that say which clusters or nodes the action of a step is about, as a list of names.
func targets(step any) {
	m, _ := step.(mapping)
	for _, action := range m { // order-free: each by itself
		of, _ := action.(mapping)
		for _, key := range targetKeys {
			list, several := of[key].([]any)
			if !several {
				list = []any{of[key]}
			}
			var all []any
			for _, one := range list {
				names, err := scenario.ExpandBraces(Text(one))
				if err != nil || len(names) < 2 || len(names) > mostSpread {
					all = append(all, one)
					continue
				}
				several = true
				for _, name := range names {
					all = append(all, name)
				}
			}
			if several {
				of[key] = all
			}
		}
	}
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case mapping:
		all := mapping{}
		for key, value := range v { // order-free: each by itself
			all[key] = deepCopy(value)
		}
		return all
	case []any:
		return lists.Of(v, deepCopy)
	}
	return v
}

// inline puts the manifests of files that a step applies in their place.
func inline(source scenario.Source, file string, step any) error {
	m, _ := step.(mapping)
	applied := m["apply"]
	if applied == nil {
		return nil
	}
	list, several := applied.([]any)
	if !several {
		list = []any{applied}
	}
	var all []any
	for _, one := range list {
		pattern, is := one.(mapping)["file"]
		if !is {
			all = append(all, one)
			continue
		}
		names, err := files(source, file, Text(pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			documents, err := Documents(source, name)
			if err != nil {
				return err
			}
			for _, d := range documents {
				all = append(all, d)
			}
		}
	}
	m["apply"] = all
	return nil
}

// files are those that a pattern names, relative to the scenario's own file.
func files(source scenario.Source, of, pattern string) ([]string, error) {
	full := filepath.Join(filepath.Dir(of), filepath.FromSlash(pattern))
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{full}, nil
	}
	names, err := source.Glob(full)
	slices.Sort(names)
	return names, err
}

// Documents returns the documents of a file, those of Lists one by one, as what YAML decodes to: mappings, lists, whole numbers, truth
// values and texts; other scalars, and texts without quotes, are nodes as they are written. Comments, anchors and aliases are resolved.
func Documents(source scenario.Source, name string) (all []mapping, err error) {
	data, err := source.Read(name)
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		root := &yaml.Node{}
		if err := d.Decode(root); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		value, err := plain(root, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if m, is := value.(mapping); is {
			all = append(all, flat(m)...)
		}
	}
}

// flat returns a document, or the items of a List.
func flat(m mapping) (all []mapping) {
	list, is := m["items"].([]any)
	if kind := Text(m["kind"]); !is || !strings.HasSuffix(kind, "List") {
		return []mapping{m}
	}
	for _, item := range list {
		if one, is := item.(mapping); is {
			all = append(all, flat(one)...)
		}
	}
	return all
}

// deepest is how deep values may lie inside each other.
const deepest = 100

// plain returns what a node says, without comments, anchors and aliases: mappings, lists, whole numbers, truth values and texts.
// Other scalars, and plain texts, remain as they are written.
func plain(n *yaml.Node, depth int) (any, error) {
	if depth > deepest {
		return nil, errors.New("values lie too deep inside each other")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(n.Content[0], depth+1)
	case yaml.AliasNode:
		return plain(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := plain(c, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return plainMapping(n, depth)
	}
	return scalar(n), nil
}

func plainMapping(n *yaml.Node, depth int) (any, error) {
	m, merged := mapping{}, mapping{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := plain(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key := n.Content[i]; key.Tag != "!!merge" {
			m[key.Value] = v
			continue
		}
		from, several := v.([]any)
		if !several {
			from = []any{v}
		}
		for _, one := range slices.Backward(from) { // the first holds
			if inherited, is := one.(mapping); is {
				maps.Copy(merged, inherited)
			}
		}
	}
	maps.Copy(merged, m)
	return merged, nil
}

var wholeNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})$`)

func scalar(n *yaml.Node) any {
	quoted := n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	switch {
	case quoted && n.Tag == "!!str":
		return n.Value
	case !quoted && wholeNumber.MatchString(n.Value):
		i, err := strconv.Atoi(n.Value)
		if err == nil {
			return i
		}
	case !quoted && n.Value == "true", !quoted && n.Value == "false":
		return n.Value == "true"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: n.Tag, Value: n.Value, Style: n.Style}
}

// Text returns what a scalar of a document says; empty: it is none.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case *yaml.Node:
		return v.Value
	}
	return ""
}

func items(v any) []any {
	list, _ := v.([]any)
	return list
}

func under(m mapping, key string) mapping {
	inner, _ := m[key].(mapping)
	return inner
}
