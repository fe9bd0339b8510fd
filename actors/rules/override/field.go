package override

import (
	"fmt"

	"github.com/go-openapi/jsonpointer"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
)

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
	operations := make([]operation, len(list))
	for i, o := range list {
		operations[i] = operation{o.Operator, o.SubPath, o.Value}
	}
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
