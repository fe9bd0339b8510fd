package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
)

// fleetSource is where a command that predicts reads a fleet: files, or a live API server, of which it only lists objects.
type fleetSource struct {
	files  []string
	server serverFlags
	// scenario is which one of the files is meant; empty: there is one at the most.
	scenario string
	// templates is set where policies of a server change: it then lists the workloads, too, for which policies may select others.
	templates bool
}

const (
	// listTime bounds how long a server may take to list a fleet.
	listTime = 2 * time.Minute
	// mostListed bounds how many objects of a fleet a server may list.
	mostListed = 2_000_000
	// mostFiles, mostFile and mostRead bound how many files a fleet has, and how many bytes one of them has and all have.
	mostFiles = 10_000
	mostFile  = 1 << 30
	mostRead  = 4 << 30
)

// fleetKinds are the kinds that a fleet is read as from a server. Secrets are not read, and templates of workloads only where policies
// change: bindings have all that decisions go by.
var fleetKinds = []string{
	"PriorityClass", "Cluster", "ClusterTaintPolicy", "ClusterOverridePolicy", "OverridePolicy", "ClusterPropagationPolicy", "PropagationPolicy",
	"FederatedResourceQuota", "EvictionBudget", "ClusterEvictionBudget", "Governor", "ResourceBinding", "ClusterResourceBinding",
}

// fromFleetDoc says, for the help of a command, where it reads a fleet.
const fromFleetDoc = `The fleet is read from files (-f): manifests, the output of kubectl get -o yaml, of leeward store export, one recording, or
one scenario, whose timeline is ignored (of several: --scenario). A directory means all *.yaml, *.yml and *.json files
below it. Without -f it is read from the API server of a kubeconfig, that of leewardd or of Karmada, by lists alone: nothing
is installed or written.`

func (s *fleetSource) add(c *cobra.Command) {
	c.Flags().StringArrayVarP(&s.files, "filename", "f", nil, "manifests, a dump, a recording, a scenario, a directory of manifests, or - for standard input, in place of a server; may be given again")
	completeFilesOf(c, "filename", "yaml", "yml", "json", "jsonl")
	s.server.add(c)
}

// addScenario adds the flag of commands that read one scenario of several.
func (s *fleetSource) addScenario(c *cobra.Command) { scenarioFlag(c, &s.scenario, &s.files) }

// scenarioFlag adds the flag that says which scenario of the files is meant.
func scenarioFlag(c *cobra.Command, name *string, files *[]string) {
	c.Flags().StringVar(name, "scenario", "", "name of the scenario that is meant, where the files or the directory have several")
	completeBy(c, "scenario", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return scenariosIn(*files), cobra.ShellCompDirectiveNoFileComp
	})
}

// check reports flags that contradict each other.
func (s *fleetSource) check() error {
	if len(s.files) > 0 && s.server.names() {
		return errors.New("want files (-f) or a server (--kubeconfig, --context), not both")
	}
	if s.live() && s.scenario != "" {
		return errors.New("--scenario chooses one of the scenarios in files: name them with -f")
	}
	return nil
}

// words are the flags that name the source again.
func (s *fleetSource) words() (words []string) {
	for _, file := range s.files {
		words = append(words, "-f "+shellWord(file))
	}
	if s.scenario != "" {
		words = append(words, "--scenario "+shellWord(s.scenario))
	}
	if s.server.kubeconfig != "" {
		words = append(words, "--kubeconfig "+shellWord(s.server.kubeconfig))
	}
	if s.server.context != "" {
		words = append(words, "--context "+shellWord(s.server.context))
	}
	return words
}

// String names the source in errors.
func (s *fleetSource) String() string { return cmp.Or(strings.Join(s.files, ", "), "the server") }

// live reports whether the fleet is that of a server.
func (s *fleetSource) live() bool { return len(s.files) == 0 }

// names reports whether a server is named, in place of the current one.
func (s *serverFlags) names() bool { return s.kubeconfig != "" || s.context != "" }

// read returns the fleet. The error has its exit code.
func (s *fleetSource) read(ctx context.Context, warnings io.Writer) (*scenario.Scenario, error) {
	if s.live() {
		objects, host, err := s.list(ctx, warnings)
		if err != nil {
			return nil, err
		}
		return scenario.FleetOf(objects, host), nil
	}
	fleet, err := fleetOf(s.files, s.scenario)
	if err != nil {
		return nil, ofInput(err)
	}
	return fleet, nil
}

// list returns the objects of the fleet of a server, and the server's host. The error has its exit code.
func (s *fleetSource) list(ctx context.Context, warnings io.Writer) (fleet []api.Object, host string, err error) {
	return s.listOf(ctx, warnings, fleetKinds)
}

// listOf returns the objects of some kinds.
func (s *fleetSource) listOf(ctx context.Context, warnings io.Writer, kinds []string) (fleet []api.Object, host string, err error) {
	c, host, err := s.connect(warnings)
	if err != nil {
		return nil, "", err
	}
	fleet, err = listFleet(ctx, c, host, kinds, s.templates)
	return fleet, host, refused(err)
}

// nodes returns the cluster of nodes whose API server is named. The error has its exit code.
func (s *fleetSource) nodes(ctx context.Context, warnings io.Writer) (*scenario.Scenario, error) {
	c, host, err := s.connect(warnings)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	objects, err := clusterObjects(ctx, c, warnings)
	if err != nil {
		return nil, refused(fmt.Errorf("%s: %w", host, err))
	}
	return scenario.FleetOf(objects, host), nil
}

// connect returns a client of the server, and its host. The error has its exit code.
func (s *fleetSource) connect(warnings io.Writer) (c *client.Client, host string, err error) {
	server, err := client.Load(s.server.kubeconfig, s.server.context)
	if err != nil {
		return nil, "", invalid(fmt.Errorf("%w; or name files with -f: manifests, a dump, a recording or a scenario", err))
	}
	if c, err = client.New(server, warnings); err != nil {
		return nil, "", invalid(err)
	}
	return c, server.Host, nil
}

// fleetOf reads the fleet that files and directories describe, or the scenario of a name in them. The error names the file.
func fleetOf(paths []string, name string) (*scenario.Scenario, error) {
	files, err := filesIn(paths)
	if err != nil {
		return nil, err
	}
	source := fromDisk(mostRead)
	source.Scenario = name
	return fleetFrom(source, files)
}

// fleetFrom reads the fleet that files describe.
func fleetFrom(source scenario.Source, files []string) (*scenario.Scenario, error) {
	if fleet, err := soleRecording(files); fleet != nil || err != nil {
		return fleet, err
	}
	fleet, problems := source.Fleet(files)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	return fleet, nil
}

// filesIn are the files that paths name, each once. In a directory, configuration files of leewardd hold nothing of a fleet.
func filesIn(paths []string) (files []string, err error) {
	for _, path := range paths {
		some := []string{path}
		if path != stdin {
			if some, err = filesOf(path); err != nil {
				return nil, err
			}
		}
		for _, file := range some {
			if file != path {
				data, err := bounded(file)
				if err != nil {
					return nil, err
				}
				if ofDaemon(file, data) {
					continue
				}
			}
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
		if len(files) > mostFiles {
			return nil, fmt.Errorf("%s: more than %d files", path, mostFiles)
		}
	}
	return files, nil
}

// ofDaemon reports whether a file configures leewardd.
func ofDaemon(file string, data []byte) bool {
	if bytes.Contains(data, []byte("apiVersion")) {
		return false // an object, which may be large
	}
	fields, _ := config.Read(bytes.NewReader(data), file)
	return isConfiguration(fields)
}

// fromDisk reads files, up to so many bytes of all of them together.
func fromDisk(most int64) scenario.Source {
	budget, counted := most, map[string]bool{}
	return scenario.Source{Glob: filepath.Glob, Read: func(name string) ([]byte, error) {
		data, err := readManifests(name)
		if !counted[name] {
			counted[name], budget = true, budget-int64(len(data))
		}
		if err == nil && budget < 0 {
			err = fmt.Errorf("the files are larger than %d MiB together", most>>20)
		}
		return data, err
	}}
}

// stdin is the name of standard input among files, as kubectl has it.
const stdin = "-"

// readStdin reads it once: both sides of a comparison may name it.
var readStdin = sync.OnceValues(func() ([]byte, error) { return boundedFile(os.Stdin, "standard input") })

// bounded reads a file that is not too large.
func bounded(name string) ([]byte, error) {
	if name == stdin {
		return readStdin()
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return boundedFile(f, name)
}

// pipes are those that were read: what was read of one cannot be read again.
var pipes struct {
	sync.Mutex
	known []pipe
}

type pipe struct {
	info os.FileInfo
	data []byte
}

// isPipe reports whether a file, such as that of <(kubectl get ...), is gone once it was read.
func isPipe(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// boundedFile reads a file and closes it; a pipe only the first time.
func boundedFile(f *os.File, name string) ([]byte, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return readBounded(f, info, err, name)
	}
	pipes.Lock()
	defer pipes.Unlock()
	if i := slices.IndexFunc(pipes.known, func(p pipe) bool { return os.SameFile(p.info, info) }); i >= 0 {
		return pipes.known[i].data, f.Close()
	}
	data, err := readBounded(f, info, nil, name)
	if err == nil {
		pipes.known = append(pipes.known, pipe{info, data})
	}
	return data, err
}

func readBounded(f *os.File, info os.FileInfo, err error, name string) ([]byte, error) {
	var data []byte
	if err == nil && info.Size() <= mostFile {
		data, err = io.ReadAll(io.LimitReader(f, mostFile+1)) // a pipe has no size
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && (info.Size() > mostFile || len(data) > mostFile) {
		err = fmt.Errorf("%s is larger than %d MiB", name, mostFile>>20)
	}
	return data, err
}

// soleRecording is the fleet of a recording that is named alone; nil: the files are others.
func soleRecording(files []string) (*scenario.Scenario, error) {
	if len(files) != 1 || filepath.Ext(files[0]) != ".jsonl" {
		return nil, nil
	}
	data, err := bounded(files[0])
	if err != nil || !beginsRecording(data) {
		return nil, err
	}
	return recordedFleet(files[0], data)
}

func beginsRecording(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return bytes.Contains(first, []byte(incident.Format))
}

// recordedFleet is the fleet as a recording begins.
func recordedFleet(file string, data []byte) (*scenario.Scenario, error) {
	recording, err := incident.Read(file, data)
	if err != nil {
		return nil, err
	}
	played := recording.Scenario(incident.Under{})
	fleet := scenario.FleetOf(played.Began.Objects, file)
	fleet.Profile, fleet.Config, fleet.Seed = played.Profile, played.Config, played.Seed
	maps.Copy(fleet.Members, played.Members)
	return fleet, nil
}

// readManifests reads a file. One with an object a line, as leeward store export writes it, becomes a List with the same lines.
func readManifests(name string) ([]byte, error) {
	data, err := bounded(name)
	if err != nil || filepath.Ext(name) != ".jsonl" {
		return data, err
	}
	if beginsRecording(data) {
		return nil, errors.New("a recording can only be named alone")
	}
	list := bytes.NewBufferString(`{"apiVersion":"v1","kind":"List","items":[`)
	first := true
	for line := range bytes.SplitSeq(bytes.TrimRight(data, "\n"), []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 && !expires(line) {
			if !first {
				list.WriteByte(',')
			}
			first = false
			list.Write(line)
		}
		list.WriteByte('\n')
	}
	list.WriteString("]}\n")
	return list.Bytes(), nil
}

// expires reports whether an exported object goes by itself, as an Event does: it is no part of a fleet.
func expires(line []byte) bool {
	return bytes.Contains(line, []byte(`"`+expiresAnnotation+`"`))
}

// listFleet lists what a fleet is made of, with the workloads that its bindings are for where templates are asked for. A kind that the
// server does not serve is empty there.
func listFleet(ctx context.Context, c *client.Client, host string, kinds []string, templates bool) (fleet []api.Object, err error) {
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	add := func(r *catalog.Resource) error {
		all, _, err := c.List(ctx, r, "", "")
		switch {
		case apierrors.IsNotFound(err), apierrors.IsForbidden(err) && lacks(ctx, c, r):
			return nil
		case err != nil:
			return fmt.Errorf("list %s of %s: %w", r.Plural, host, err)
		}
		if fleet = append(fleet, all...); len(fleet) > mostListed {
			return fmt.Errorf("list %s of %s: more than %d objects", r.Plural, host, mostListed)
		}
		return nil
	}
	for i := range catalog.All {
		if r := &catalog.All[i]; slices.Contains(kinds, r.Kind.Kind) {
			if err := add(r); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range catalog.OfNodes {
		if slices.Contains(kinds, r.Kind.Kind) {
			if err := add(r); err != nil {
				return nil, err
			}
		}
	}
	if !templates {
		return fleet, nil
	}
	bound := boundKinds(fleet)
	for i := range catalog.All {
		if r := &catalog.All[i]; bound[r.Kind] && !slices.Contains(fleetKinds, r.Kind.Kind) && r.Kind.Kind != "Secret" {
			if err := add(r); err != nil {
				return nil, err
			}
		}
	}
	return fleet, nil
}

// lacks reports whether a server does not have one of Leeward's own kinds, as Karmada's has none, and forbids it therefore.
func lacks(ctx context.Context, c *client.Client, r *catalog.Resource) bool {
	if r.Kind.GroupVersion().String() != api.LeewardGroupVersion {
		return false
	}
	serves, err := c.Serves(ctx, r)
	return err == nil && !serves
}

// boundKinds are the kinds of the workloads that bindings are for.
func boundKinds(fleet []api.Object) map[schema.GroupVersionKind]bool {
	kinds := map[schema.GroupVersionKind]bool{}
	for _, o := range fleet {
		if b := store.AsBinding(o); b != nil {
			kinds[schema.FromAPIVersionAndKind(b.Spec.Resource.APIVersion, b.Spec.Resource.Kind)] = true
		}
	}
	return kinds
}
