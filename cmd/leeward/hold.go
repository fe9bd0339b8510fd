package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// holding is one command by which people have evictions wait, or not: its flags.
type holding struct {
	editing
	reason string
	lasts  spanFlag
	now    bool
	// ends is when the hold ends by itself; zero: when it is ended. Timeout is how long it is waited for the daemon to take it in.
	ends    time.Time
	timeout time.Duration
}

func newHolding(use, short, example string, run func(*holding, *cobra.Command, []string) error) (*holding, *cobra.Command) {
	h := &holding{editing: newEditing()}
	c := &cobra.Command{
		Use: use, Short: short, Example: example, Long: short + ", at a running daemon.\ndocs/storms.md describes what a hold blocks, and what not.\n\n" + editExitCodes,
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
	c.Flags().StringVar(&h.reason, "reason", "", "reason, which is stored and shown with each blocked eviction")
}

func (h *holding) addFor(c *cobra.Command) {
	c.Flags().Var(&h.lasts, "for", "how long it lasts (default: until it is ended)")
}

func holdCommand() *cobra.Command {
	h, c := newHolding("hold (clusters NAME... | bindings NAME... | WORKLOAD...) --reason WHY", "Block the evictions from a cluster, or those of a binding",
		"  leeward hold clusters member2 --reason \"its rack is moved\" --for 2h\n  leeward hold deployment/nginx -n shop --reason \"a release is under way\"",
		(*holding).hold)
	h.addReason(c)
	h.addFor(c)
	h.addTimeout(c)
	h.addChoice(c)
	c.ValidArgsFunction = h.offerHeld
	return c
}

func releaseCommand() *cobra.Command {
	h, c := newHolding("release (clusters NAME... | bindings NAME... | WORKLOAD...)", "End a hold or an earlier release; with --now, let the evictions of a binding pass all limits",
		"  leeward release clusters member2\n  leeward release deployment/nginx --now --reason \"a customer waits\"",
		(*holding).release)
	h.addReason(c)
	h.addChoice(c)
	c.ValidArgsFunction = h.offerHeld
	c.Flags().BoolVar(&h.now, "now", false, "evictions of the binding start immediately, whatever the limits, storms and holds")
	return c
}

func pauseCommand() *cobra.Command {
	h, c := newHolding("pause --reason WHY", "Block all evictions", "  leeward pause --reason \"the network is rebuilt\" --for 30m", (*holding).pause)
	c.Args, c.ValidArgsFunction = cobra.NoArgs, cobra.NoFileCompletions
	h.addReason(c)
	h.addFor(c)
	h.addTimeout(c)
	return c
}

func resumeCommand() *cobra.Command {
	_, c := newHolding("resume", "End a pause of all evictions", "  leeward resume", (*holding).resume)
	c.Args, c.ValidArgsFunction = cobra.NoArgs, cobra.NoFileCompletions
	return c
}

func (h *holding) hold(c *cobra.Command, args []string) error {
	targets, err := h.targets(args)
	if err == nil && strings.TrimSpace(h.reason) == "" {
		err = errors.New("--reason is missing or empty: give a reason")
	}
	if err != nil {
		return misused(c, err)
	}
	return h.annotate(c, targets, "held", map[string]any{api.AnnotationHold: h.reason, api.AnnotationHoldUntil: h.written()})
}

func (h *holding) release(c *cobra.Command, args []string) error {
	targets, err := h.targets(args)
	aboutClusters := len(targets) == 0 || slices.ContainsFunc(targets, func(t target) bool { return t.resource == catalog.Clusters })
	switch {
	case err != nil:
	case h.now && aboutClusters:
		err = errors.New("--now is for bindings and workloads")
	case h.now == (strings.TrimSpace(h.reason) == ""):
		err = errors.New("--now and --reason must be given together")
	}
	if err != nil {
		return misused(c, err)
	}
	if h.now {
		return h.annotate(c, targets, "released", map[string]any{api.AnnotationRelease: h.reason})
	}
	ended := map[string]any{api.AnnotationHold: nil, api.AnnotationHoldUntil: nil}
	if !aboutClusters {
		ended[api.AnnotationRelease] = nil
	}
	return h.annotate(c, targets, "not held", ended)
}

// until is when a hold that begins now ends by itself; nil: it does not.
func (h *holding) until() *metav1.MicroTime {
	if h.lasts == 0 {
		return nil
	}
	if h.ends.IsZero() {
		h.ends = time.Now().Add(time.Duration(h.lasts)).UTC()
	}
	return &metav1.MicroTime{Time: h.ends}
}

// written is until as annotations and specs have it.
func (h *holding) written() any {
	if until := h.until(); until != nil {
		return until.Format(time.RFC3339)
	}
	return nil
}

// annotate writes annotations of each of the objects that are meant, and says what that makes of them.
func (h *holding) annotate(c *cobra.Command, targets []target, done string, annotations map[string]any) error {
	return refused(h.each(c.Context(), targets, func(ctx context.Context, t target) error {
		err := retry.RetryOnConflict(patience, func() error { return h.patch(ctx, t, annotated(annotations)) })
		if _, holds := annotations[api.AnnotationHold].(string); err == nil && holds {
			err = h.acknowledged(ctx, h.asked(&t))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		return h.print(c, t.String(), done)
	}))
}

func (h *holding) pause(c *cobra.Command, _ []string) error {
	if strings.TrimSpace(h.reason) == "" {
		return misused(c, errors.New("--reason is missing or empty: give a reason"))
	}
	err := h.govern(c.Context(), map[string]any{"reason": h.reason, "until": h.written()})
	if err == nil {
		err = h.acknowledged(c.Context(), h.asked(nil))
	}
	if err != nil {
		return refused(err)
	}
	return h.print(c, "evictions", "paused")
}

func (h *holding) resume(c *cobra.Command, _ []string) error {
	if err := h.govern(c.Context(), nil); err != nil {
		return refused(err)
	}
	return h.print(c, "evictions", "resumed")
}

// govern writes the pause of the governor, which may not be there yet.
func (h *holding) govern(ctx context.Context, pause map[string]any) error {
	t := target{resource: catalog.Governors, name: api.GovernorName}
	body := map[string]any{"spec": map[string]any{"pause": pause}}
	return retry.RetryOnConflict(patience, func() error {
		err := h.patch(ctx, t, body)
		if !apierrors.IsNotFound(err) || h.dryRun.word != "none" {
			return err
		}
		g := &api.Governor{}
		g.Name = api.GovernorName
		if _, err := h.client.Create(ctx, catalog.Governors, g); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return h.patch(ctx, t, body)
	})
}

// asksAgain is how often it is looked whether the machines have taken a hold in.
const asksAgain = 50 * time.Millisecond

func (h *holding) addTimeout(c *cobra.Command) {
	c.Flags().DurationVar(&h.timeout, "timeout", 30*time.Second, "how long to wait for the daemon to acknowledge it; after that no held eviction begins; 0 does not wait")
}

// acknowledged waits until the Governor shows a hold: then the machines have taken it in, and no eviction begins any more that it
// is about. It says so where that takes too long.
func (h *holding) acknowledged(ctx context.Context, want *api.HoldStatus) error {
	if h.timeout == 0 || h.dryRun.word != "none" {
		return nil
	}
	err := wait.PollUntilContextTimeout(ctx, asksAgain, h.timeout, true, func(ctx context.Context) (bool, error) {
		g, err := h.client.Get(ctx, catalog.Governors, "", api.GovernorName)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil && slices.ContainsFunc(g.(*api.Governor).Status.Holds, func(k api.HoldStatus) bool { return same(&k, want) }), err
	})
	if wait.Interrupted(err) {
		return fmt.Errorf("it is stored, but the daemon has not acknowledged it for %s: evictions may begin until status.holds of the Governor shows it", h.timeout)
	}
	return err
}

// same reports whether two holds are of one scope, for one reason and as long.
func same(x, y *api.HoldStatus) bool {
	return x.Binding == y.Binding && x.Cluster == y.Cluster && x.Reason == y.Reason && ends(x) == ends(y)
}

// ends is when a hold ends, by an API's clock; empty: when it is ended.
func ends(h *api.HoldStatus) string {
	if h.Until == nil {
		return ""
	}
	return h.Until.UTC().Format(time.RFC3339)
}

// asked is the hold of a target that the command line asks for; of the fleet without one.
func (h *holding) asked(of *target) *api.HoldStatus {
	want := &api.HoldStatus{Reason: h.reason, Until: h.until()}
	switch {
	case of == nil:
	case of.resource == catalog.Clusters:
		want.Cluster = of.name
	default:
		want.Binding = string(messages.NameBinding(of.namespace, of.name))
	}
	return want
}
