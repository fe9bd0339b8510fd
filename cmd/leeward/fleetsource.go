package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
)

// fleetSource is where a command that predicts reads a fleet: files, or a live API server, of which it only lists objects.
type fleetSource struct {
	files  []string
	server serverFlags
}

const (
	// listTime bounds how long a server may take to list a fleet.
	listTime = 2 * time.Minute
	// mostListed bounds how many objects of a fleet a server may list.
	mostListed = 2_000_000
)

// fleetKinds are the kinds that a fleet is read as from a server. Templates of workloads and Secrets are not read: bindings have all
// that decisions go by.
var fleetKinds = []string{
	"PriorityClass", "Cluster", "ClusterTaintPolicy", "ClusterOverridePolicy", "OverridePolicy", "ClusterPropagationPolicy", "PropagationPolicy",
	"FederatedResourceQuota", "EvictionBudget", "ClusterEvictionBudget", "Governor", "ResourceBinding", "ClusterResourceBinding",
}

// fromFleetDoc says, for the help of a command, where it reads a fleet.
const fromFleetDoc = `The fleet is read from files (-f): manifests, the output of kubectl get -o yaml, of leeward store export, one recording, or
one scenario, whose timeline is ignored. A directory means all *.yaml, *.yml and *.json files below it. Without -f it is
read from the API server of a kubeconfig, that of leewardd or of Karmada, by lists alone: nothing is installed or written.`

func (s *fleetSource) add(c *cobra.Command) {
	c.Flags().StringArrayVarP(&s.files, "filename", "f", nil, "manifests, a dump, a recording, a scenario, or a directory of manifests, in place of a server; may be given again")
	if err := c.MarkFlagFilename("filename", "yaml", "yml", "json", "jsonl"); err != nil {
		panic(fmt.Sprintf("complete --filename: %v", err))
	}
	s.server.add(c)
}

// check reports flags that contradict each other.
func (s *fleetSource) check() error {
	if len(s.files) > 0 && (s.server.kubeconfig != "" || s.server.context != "") {
		return errors.New("want files (-f) or a server (--kubeconfig, --context), not both")
	}
	return nil
}

// words are the flags that name the source again.
func (s *fleetSource) words() (words []string) {
	for _, file := range s.files {
		words = append(words, "-f "+file)
	}
	if s.server.kubeconfig != "" {
		words = append(words, "--kubeconfig "+s.server.kubeconfig)
	}
	if s.server.context != "" {
		words = append(words, "--context "+s.server.context)
	}
	return words
}

// String names the source in errors.
func (s *fleetSource) String() string { return cmp.Or(strings.Join(s.files, ", "), "the server") }

// read returns the fleet. The error has its exit code.
func (s *fleetSource) read(ctx context.Context, warnings io.Writer) (*scenario.Scenario, error) {
	if len(s.files) == 0 {
		config, err := client.Load(s.server.kubeconfig, s.server.context)
		if err != nil {
			return nil, invalid(fmt.Errorf("%w; or name files with -f: manifests, a dump, a recording or a scenario", err))
		}
		c, err := client.New(config, warnings)
		if err != nil {
			return nil, invalid(err)
		}
		fleet, err := listFleet(ctx, c, config.Host)
		return fleet, refused(err)
	}
	fleet, err := fleetOf(s.files)
	if err != nil {
		return nil, ofInput(err)
	}
	return fleet, nil
}

// fleetOf reads the fleet that files and directories describe. The error names the file.
func fleetOf(paths []string) (*scenario.Scenario, error) {
	var files []string
	for _, path := range paths {
		some, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		files = append(files, some...)
	}
	if len(files) == 1 && filepath.Ext(files[0]) == ".jsonl" {
		data, err := os.ReadFile(files[0])
		if err != nil {
			return nil, err
		}
		if beginsRecording(data) {
			return recordedFleet(files[0], data)
		}
	}
	fleet, problems := scenario.Source{Read: readManifests, Glob: filepath.Glob}.Fleet(files)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	return fleet, nil
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
	for name, behaviour := range played.Members { // order-free: each by its name
		fleet.Members[name] = behaviour
	}
	return fleet, nil
}

// readManifests reads a file. One with an object a line, as leeward store export writes it, becomes a List with the same lines.
func readManifests(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil || filepath.Ext(name) != ".jsonl" {
		return data, err
	}
	if beginsRecording(data) {
		return nil, errors.New("a recording can only be named alone")
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	kept := lines[:0]
	for _, line := range lines {
		if len(bytes.TrimSpace(line)) > 0 && !expires(line) {
			kept = append(kept, line)
		}
	}
	return asList(kept), nil
}

// expires reports whether an exported object goes by itself, as an Event does: it is no part of a fleet.
func expires(line []byte) bool {
	return bytes.Contains(line, []byte(`"`+expiresAnnotation+`"`))
}

// asList makes objects in JSON the items of a List, each on a line of its own.
func asList(objects [][]byte) []byte {
	return slices.Concat([]byte(`{"apiVersion":"v1","kind":"List","items":[`), bytes.Join(objects, []byte(",\n")), []byte("]}\n"))
}

// listFleet lists what a fleet is made of. A kind that the server does not serve is empty there.
func listFleet(ctx context.Context, c *client.Client, host string) (*scenario.Scenario, error) {
	ctx, stop := context.WithTimeout(ctx, listTime)
	defer stop()
	var fleet []api.Object
	for i := range catalog.All {
		r := &catalog.All[i]
		if !slices.Contains(fleetKinds, r.Kind.Kind) {
			continue
		}
		all, _, err := c.List(ctx, r, "", "")
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("list %s of %s: %w", r.Plural, host, err)
		}
		if fleet = append(fleet, all...); len(fleet) > mostListed {
			return nil, fmt.Errorf("list %s of %s: more than %d objects", r.Plural, host, mostListed)
		}
	}
	return scenario.FleetOf(fleet, host), nil
}
