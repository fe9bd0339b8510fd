package main

import (
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// printed writes a result as JSON, YAML, or in words by a function.
func printed(out io.Writer, form string, result any, words func() error) error {
	switch form {
	case "json":
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(result)
	case "yaml":
		text, err := yaml.Marshal(result)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	return words()
}
