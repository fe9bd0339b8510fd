package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario/replay"
)

// source is where a command reads objects: a server, or files.
type source interface {
	Get(ctx context.Context, r *catalog.Resource, namespace, name string) (api.Object, error)
	List(ctx context.Context, r *catalog.Resource, namespace, selector string) (all []api.Object, version string, err error)
}

// clusterFiles is a Kubernetes cluster as manifests, or a scenario, describe it.
type clusterFiles struct {
	objects  []api.Object
	settings messages.Settings
}

// kubernetesProfile is the profile of what is previewed of a cluster, where no scenario says otherwise.
const kubernetesProfile = "kubernetes"

// settled is for how long the cluster of files runs before anything is done to it: Deployments create their pods, and these start.
const settled = 30 * time.Second

// readCluster reads files, and lets owners of pods create them. The error names the file.
func readCluster(files []string, name string) (*clusterFiles, error) {
	s, err := readFleet(files, name)
	if err != nil {
		return nil, err
	}
	if !s.OfNodes && !slices.ContainsFunc(s.Objects, func(d manifest.Document) bool { _, is := d.Object.(*corev1.Node); return is }) {
		return nil, fmt.Errorf("%s: want a scenario of nodes, or manifests with a Node", strings.Join(files, ", "))
	}
	still := *s
	still.OfNodes, still.Profile, still.Timeline, still.Expect, still.Duration = true, cmp.Or(s.Profile, kubernetesProfile), nil, nil, settled
	settings, problems := config.Resolve(still.Profile, still.Config)
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	run, err := replay.Play(&still, replay.Options{Seed: cmp.Or(s.Seed, 1)})
	if err == nil {
		err = run.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(files, ", "), err)
	}
	return &clusterFiles{run.All(), settings}, nil
}

// Get returns one object.
func (f *clusterFiles) Get(_ context.Context, r *catalog.Resource, namespace, name string) (api.Object, error) {
	for _, o := range f.objects {
		if o.GetObjectKind().GroupVersionKind() == r.Kind && o.GetName() == name && o.GetNamespace() == namespace {
			return api.Copy(o), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.Kind.Group, Resource: r.Plural}, name)
}

// List returns those with some labels, in the order of the store.
func (f *clusterFiles) List(_ context.Context, r *catalog.Resource, namespace, selector string) (all []api.Object, version string, err error) {
	of, err := labels.Parse(selector)
	if err != nil {
		return nil, "", err
	}
	for _, o := range f.objects {
		if o.GetObjectKind().GroupVersionKind() == r.Kind && (namespace == "" || o.GetNamespace() == namespace) && of.Matches(labels.Set(o.GetLabels())) {
			all = append(all, api.Copy(o))
		}
	}
	return all, "", nil
}

// addFiles gives a command the flag that has it read files in place of a server.
func (e *editing) addFiles(c *cobra.Command) {
	c.Flags().StringArrayVarP(&e.files, "filename", "f", nil, "of nodes: manifests, or a scenario, to read instead of a server, and to leave as they are; may be given again")
	scenarioFlag(c, &e.scenario, &e.files)
	completeFilesOf(c, "filename", "yaml", "yml", "json")
}

// open reads the files that are named, which is always a dry run, or else connects to the server. The error has its exit code.
func (e *editing) open(c *cobra.Command) error {
	e.settings = func() (messages.Settings, error) { return config.Profile(kubernetesProfile) }
	switch {
	case len(e.files) == 0:
		if err := e.connect(c); err != nil {
			return misused(c, err)
		}
		return nil
	case e.resource != catalog.Nodes:
		return misused(c, errors.New("--filename is for nodes: clusters are edited at a server"))
	case e.dryRun.word == "server":
		return misused(c, errors.New("--dry-run=server is for a server, not for files"))
	}
	cluster, err := readCluster(e.files, e.scenario)
	if err != nil {
		return ofInput(err)
	}
	e.dryRun.word, e.from = "client", cluster
	e.settings = func() (messages.Settings, error) { return cluster.settings, nil }
	return nil
}
