package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

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
