package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/config"
	"leeward/runtime/scenario"
	"leeward/runtime/world"
)

func validateCommand() *cobra.Command {
	v := &validating{}
	c := &cobra.Command{
		Use:   "validate FILE|DIR...",
		Short: "Check manifests and scenarios without running them",
		Long: `Check manifests and scenarios without running them: read them strictly, default them and validate
them as the API server and Karmada's webhooks would. Every problem of every file is reported, with
its file, line, field and value. A directory stands for all *.yaml, *.yml and *.json files below it.

` + exitCodes,
		Example: `  leeward validate policies/*.yaml
  leeward validate scenarios
  kubectl get clustertaintpolicies -o yaml > live.yaml && leeward validate live.yaml --profile karmada`,
		Args:              arguments("a manifest, a scenario file or a directory"),
		ValidArgsFunction: completeFiles,
		RunE:              v.run,
	}
	c.Flags().StringVar(&v.profile, "profile", "", "profile of settings that manifests are checked under (default: leeward)")
	complete(c, "profile", config.Profiles())
	return c
}

// validating is one validate command: its flags, and what it has seen.
type validating struct {
	profile          string
	files, scenarios int
	objects          int
	problems         []error
}

func (v *validating) run(c *cobra.Command, paths []string) error {
	settings, wrong := config.Resolve(v.profile, nil)
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
		return invalid(errors.Join(v.problems...))
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "valid: %s, %s, %s\n",
		count(v.files, "file"), count(v.objects, "object"), count(v.scenarios, "scenario"))
	return err
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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
		err = fmt.Errorf("%s: holds no manifest", path)
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
	scenarios, problems := scenario.Disk.Decode(name, data)
	v.report(problems)
	for _, s := range scenarios {
		v.scenario(s)
	}
	if len(scenarios) == 0 {
		v.manifests(name, data, settings)
	}
}

// manifests checks those of a file whose problems are known.
func (v *validating) manifests(name string, data []byte, settings *messages.Settings) {
	documents, _ := manifest.Decode(name, data)
	v.admit(documents, settings)
}

func (v *validating) scenario(s *scenario.Scenario) {
	v.scenarios++
	settings, wrong := config.Resolve(s.Profile, s.Config)
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
