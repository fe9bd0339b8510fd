package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/store"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/explain"
	"leeward/runtime/scenario/forecast"
)

// page is the live page; nil: none is served.
func (d *daemon) page() *kubeapi.Page {
	if !d.started.ui {
		return nil
	}
	return &kubeapi.Page{Files: viewer.Live(), Explain: d.explain}
}

// explanation is why one object is as it is, in the words of leeward explain.
type explanation struct {
	Lines []string `json:"lines"`
	// Alone says what was not taken into account, of a large fleet.
	Alone string `json:"alone,omitempty"`
}

// mostExplained is how many bindings a fleet may have for all of them to be taken in by an explanation, and mostConcerned how many are of
// a larger one: to play more takes a processor for seconds.
const (
	mostExplained = 5000
	mostConcerned = 1000
)

// explain says why a binding, a cluster or a policy is as it is now.
func (d *daemon) explain(ctx context.Context, kind, name string) (any, error) {
	if kind != explain.KindBinding && kind != explain.KindCluster && kind != explain.KindPolicy {
		return nil, &kubeapi.ExplainError{Problem: fmt.Errorf("kind: want %s, %s or %s, not %q", explain.KindBinding, explain.KindCluster, explain.KindPolicy, kind)}
	}
	profile, set, err := overridesOf(d.machines.settings.Load())
	if err != nil {
		return nil, err
	}
	objects, alone := d.explained(kind, name)
	x, err := explain.RunContext(ctx, explain.Config{
		Scenario: scenario.FleetOf(objects, "the store"), Kind: kind, Name: name, Start: d.clock.Now().UTC().Truncate(time.Second), At: 1, Profile: profile, Set: set, Seed: d.machines.config.Seed,
	})
	var wrong *forecast.Invalid
	switch {
	case errors.As(err, &wrong):
		return nil, &kubeapi.ExplainError{Problem: wrong}
	case err != nil:
		return nil, err
	}
	var text bytes.Buffer
	if err := explain.WriteText(&text, x, false); err != nil {
		return nil, err
	}
	return explanation{strings.Split(strings.TrimSpace(text.String()), "\n"), alone}, nil
}

// overridesOf are settings as a profile and what differs from it.
func overridesOf(s *messages.Settings) (profile string, set []config.Override, err error) {
	profile, differing := config.Describe(s)
	for _, text := range differing {
		o, err := config.ParseOverride(text, "the configuration")
		if err != nil {
			return "", nil, err
		}
		set = append(set, o)
	}
	return profile, set, nil
}

// explained are copies of the objects that an explanation rests on: all that decisions go by; of a large fleet without the bindings
// that it is not about, which then count by what clusters report of them.
func (d *daemon) explained(kind, name string) (objects []api.Object, alone string) {
	all := 0
	for _, r := range []*catalog.Resource{catalog.Bindings, catalog.ClusterBindings} {
		all += d.engine.Table(r.Name()).Len()
	}
	left := mostConcerned
	for i := range catalog.All {
		r := &catalog.All[i]
		if r.Numerous() || r == catalog.Leases {
			continue // decisions do not go by them
		}
		for _, o := range d.engine.Table(r.Name()).Snapshot().Under("", "") {
			if b := store.AsBinding(o); b != nil && all > mostExplained {
				if !concerns(b, kind, name) {
					continue
				}
				if left--; left < 0 {
					continue
				}
			}
			objects = append(objects, api.Copy(o))
		}
	}
	if all > mostExplained {
		alone = fmt.Sprintf("of a fleet of %d bindings, those that this is not about count by what clusters report of them; leeward explain takes in all", all)
		if left < 0 {
			alone = fmt.Sprintf("this is about %d bindings, of which %d are taken in; %s", mostConcerned-left, mostConcerned, alone)
		}
	}
	return objects, alone
}

// concerns reports whether an explanation is about a binding.
func concerns(b *store.Binding, kind, name string) bool {
	switch kind {
	case explain.KindCluster:
		return api.FindTarget(b.Spec.Clusters, name) >= 0 || slices.ContainsFunc(b.Status.Evictions, func(e api.Eviction) bool { return e.Cluster == name })
	case explain.KindPolicy:
		owner := string(b.Owner())
		return owner == name || strings.HasSuffix(owner, "/"+name)
	}
	return string(b.Name()) == name || b.Meta.Name == name || b.Spec.Resource.Name == name[strings.LastIndexByte(name, '/')+1:]
}

// uiCommand prints the address of the live page.
func uiCommand(line *commandLine) *cobra.Command {
	var open bool
	var server string
	var lasts time.Duration
	u := kubeapi.User{}
	c := &cobra.Command{
		Use:   "ui [--open] [--user NAME] [--group GROUP...] [--for DURATION]",
		Short: "Print the address of the live page, with a token that opens it",
		Long: "ui prints the address of the live page of the daemon. With --open the address has a token, so that a browser\n" +
			"which opens it is signed in: as a viewer, unless --group says otherwise. A browser keeps the part of an address that\n" +
			"has the token to itself. A browser with the address is that user until the token ends: do not pass it on.\n\n" +
			"The daemon need not run. The token is signed with pki/tokens.key of --data-dir: to remove that file and to start the\n" +
			"daemon again ends all tokens.",
		Example: "  leewardd ui --open\n" +
			"  leewardd ui --open --user ada --group " + kubeapi.EditorGroup + " --for 30m",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			daemon, err := line.read()
			if err != nil {
				return err
			}
			switch {
			case !daemon.ui:
				return invalid("ui is false: the daemon serves no live page")
			case daemon.attach != "":
				return invalid("attach is set: the daemon serves no live page beside the API server of another cluster")
			}
			address := "https://" + cmp.Or(server, daemon.reached()) + "/ui/"
			if open {
				token, err := kubeapi.Token(daemon.dataDir, u, lasts, time.Now())
				if err != nil {
					return err
				}
				address += "#token=" + url.QueryEscape(token)
				c.PrintErrf("%s, in %s, until %s.\n", u.Name, strings.Join(u.Groups, ", "), time.Now().Add(lasts).Format(time.TimeOnly))
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), address)
			return err
		},
	}
	c.Flags().BoolVar(&open, "open", false, "sign a token and print an address that signs a browser in")
	c.Flags().StringVar(&u.Name, "user", "leeward:ui", "name of the user of the token")
	c.Flags().StringArrayVar(&u.Groups, "group", []string{kubeapi.ViewerGroup}, "a group of the user; "+kubeapi.EditorGroup+" may taint, drain, hold and pause")
	c.Flags().DurationVar(&lasts, "for", time.Hour, fmt.Sprintf("how long the token is good for, up to %s", kubeapi.MostLasting))
	c.Flags().StringVar(&server, "server", "", "address of the daemon for browsers, as host:port (default: as of leewardd kubeconfig)")
	return c
}
