package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// composite is an action of GitHub, as far as its shell steps need it.
type composite struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			Name, Uses, Shell, Run string
			Env                    map[string]string
		}
	}
}

var expressions = regexp.MustCompile(`\$\{\{ *inputs\.([a-z-]+) *\}\}`)

// steps writes the shell steps of a composite action as one script, with inputs given as name=value, or at their defaults.
func steps(out io.Writer, file string, given []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var a composite
	if err := yaml.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	values := map[string]string{}
	for name, input := range a.Inputs { // order-free: each once
		values[name] = input.Default
	}
	for _, g := range given {
		name, value, _ := strings.Cut(g, "=")
		if _, known := a.Inputs[name]; !known {
			return fmt.Errorf("%s has no input %q", file, name)
		}
		values[name] = value
	}
	written := 0
	for _, s := range a.Runs.Steps {
		if s.Uses != "" {
			continue
		}
		if s.Shell != "bash" || s.Run == "" {
			return fmt.Errorf("%s: step %q has no shell, or nothing to run", file, s.Name)
		}
		fmt.Fprintln(out, "(")
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			value := expressions.ReplaceAllStringFunc(s.Env[name], func(e string) string { return values[expressions.FindStringSubmatch(e)[1]] })
			if strings.Contains(value, "${{") {
				return fmt.Errorf("%s: step %q: %s is not known here", file, s.Name, value)
			}
			fmt.Fprintf(out, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
		fmt.Fprintf(out, "%s\n) || exit\n", s.Run)
		written++
	}
	if a.Runs.Using != "composite" || written == 0 {
		return fmt.Errorf("%s is no composite action with shell steps", file)
	}
	return nil
}
