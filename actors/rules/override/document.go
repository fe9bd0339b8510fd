package override

import (
	"encoding/json"
	"fmt"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-openapi/jsonpointer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
	"leeward/messages/lists"
)

// document is a manifest while it is overridden. It is an object throughout.
type document struct{ fields map[string]any }

func read(manifest []byte) (*document, error) {
	d := &document{}
	if err := utiljson.Unmarshal(manifest, &d.fields); err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if d.fields == nil {
		return nil, fmt.Errorf("read manifest: want an object, not null")
	}
	return d, nil
}

func (d *document) key() api.Key { return api.KeyOf(&unstructured.Unstructured{Object: d.fields}) }

func (d *document) labels() map[string]string {
	return (&unstructured.Unstructured{Object: d.fields}).GetLabels()
}

// override applies the overriders of one rule in their order.
func (d *document) override(o *api.Overriders) error {
	for _, apply := range [...]func() error{
		func() error { return each("imageOverrider", o.ImageOverrider, d.image) },
		func() error { return each("commandOverrider", o.CommandOverrider, d.words("command")) },
		func() error { return each("argsOverrider", o.ArgsOverrider, d.words("args")) },
		func() error { return each("labelsOverrider", o.LabelsOverrider, d.metadata("labels")) },
		func() error { return each("annotationsOverrider", o.AnnotationsOverrider, d.metadata("annotations")) },
		func() error { return each("fieldOverrider", o.FieldOverrider, d.field) },
		func() error { return each("plaintext", o.Plaintext, d.plaintext) },
	} {
		if err := apply(); err != nil {
			return err
		}
	}
	return nil
}

// each applies the overriders of one list.
func each[T any](name string, list []T, apply func(*T) error) error {
	for i := range list {
		if err := apply(&list[i]); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return nil
}

// podKinds hold containers, under these fields.
var podKinds = map[string][]string{
	"Pod":         {"spec", "containers"},
	"Deployment":  {"spec", "template", "spec", "containers"},
	"StatefulSet": {"spec", "template", "spec", "containers"},
	"DaemonSet":   {"spec", "template", "spec", "containers"},
	"ReplicaSet":  {"spec", "template", "spec", "containers"},
	"Job":         {"spec", "template", "spec", "containers"},
}

// containers are those of a document whose kind has any, to be changed in place. Init containers are not among them,
// as in Karmada.
func (d *document) containers() []map[string]any {
	path, known := podKinds[d.key().Kind]
	if !known {
		return nil
	}
	found, _, _ := unstructured.NestedFieldNoCopy(d.fields, path...)
	list, _ := found.([]any)
	var containers []map[string]any
	for _, item := range list {
		if c, ok := item.(map[string]any); ok {
			containers = append(containers, c)
		}
	}
	return containers
}

// words changes the command or the args of a container, if there is one of its name. A Job keeps its own, as in
// Karmada.
func (d *document) words(field string) func(*api.CommandArgsOverrider) error {
	return func(o *api.CommandArgsOverrider) error {
		if d.key().Kind == "Job" {
			return nil
		}
		for _, c := range d.containers() {
			if c["name"] == o.ContainerName {
				c[field] = overridden(c[field], o)
			}
		}
		return nil
	}
}

// overridden returns the words of a container with others behind them, or without them.
func overridden(words any, o *api.CommandArgsOverrider) []any {
	list, _ := words.([]any)
	next := slices.Clone(list)
	if o.Operator == api.OverrideRemove {
		next = slices.DeleteFunc(next, func(word any) bool {
			text, ok := word.(string)
			return ok && slices.Contains(o.Value, text)
		})
	} else {
		for _, word := range o.Value {
			next = append(next, word)
		}
	}
	return next
}

// metadata changes labels or annotations.
func (d *document) metadata(field string) func(*api.MetadataOverrider) error {
	return func(o *api.MetadataOverrider) error {
		all, _, err := unstructured.NestedStringMap(d.fields, "metadata", field)
		if err != nil {
			return err
		}
		if all == nil {
			all = map[string]string{}
		}
		for name, value := range o.Value { // order-free: each name is there once
			_, there := all[name]
			switch {
			case o.Operator == api.OverrideRemove:
				delete(all, name)
			case there || o.Operator == api.OverrideAdd:
				all[name] = value
			}
		}
		if len(all) == 0 {
			unstructured.RemoveNestedField(d.fields, "metadata", field)
			return nil
		}
		return unstructured.SetNestedStringMap(d.fields, all, "metadata", field)
	}
}

// plaintext applies one operation of a patch to the document.
func (d *document) plaintext(o *api.PlaintextOverrider) error {
	raw, err := json.Marshal(d.fields)
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	patched, err := patch(raw, []operation{{o.Operator, o.Path, o.Value}})
	if err != nil {
		return err
	}
	next, err := read(patched)
	if err != nil {
		return err
	}
	*d = *next
	return nil
}

// operation is one of a JSON patch. Source: RFC 6902.
type operation struct {
	Operator api.OverriderOperator `json:"op"`
	Path     string                `json:"path"`
	Value    api.JSON              `json:"value"` // no part of a removal: it is not looked at
}

func patch(document []byte, operations []operation) ([]byte, error) {
	text, err := json.Marshal(operations)
	if err != nil {
		return nil, fmt.Errorf("write patch: %w", err)
	}
	p, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, fmt.Errorf("read patch: %w", err)
	}
	return p.Apply(document)
}

// text returns the text at a path, and sets another there.
func (d *document) text(path string) (text string, set func(string) error, err error) {
	pointer, err := jsonpointer.New(path)
	if err != nil {
		return "", nil, fmt.Errorf("path %q: %w", path, err)
	}
	value, _, err := pointer.Get(d.fields)
	if err != nil {
		return "", nil, fmt.Errorf("path %q: %w", path, err)
	}
	text, ok := value.(string)
	if !ok {
		return "", nil, fmt.Errorf("path %q: want a text, not %v", path, value)
	}
	return text, func(next string) error {
		_, err := pointer.Set(d.fields, next)
		return err
	}, nil
}

// field patches the document that a field holds. One without operations stays as it is.
func (d *document) field(o *api.FieldOverrider) error {
	text, set, err := d.text(o.FieldPath)
	if err != nil {
		return err
	}
	switch {
	case len(o.YAML) > 0:
		text, err = patchYAML(text, o.YAML)
	case len(o.JSON) > 0:
		text, err = patchJSON(text, o.JSON)
	}
	if err != nil {
		return fmt.Errorf("path %q: %w", o.FieldPath, err)
	}
	return set(text)
}

func patchJSON(text string, list []api.FieldOperation) (string, error) {
	operations := lists.Of(list, func(o api.FieldOperation) operation { return operation{o.Operator, o.SubPath, o.Value} })
	patched, err := patch([]byte(text), operations)
	return string(patched), err
}

func patchYAML(text string, list []api.FieldOperation) (string, error) {
	inJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return "", err
	}
	patched, err := patchJSON(string(inJSON), list)
	if err != nil {
		return "", err
	}
	inYAML, err := yaml.JSONToYAML([]byte(patched))
	return string(inYAML), err
}
