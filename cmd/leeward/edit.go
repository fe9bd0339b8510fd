package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/client"
)

// mostConflicts is how often an edit is tried again because somebody else wrote first.
const mostConflicts = 5

// editing is one command that changes objects of a server: the flags that all of them have.
type editing struct {
	server serverFlags
	dryRun wordFlag
	// selector and all choose clusters instead of names.
	selector string
	all      bool

	client *client.Client
}

func newEditing() editing {
	return editing{dryRun: wordFlag{"none", []string{"none", "client", "server"}}}
}

// add gives a command the flags of an edit.
func (e *editing) add(c *cobra.Command) {
	e.server.add(c)
	f := c.Flags()
	f.Var(&e.dryRun, "dry-run", "client says what would be sent; server has it judged, warnings and all; neither changes anything")
	f.Lookup("dry-run").NoOptDefVal = "client"
	complete(c, "dry-run", e.dryRun.choices)
}

// addChoice gives a command the flags that choose clusters.
func (e *editing) addChoice(c *cobra.Command) {
	c.Flags().StringVarP(&e.selector, "selector", "l", "", "clusters with these labels, instead of names")
	c.Flags().BoolVar(&e.all, "all", false, "every cluster, instead of names")
}

// connect opens the connection; the server's warnings go to standard error.
func (e *editing) connect(c *cobra.Command) (err error) {
	e.client, err = e.server.connect(c.ErrOrStderr())
	return err
}

// names are those of the clusters that are meant, after the word "cluster" or "clusters", if it is there.
func (e *editing) names(args []string) ([]string, error) {
	if len(args) > 0 && isClusters(args[0]) {
		args = args[1:]
	}
	chosen := e.selector != "" || e.all
	switch {
	case e.selector != "" && e.all, chosen && len(args) > 0:
		return nil, fmt.Errorf("want names, --selector or --all, not two of them")
	case !chosen && len(args) == 0:
		return nil, fmt.Errorf("at least one resource name must be specified")
	}
	return args, nil
}

func isClusters(word string) bool {
	return strings.EqualFold(word, "cluster") || strings.EqualFold(word, "clusters")
}

// each does something to each of the clusters that are meant, and stops at the first error.
func (e *editing) each(ctx context.Context, names []string, do func(context.Context, string) error) error {
	if len(names) == 0 {
		all, _, err := e.client.List(ctx, catalog.Clusters, "", e.selector)
		if err != nil {
			return err
		}
		for _, o := range all {
			names = append(names, o.GetName())
		}
	}
	for _, name := range names {
		if err := do(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// cluster edits a cluster. The edit returns the merge patch that it asks for; nil: none. It is asked again where
// somebody else wrote first, so that no write is lost.
func (e *editing) cluster(ctx context.Context, name string, edit func(*api.Cluster) (map[string]any, error)) error {
	for tries := 0; ; tries++ {
		o, err := e.client.Get(ctx, catalog.Clusters, "", name)
		if err != nil {
			return fmt.Errorf("read cluster %s: %w", name, err)
		}
		body, err := edit(o.(*api.Cluster))
		if err != nil || body == nil {
			return err
		}
		body["metadata"] = withVersion(body["metadata"], o.GetResourceVersion())
		err = e.patch(ctx, &client.Patch{Resource: catalog.Clusters, Name: name, Body: body})
		if !apierrors.IsConflict(err) || tries == mostConflicts {
			return err
		}
	}
}

func withVersion(metadata any, version string) map[string]any {
	m, ok := metadata.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m["resourceVersion"] = version
	return m
}

// patch sends a patch as far as --dry-run lets it.
func (e *editing) patch(ctx context.Context, p *client.Patch) error {
	if e.dryRun.word == "client" {
		return nil
	}
	p.DryRun = e.dryRun.word == "server"
	return e.client.Patch(ctx, p)
}

// annotated is a merge patch of annotations; nil removes one.
func annotated(annotations map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": annotations}}
}

// print says what was done, and that it was not, as kubectl does.
func (e *editing) print(c *cobra.Command, format string, args ...any) error {
	suffix := map[string]string{"none": "", "client": " (dry run)", "server": " (server dry run)"}[e.dryRun.word]
	_, err := fmt.Fprintf(c.OutOrStdout(), format+suffix+"\n", args...)
	return err
}
