package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"leeward/cmd/internal/logging"
	"leeward/messages/api"
	"leeward/runtime/client/fakemember"
	"leeward/runtime/scenario"
)

func memberCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "member",
		Short: "Simulate the agents of clusters",
		Long:  "Simulate the agents of clusters at a running daemon.",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(simulateMembersCommand())
	return c
}

// playing is one member simulate command: its flags.
type playing struct {
	server       serverFlags
	clusters     namesFlag
	capacity     resourcesFlag
	startup      spanFlag
	heartbeat    spanFlag
	failAfter    spanFlag
	recoverAfter spanFlag
	health, fail wordFlag
	create       bool
	spec         api.ClusterSpec
	zones        string
}

func simulateMembersCommand() *cobra.Command {
	p := &playing{
		capacity:  resourcesFlag{corev1.ResourceCPU: resource.MustParse("1000"), corev1.ResourceMemory: resource.MustParse("4000Gi"), corev1.ResourcePods: resource.MustParse("10000")},
		heartbeat: spanFlag(10 * time.Second),
		health:    wordFlag{"Healthy", []string{"Healthy", "Unhealthy", "Unknown"}},
		fail: wordFlag{string(fakemember.Silence), []string{
			string(fakemember.NotReady), string(fakemember.Silence), string(fakemember.Unhealthy), string(fakemember.Disappearance),
		}},
	}
	c := &cobra.Command{
		Use:   "simulate --cluster NAME...",
		Short: "Simulate the agents of clusters, without any cluster",
		Long: `Simulate the agents of clusters, without any cluster, at a running daemon or a Karmada API server.

Each agent renews its lease, reports the conditions and resources of its cluster, reports a running copy for each
Work in its namespace, and removes the copy when the Work is deleted. docs/agents.md describes what an agent must
and may do: this is a minimal one.

Further names may follow, as from a shell that expands braces. The command runs until it is interrupted. Then its
clusters are silent, which a daemon takes for a failure.`,
		Example: `  leeward member simulate --cluster eu-{1..3},us-{1..3} --create --startup 2s
  leeward member simulate --cluster eu-1 --fail-after 1m --fail silence --recover-after 5m
  leeward member simulate --kubeconfig member1.kubeconfig --cluster member1`,
		Args: cobra.ArbitraryArgs, // a shell makes several words of one --cluster with braces
		RunE: p.run,
	}
	p.flags(c)
	return c
}

func (p *playing) flags(c *cobra.Command) {
	p.server.add(c)
	f := c.Flags()
	f.Var(&p.clusters, "cluster", "clusters to simulate; member{1..5} is five clusters")
	f.BoolVar(&p.create, "create", false, "create the clusters that do not exist at the server")
	f.StringVar(&p.spec.Region, "region", "", "with --create: their region")
	f.StringVar(&p.zones, "zone", "", "with --create: their zones, separated by commas")
	f.StringVar(&p.spec.Provider, "provider", "", "with --create: their provider")
	f.Var(&p.capacity, "capacity", "capacity of each cluster, as cpu=100,pods=500")
	f.Var(&p.startup, "startup", "how long a new copy takes to become healthy")
	p.health.add(c, "health", "", "health to report of every started copy: "+strings.Join(p.health.choices, ", "))
	f.Var(&p.heartbeat, "heartbeat", "time between two heartbeats")
	f.Var(&p.failAfter, "fail-after", "when the clusters fail")
	p.fail.add(c, "fail", "", "how: condition (Ready is False), silence, unhealthy (every copy), or disappear (the Cluster is deleted)")
	f.Var(&p.recoverAfter, "recover-after", "how long the failure lasts")
}

func (p *playing) run(c *cobra.Command, further []string) error {
	for _, name := range further {
		if err := p.clusters.Set(name); err != nil {
			return misused(c, err)
		}
	}
	if err := p.check(c); err != nil {
		return misused(c, err)
	}
	config, err := p.config(c.ErrOrStderr())
	if err != nil {
		return misused(c, err)
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return refused(fakemember.Run(ctx, config))
}

// check reports what makes no sense, or not together.
func (p *playing) check(c *cobra.Command) error {
	given := c.Flags().Changed
	switch {
	case len(p.clusters) == 0:
		return errors.New("--cluster is missing: name the clusters to simulate")
	case p.failAfter == 0 && (given("fail") || p.recoverAfter > 0):
		return errors.New("--fail and --recover-after need --fail-after")
	}
	for _, name := range []string{"region", "zone", "provider"} {
		if given(name) && !p.create {
			return fmt.Errorf("--%s needs --create", name)
		}
	}
	return nil
}

func (p *playing) config(stderr io.Writer) (*fakemember.Config, error) {
	server, err := p.server.connect(stderr)
	if err != nil {
		return nil, err
	}
	c := &fakemember.Config{
		Client: server, Clock: clock.New(), Clusters: p.clusters, Create: p.create, Cluster: p.spec,
		Capacity: corev1.ResourceList(p.capacity), Heartbeat: time.Duration(p.heartbeat),
		FailAfter: time.Duration(p.failAfter), RecoverAfter: time.Duration(p.recoverAfter), Failure: fakemember.Failure(p.fail.word),
		Tell: func(string) {},
	}
	c.Behaviour.StartupMin, c.Behaviour.StartupMax = time.Duration(p.startup), time.Duration(p.startup)
	c.Behaviour.Health = api.ResourceHealth(p.health.word)
	c.Cluster.SyncMode = api.Pull
	if p.zones != "" {
		c.Cluster.Zones = strings.Split(p.zones, ",")
	}
	if logging.IsTerminal(stderr) {
		c.Tell = func(text string) { say(stderr, time.Now().Format(time.TimeOnly)+"  "+text+"\n") }
	}
	return c, nil
}

// namesFlag is a list of names, with braces.
type namesFlag []string

func (f *namesFlag) Set(s string) error {
	for _, pattern := range splitOutsideBraces(s) {
		names, err := scenario.ExpandBraces(pattern)
		if err != nil {
			return fmt.Errorf("%q %w", pattern, err)
		}
		*f = append(*f, names...)
	}
	slices.Sort(*f)
	*f = slices.Compact(*f)
	return nil
}

func (f *namesFlag) String() string { return strings.Join(*f, ",") }

func (*namesFlag) Type() string { return "names" }

// splitOutsideBraces splits a text at its commas, but for those within braces.
func splitOutsideBraces(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return r == ',' && depth == 0
	})
}

// resourcesFlag is a list of resources, each with its quantity.
type resourcesFlag corev1.ResourceList

func (f *resourcesFlag) Set(s string) error {
	for word := range strings.SplitSeq(s, ",") {
		name, text, found := strings.Cut(word, "=")
		if !found || name == "" {
			return fmt.Errorf("%q must be a resource and a quantity, such as cpu=100", word)
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() < 0 {
			return fmt.Errorf("%s: %q must be a quantity, such as 100 or 40Gi", name, text)
		}
		(*f)[corev1.ResourceName(name)] = q
	}
	return nil
}

func (f *resourcesFlag) String() string {
	var words []string
	for name, q := range *f { // order-free: sorted below
		words = append(words, fmt.Sprintf("%s=%s", name, &q))
	}
	slices.SortFunc(words, cmp.Compare)
	return strings.Join(words, ",")
}

func (*resourcesFlag) Type() string { return "resources" }
