package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// previewDrain asks the daemon what a drain of the clusters would lead to, and prints it.
func (d *draining) previewDrain(c *cobra.Command, args []string) error {
	targets, err := d.clustersNamed(args)
	if err != nil {
		return err
	}
	question := &api.FailoverPreview{}
	question.Name = "drain"
	err = d.each(c.Context(), targets, func(ctx context.Context, t target) error {
		drained, err := d.drained(ctx, t)
		question.Spec.Objects = append(question.Spec.Objects, drained)
		return err
	})
	if err != nil || len(question.Spec.Objects) == 0 {
		return err
	}
	answer, err := d.client.Create(c.Context(), catalog.Previews, question)
	switch {
	case apierrors.IsNotFound(err):
		say(c.ErrOrStderr(), "leeward: the server has no FailoverPreview: which bindings would be evicted is unknown\n")
		return nil
	case err != nil:
		return fmt.Errorf("ask what would be evicted: %w", err)
	}
	return printPreview(c.OutOrStdout(), &answer.(*api.FailoverPreview).Status)
}

// drained is a cluster as it would be while it is drained.
func (d *draining) drained(ctx context.Context, t target) (runtime.RawExtension, error) {
	o, err := d.client.Get(ctx, t.resource, "", t.name)
	if err != nil {
		return runtime.RawExtension{}, fmt.Errorf("read %s: %w", t, err)
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[api.AnnotationDrain] = d.deadline(time.Now())
	o.SetAnnotations(annotations)
	o.SetManagedFields(nil)
	o.SetResourceVersion("")
	text, err := json.Marshal(o)
	return runtime.RawExtension{Raw: text}, err
}

// printPreview prints a table as kubectl does: which bindings would be evicted, from where, where to and when; then the summary of the
// server, or that nothing would happen.
func printPreview(w io.Writer, p *api.FailoverPreviewStatus) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	if len(p.Evictions) > 0 {
		row(table, "NAMESPACE", "BINDING", "FROM", "TO", "AT", "REASON")
	}
	for i := range p.Evictions {
		e := &p.Evictions[i]
		row(table, e.Namespace, e.Name, e.FromCluster, placed(e.ToClusters), e.At.UTC().Format(time.RFC3339), e.Message)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	lines := p.Summary
	if len(lines) == 0 && p.Evicted+p.Unschedulable == 0 {
		lines = []string{"nothing would change"}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "preview: %s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// placed writes clusters with the replicas that each has: "eu-2 (2), us-1 (1)".
func placed(clusters []api.TargetCluster) string {
	if len(clusters) == 0 {
		return "<none>"
	}
	words := make([]string, len(clusters))
	for i, t := range clusters {
		words[i] = t.Name
		if t.Replicas > 0 {
			words[i] = fmt.Sprintf("%s (%d)", t.Name, t.Replicas)
		}
	}
	return strings.Join(words, ", ")
}
