package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leeward/runtime/fleet/config"
)

// configCommand prints the configuration that holds.
func configCommand(line *commandLine) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print the effective configuration",
		Long: "config prints every option and every setting after flags, file and profile, and beside each that differs from\n" +
			"the profile where it was set. The output is a configuration file.",
		Example: "  leewardd config --config docs/examples/leewardd.yaml\n  leewardd config --profile karmada > leewardd.yaml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := line.read()
			if err != nil {
				return err
			}
			return r.write(c.OutOrStdout())
		},
	}
}

// write prints a configuration as a file that says the same.
func (r *configuration) write(out io.Writer) error {
	var b strings.Builder
	b.WriteString("# The daemon itself: docs/operations.md.\n")
	var wrong error
	r.flags.VisitAll(func(flag *pflag.Flag) {
		text, err := inYAML(flag.Value)
		wrong = errors.Join(wrong, err)
		r.writeField(&b, config.FieldOf(flag.Name), text)
	})
	if wrong != nil {
		return fmt.Errorf("write the configuration: %w", wrong)
	}
	b.WriteString("\n# Its machines: docs/profiles.md.\n")
	for _, f := range config.Fields() {
		r.writeField(&b, f.Name, cmp.Or(f.Of(&r.settings), `""`))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// inYAML writes the value of an option on one line.
func inYAML(v pflag.Value) (string, error) {
	var value any = v.String()
	if list, ok := v.(pflag.SliceValue); ok {
		value = append([]string{}, list.GetSlice()...) // none is [], and not null
	} else if v.Type() != "string" {
		return v.String(), nil
	}
	text, err := json.Marshal(value) // which is YAML, too
	return string(text), err
}

func (r *configuration) writeField(b *strings.Builder, field, text string) {
	fmt.Fprintf(b, "%s: %s", field, text)
	if source := r.sources[field]; source != "" {
		fmt.Fprintf(b, " # %s", source)
	}
	b.WriteByte('\n')
}
