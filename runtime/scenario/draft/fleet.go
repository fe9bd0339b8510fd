package draft

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"

	yaml "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/shrink"
)

// takeOver takes over the manifests and the fleet of a scenario, which no other scenario can include.
func (f *file) takeOver() error {
	documents, err := shrink.Documents(f.Source, f.Fleet.File)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if shrink.Text(d["kind"]) != scenario.Kind {
			f.manifests = append(f.manifests, d)
			continue
		}
		metadata, _ := d["metadata"].(map[string]any)
		if spec, is := d["spec"].(map[string]any); is && shrink.Text(metadata["name"]) == f.Fleet.Name && f.fleet == nil {
			if err := f.takeSpec(spec); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeOut writes the objects of a fleet that no file has in a form that a scenario includes, without what a server keeps for itself.
func (f *file) writeOut() error {
	for _, d := range f.Fleet.Objects {
		text, err := json.Marshal(d.Object)
		if err != nil {
			return fmt.Errorf("write %s: %w", d.Place.Object, err)
		}
		var m map[string]any
		if err := yaml.Unmarshal(text, &m); err != nil { // JSON is YAML, of which whole numbers stay whole
			return fmt.Errorf("write %s: %w", d.Place.Object, err)
		}
		metadata, _ := m["metadata"].(map[string]any)
		for _, own := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
			delete(metadata, own)
		}
		if annotations, is := metadata["annotations"].(map[string]any); is {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
		f.manifests = append(f.manifests, m)
	}
	return nil
}

func (f *file) takeSpec(spec map[string]any) error {
	patterns, _ := spec["include"].([]any)
	for _, p := range patterns {
		relative, err := relativeTo(f.Dir, filepath.Join(filepath.Dir(f.Fleet.File), filepath.FromSlash(shrink.Text(p))))
		if err != nil {
			return err
		}
		f.include = append(f.include, relative)
	}
	entries, _ := spec["fleet"].([]any)
	for _, e := range entries {
		m, is := e.(map[string]any)
		if !is {
			continue
		}
		if _, says := m["startup"]; !says {
			m["startup"] = span.String(f.Assess.Startup)
		}
		entry := fields("name", m["name"])
		delete(m, "name")
		add(entry, "", m)
		f.fleet = append(f.fleet, flow(entry))
	}
	return nil
}

// startups has clusters that only a manifest describes start copies in the time that the assessment takes for them.
func (f *file) startups() {
	if f.Assess.Startup == 0 {
		return
	}
	known := map[string]bool{}
	for _, entry := range f.fleet {
		names, _ := scenario.ExpandBraces(entry.Content[1].Value)
		for _, name := range names {
			known[name] = true
		}
	}
	for _, d := range f.Fleet.Objects {
		cluster, is := d.Object.(*api.Cluster)
		if !is || known[cluster.Name] {
			continue
		}
		known[cluster.Name] = true
		startup := f.Fleet.Members[messages.ClusterName(cluster.Name)].StartupMax // as a recording shows it
		f.fleet = append(f.fleet, flow(fields("name", cluster.Name, "startup", span.String(cmp.Or(startup, f.Assess.Startup)))))
	}
}

// fields are a mapping of keys and values, in this order.
func fields(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(pairs); i += 2 {
		add(m, pairs[i].(string), pairs[i+1])
	}
	return m
}

// add adds a field to a mapping; without a key, all fields of another.
func add(m *yaml.Node, key string, v any) {
	n := value(v)
	if key == "" {
		m.Content = append(m.Content, n.Content...)
		return
	}
	m.Content = append(m.Content, value(key), n)
}

func list(items []*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// flow writes a node on one line.
func flow(n *yaml.Node) *yaml.Node {
	n.Style |= yaml.FlowStyle
	return n
}

// value is a value as a node.
func value(v any) *yaml.Node {
	if n, is := v.(*yaml.Node); is {
		return n
	}
	n := &yaml.Node{}
	if err := n.Encode(v); err != nil {
		panic("draft: write what was read: " + err.Error()) // mappings, lists, numbers and texts
	}
	return n
}
