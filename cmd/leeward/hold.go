package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/client"
)

// holding is one command by which people have evictions wait, or not: its flags.
type holding struct {
	editing
	reason    string
	lasts     spanFlag
	now       bool
	namespace string
}

func newHolding(use, short, example string, run func(*holding, *cobra.Command, []string) error) (*holding, *cobra.Command) {
	h := &holding{editing: newEditing()}
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Long: short + ", at a running daemon. docs/storms.md says what waits, and what does not.",
		RunE: func(c *cobra.Command, args []string) error {
			if err := h.connect(c); err != nil {
				return misused(c, err)
			}
			return run(h, c, args)
		},
	}
	h.add(c)
	return h, c
}

func (h *holding) addReason(c *cobra.Command) {
	c.Flags().StringVar(&h.reason, "reason", "", "why, for whoever asks later")
}

func (h *holding) addFor(c *cobra.Command) {
	c.Flags().Var(&h.lasts, "for", "when it ends by itself (default: when it is ended)")
}

func (h *holding) addNamespace(c *cobra.Command) {
	c.Flags().StringVarP(&h.namespace, "namespace", "n", "default", "namespace of the binding")
}

func holdCommand() *cobra.Command {
	h, c := newHolding("hold cluster NAME|binding NAME --reason WHY", "Have the evictions from a cluster, or those of a binding, wait",
		"  leeward hold cluster member2 --reason \"its rack is moved\" --for 2h\n  leeward hold binding nginx-deployment -n shop --reason \"a release is under way\"",
		(*holding).hold)
	h.addReason(c)
	h.addFor(c)
	h.addNamespace(c)
	c.ValidArgsFunction = h.offerHeld
	return c
}

func releaseCommand() *cobra.Command {
	h, c := newHolding("release cluster NAME|binding NAME", "End a hold, and a release; with --now, have the evictions of a binding wait for nothing",
		"  leeward release cluster member2\n  leeward release binding nginx-deployment --now --reason \"a customer waits\"",
		(*holding).release)
	h.addReason(c)
	h.addNamespace(c)
	c.ValidArgsFunction = h.offerHeld
	c.Flags().BoolVar(&h.now, "now", false, "evictions of the binding go at once, whatever the limits, storms and holds")
	return c
}

func pauseCommand() *cobra.Command {
	h, c := newHolding("pause --reason WHY", "Have all evictions wait", "  leeward pause --reason \"the network is rebuilt\" --for 30m", (*holding).pause)
	c.Args, c.ValidArgsFunction = cobra.NoArgs, cobra.NoFileCompletions
	h.addReason(c)
	h.addFor(c)
	return c
}

func resumeCommand() *cobra.Command {
	_, c := newHolding("resume", "End a pause of all evictions", "  leeward resume", (*holding).resume)
	c.Args, c.ValidArgsFunction = cobra.NoArgs, cobra.NoFileCompletions
	return c
}

func (h *holding) hold(c *cobra.Command, args []string) error {
	p, err := h.target(args)
	if err == nil && strings.TrimSpace(h.reason) == "" {
		err = errors.New("--reason must say why")
	}
	if err != nil {
		return misused(c, err)
	}
	until := any(nil)
	if end := h.end(); end != "" {
		until = end
	}
	p.Body = annotated(map[string]any{api.AnnotationHold: h.reason, api.AnnotationHoldUntil: until})
	return h.send(c, p, "held")
}

func (h *holding) release(c *cobra.Command, args []string) error {
	p, err := h.target(args)
	switch {
	case err != nil:
	case h.now && p.Resource == catalog.Clusters:
		err = errors.New("--now goes with a binding")
	case h.now == (strings.TrimSpace(h.reason) == ""):
		err = errors.New("--now and --reason go together")
	}
	if err != nil {
		return misused(c, err)
	}
	done := "not held"
	changes := map[string]any{api.AnnotationHold: nil, api.AnnotationHoldUntil: nil}
	switch {
	case h.now:
		done, changes = "released", map[string]any{api.AnnotationRelease: h.reason}
	case p.Resource != catalog.Clusters:
		changes[api.AnnotationRelease] = nil
	}
	p.Body = annotated(changes)
	return h.send(c, p, done)
}

// end is when a hold ends by itself; empty: it does not.
func (h *holding) end() string {
	if h.lasts == 0 {
		return ""
	}
	return time.Now().Add(time.Duration(h.lasts)).UTC().Format(time.RFC3339)
}

// target is what a hold is about.
func (h *holding) target(args []string) (*client.Patch, error) {
	if len(args) != 2 {
		return nil, errors.New("want cluster NAME or binding NAME")
	}
	p := &client.Patch{Name: args[1]}
	switch kind := strings.ToLower(args[0]); {
	case isClusters(kind):
		p.Resource = catalog.Clusters
	case kind == "binding" || kind == "resourcebinding" || kind == "rb":
		p.Resource, p.Namespace = catalog.Bindings, h.namespace
	case kind == "clusterresourcebinding" || kind == "crb":
		p.Resource = catalog.ClusterBindings
	default:
		return nil, fmt.Errorf("want cluster, binding or clusterresourcebinding, not %s", args[0])
	}
	return p, nil
}

func (h *holding) send(c *cobra.Command, p *client.Patch, done string) error {
	if err := h.patch(c.Context(), p); err != nil {
		return refused(err)
	}
	return h.print(c, "%s/%s %s", strings.ToLower(p.Resource.Kind.Kind), p.Name, done)
}

func (h *holding) pause(c *cobra.Command, _ []string) error {
	if strings.TrimSpace(h.reason) == "" {
		return misused(c, errors.New("--reason must say why"))
	}
	pause := map[string]any{"reason": h.reason, "until": nil}
	if end := h.end(); end != "" {
		pause["until"] = end
	}
	if err := h.govern(c.Context(), pause); err != nil {
		return refused(err)
	}
	return h.print(c, "evictions paused")
}

func (h *holding) resume(c *cobra.Command, _ []string) error {
	if err := h.govern(c.Context(), nil); err != nil {
		return refused(err)
	}
	return h.print(c, "evictions resumed")
}

// govern writes the pause of the governor, which may not be there yet.
func (h *holding) govern(ctx context.Context, pause map[string]any) error {
	p := &client.Patch{Resource: catalog.Governors, Name: api.GovernorName, Body: map[string]any{"spec": map[string]any{"pause": pause}}}
	err := h.patch(ctx, p)
	if !apierrors.IsNotFound(err) || p.DryRun {
		return err
	}
	g := &api.Governor{}
	g.Name = api.GovernorName
	if err := h.client.Create(ctx, catalog.Governors, g); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return h.patch(ctx, p)
}
