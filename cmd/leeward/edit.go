package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/client"
	"leeward/runtime/fleet/catalog"
)

// patience is how long an edit is tried again because others write the same object: 15 to 31 s, 23 s on average, ever more
// seldom, and at random, so that fifty who begin together all find their turn.
var patience = wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1.1, Jitter: 1, Steps: 54}

const editExitCodes = `Exit codes:
  0  done, or nothing to change
  1  the server refused a change or did not answer; what was printed as done is done
  2  the command line is invalid
  3  an internal error, or a file that cannot be written`

// editing is one command that changes objects of a server: the flags that all of them have.
type editing struct {
	server serverFlags
	dryRun wordFlag
	// selector and all choose clusters instead of names.
	selector string
	all      bool
	// resource is what is edited.
	resource *catalog.Resource

	client *client.Client
	// files are read in place of a server; from is what is read, and settings what it is previewed under.
	files    []string
	scenario string
	from     source
	settings func() (messages.Settings, error)
}

func newEditing() editing {
	return editing{resource: catalog.Clusters, dryRun: wordFlag{"none", []string{"none", "client", "server"}}}
}

// add gives a command the flags of an edit.
func (e *editing) add(c *cobra.Command) {
	e.server.add(c)
	f := c.Flags()
	e.dryRun.add(c, "dry-run", "", "client prints what would be sent; server validates it and prints warnings; neither changes anything")
	f.Lookup("dry-run").NoOptDefVal = "client"
}

// addChoice gives a command the flags that choose objects.
func (e *editing) addChoice(c *cobra.Command) {
	c.Flags().StringVarP(&e.selector, "selector", "l", "", "those with these labels, instead of names")
	c.Flags().BoolVar(&e.all, "all", false, "all there are, instead of names")
	e.server.addNamespace(c)
}

// connect opens the connection; the server's warnings go to standard error.
func (e *editing) connect(c *cobra.Command) (err error) {
	e.client, err = e.server.connect(c.ErrOrStderr())
	e.from = e.client
	return err
}

// each does something to each of the objects that are meant, or that flags choose, and stops at the first error.
func (e *editing) each(ctx context.Context, targets []target, do func(context.Context, target) error) error {
	targets, err := e.orSelected(ctx, targets)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := do(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// every does something to each of some objects, also to those after one that fails, as kubectl does. The error is that of all that fail.
func (e *editing) every(ctx context.Context, targets []target, do func(context.Context, target) error) error {
	targets, err := e.orSelected(ctx, targets)
	errs := []error{err}
	for _, t := range targets {
		if ctx.Err() == nil {
			errs = append(errs, do(ctx, t))
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// orSelected are the named objects, or those that flags choose where none is named.
func (e *editing) orSelected(ctx context.Context, named []target) ([]target, error) {
	if len(named) > 0 {
		return named, nil
	}
	return e.selected(ctx)
}

// exist is an error where one of some objects does not.
func (e *editing) exist(ctx context.Context, targets []target) error {
	for _, t := range targets {
		if _, err := e.from.Get(ctx, t.resource, t.namespace, t.name); err != nil {
			return fmt.Errorf("read %s: %w", t, err)
		}
	}
	return nil
}

// selected are the objects that flags choose.
func (e *editing) selected(ctx context.Context) (targets []target, err error) {
	all, _, err := e.from.List(ctx, e.resource, "", e.selector)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", e.resource.Plural, err)
	}
	return lists.Of(all, func(o api.Object) target { return target{resource: e.resource, name: o.GetName()} }), nil
}

// object edits an object. The edit returns the merge patch that it asks for; nil: none. It is asked again where
// another writer was first, so that no write is lost.
func (e *editing) object(ctx context.Context, t target, edit func(api.Object) (map[string]any, error)) error {
	return retry.RetryOnConflict(patience, func() error {
		o, err := e.from.Get(ctx, t.resource, t.namespace, t.name)
		if err != nil {
			return fmt.Errorf("read %s: %w", t, err)
		}
		body, err := edit(o)
		if err != nil || body == nil {
			return err
		}
		body["metadata"] = withVersion(body["metadata"], o.GetResourceVersion())
		return e.patch(ctx, t, body)
	})
}

func withVersion(metadata any, version string) map[string]any {
	m, ok := metadata.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m["resourceVersion"] = version
	return m
}

// patch sends a merge patch as far as --dry-run lets it.
func (e *editing) patch(ctx context.Context, t target, body map[string]any) error {
	if e.dryRun.word == "client" {
		return nil
	}
	return e.client.Patch(ctx, &client.Patch{
		Resource: t.resource, Namespace: t.namespace, Name: t.name, Body: body, DryRun: e.dryRun.word == "server",
	})
}

// annotated is a merge patch of annotations; nil removes one.
func annotated(annotations map[string]any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": annotations}}
}

// print says what was done to what, and that it was not, as kubectl does: "cluster/eu-1 tainted (server dry run)".
func (e *editing) print(c *cobra.Command, what, done string) error {
	suffix := map[string]string{"none": "", "client": " (dry run)", "server": " (server dry run)"}[e.dryRun.word]
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s %s%s\n", what, done, suffix)
	return err
}
