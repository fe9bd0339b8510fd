package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

func validateCommand() *cobra.Command {
	v := &validating{}
	c := &cobra.Command{
		Use:   "validate FILE|DIR...",
		Short: "Check manifests and scenarios without running them",
		Long: `Check manifests and scenarios without running them: read them strictly, default them and validate
them as the API server and Karmada's webhooks would. Every problem of every file is reported, with
its file, line, field and value. A directory means all *.yaml, *.yml and *.json files below it.
--profile and --set apply to manifests, and override what scenarios set, as in leeward replay.
A configuration file of leewardd is recognised by its fields; its profile and settings are checked too.

` + exitCodes,
		Example: `  leeward validate docs/examples
  leeward validate scenarios
  leeward validate docs/examples/taint-policy.yaml --profile karmada --set allowNoExecuteTaintPolicy=true
  kubectl get clustertaintpolicies -o yaml > live.yaml && leeward validate live.yaml --profile karmada`,
		Args:              arguments("a manifest, a scenario file or a directory"),
		ValidArgsFunction: completeFiles,
		RunE:              v.run,
	}
	profileFlag(c, &v.profile, "profile of settings to check under (default: the scenario's, or leeward)")
	c.Flags().Var(&v.set, "set", "setting to check under, as field=value; may be given again")
	return c
}

// validating is one validate command: its flags, and what it has seen.
type validating struct {
	profile          string
	set              overrideFlag
	files, scenarios int
	objects          int
	// configurations counts the configuration files of leewardd.
	configurations int
	problems       []error
}

func (v *validating) run(c *cobra.Command, paths []string) error {
	settings, wrong := config.Resolve(v.profile, v.set)
	if len(wrong) > 0 {
		return misused(c, errors.Join(wrong...))
	}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			v.problems = append(v.problems, err)
		}
		for _, file := range files {
			v.file(file, &settings)
		}
	}
	if len(v.problems) > 0 {
		return ofInput(errors.Join(v.problems...))
	}
	seen := []string{spelling.Count(v.files, "file"), spelling.Count(v.objects, "object"), spelling.Count(v.scenarios, "scenario")}
	if v.configurations > 0 {
		seen = append(seen, spelling.Count(v.configurations, "configuration")+" of leewardd")
	}
	_, err := fmt.Fprintln(c.OutOrStdout(), "valid: "+strings.Join(seen, ", "))
	return err
}

// filesOf returns a file itself, or the manifests under a directory in the order of their paths.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			files = append(files, name)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: contains no manifest", path)
	}
	return files, err
}

// file checks one file: its scenarios, each with all that belongs to it, or else its manifests under
// the settings that the flags ask for.
func (v *validating) file(name string, settings *messages.Settings) {
	v.files++
	data, err := os.ReadFile(name)
	if err != nil {
		v.problems = append(v.problems, err)
		return
	}
	if fields, problems := config.Read(bytes.NewReader(data), name); isConfiguration(fields) {
		v.configurations++
		v.problems = append(v.problems, problems...)
		v.configuration(fields)
		return
	}
	scenarios, problems := scenario.Disk.Decode(name, data)
	v.report(problems)
	for _, s := range scenarios {
		v.scenario(s)
	}
	if len(scenarios) == 0 {
		v.manifests(name, data, settings)
	}
}

// isConfiguration reports whether fields are those of a configuration file of leewardd: they name no kind of object, but
// a setting or an option of the daemon.
func isConfiguration(fields []config.Override) bool {
	named := func(is func(field string) bool) bool {
		return slices.ContainsFunc(fields, func(o config.Override) bool { return is(o.Field) })
	}
	ofObject := func(field string) bool { return field == "apiVersion" || field == "kind" }
	return !named(ofObject) && (named(config.Known) || named(isOption))
}

func isOption(field string) bool { return slices.Contains(config.Options(), field) }

// configuration checks the settings of a configuration file of leewardd under the profile that it names. The values of
// other options are the daemon's to check.
func (v *validating) configuration(fields []config.Override) {
	profile := v.profile
	var settings []config.Override
	for _, o := range fields {
		switch {
		case config.Known(o.Field):
			settings = append(settings, o)
		case !isOption(o.Field):
			v.problems = append(v.problems, config.Unknown(o))
		case o.Field == config.ProfileOption && v.profile == "":
			profile = fmt.Sprint(o.Value)
			if _, err := config.Profile(profile); err != nil {
				v.problems = append(v.problems, fmt.Errorf("%s: %w", o.Source, err))
				profile = "" // the settings are checked all the same
			}
		}
	}
	_, wrong := config.Resolve(profile, slices.Concat(settings, v.set))
	v.problems = append(v.problems, wrong...)
}

// manifests checks those of a file whose problems are known.
func (v *validating) manifests(name string, data []byte, settings *messages.Settings) {
	documents, _ := manifest.Decode(name, data)
	v.admit(documents, settings)
}

func (v *validating) scenario(s *scenario.Scenario) {
	v.scenarios++
	settings, wrong := config.Resolve(cmp.Or(v.profile, s.Profile), slices.Concat(s.Config, v.set))
	v.problems = append(v.problems, wrong...)
	if len(wrong) == 0 {
		v.admit(s.Objects, &settings)
	}
}

// admit checks objects as if each were new.
func (v *validating) admit(documents []manifest.Document, settings *messages.Settings) {
	for _, d := range documents {
		if d.Object.GetObjectKind().GroupVersionKind().Kind == scenario.Kind {
			continue // one with problems, reported already
		}
		v.objects++
		o := api.Copy(d.Object)
		admission.Default(o, settings, world.Start)
		v.report(d.Invalid(admission.Validate(o, nil, settings)))
	}
}

func (v *validating) report(problems manifest.Problems) {
	for _, p := range problems {
		v.problems = append(v.problems, p)
	}
}
