package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/messages/api"
	"leeward/runtime/client/credentials"
	"leeward/runtime/client/join"
	"leeward/runtime/fleet/catalog"
)

const joinExitCodes = `Exit codes:
  0  done
  1  the member or the hub refused it or did not answer, or a cluster is not gone in time
  2  the command line or a kubeconfig is invalid
  3  an internal error`

// joining is one join command: its flags.
type joining struct {
	editing
	member, memberContext string
	manifests             bool
	agent                 join.Agent
	agentKubeconfig       string
	spec                  api.ClusterSpec
	zones                 []string
}

func joinCommand() *cobra.Command {
	j := &joining{editing: newEditing()}
	c := &cobra.Command{
		Use:   "join NAME (--cluster-kubeconfig KUBECONFIG | --print-manifests)",
		Short: "Register a cluster with its credentials, or print the manifests of its agent",
		Long: `Register a cluster at a running daemon for push mode: the daemon applies the cluster's Works itself, as leeward-agent does in
pull mode. The credentials, a token or a client certificate of the kubeconfig, are stored in the Secret karmada-cluster/NAME, and the
address of the member in spec.apiEndpoint of the Cluster. The permissions that they need are those in docs/examples/agent.yaml. The member is
asked first; if it does not answer, or refuses the credentials, nothing is written.

With --print-manifests it prints what a cluster in pull mode needs for its agent: a namespace, a service account with the least
permissions, and a Deployment; with --agent-kubeconfig also the Secret of the agent's credentials at the hub. It writes nothing.

` + joinExitCodes,
		Example: `  leeward join eu-1 --cluster-kubeconfig eu-1.kubeconfig --region eu
  leeward join eu-1 --cluster-kubeconfig eu-1.kubeconfig --dry-run=server   # would both take it?
  leewardd kubeconfig --agent eu-2 --server hub.example.com:7443 > eu-2.kubeconfig
  leeward join eu-2 --print-manifests --agent-kubeconfig eu-2.kubeconfig --image registry.example.com/leeward-agent:1.0 > agent.yaml`,
		Args: oneName("cluster"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: j.run,
	}
	j.add(c)
	f := c.Flags()
	f.StringVar(&j.member, "cluster-kubeconfig", "", "kubeconfig file of the member")
	f.StringVar(&j.memberContext, "cluster-context", "", "context of that file (default: its current one)")
	f.StringVar(&j.spec.Region, "region", "", "region of the cluster")
	f.StringSliceVar(&j.zones, "zone", nil, "zones of the cluster, separated by commas")
	f.StringVar(&j.spec.Provider, "provider", "", "provider of the cluster")
	f.BoolVar(&j.manifests, "print-manifests", false, "print the manifests of the agent, and write nothing")
	f.StringVar(&j.agentKubeconfig, "agent-kubeconfig", "", "with --print-manifests: kubeconfig file of the hub for the agent, as leewardd kubeconfig --agent NAME writes it")
	f.StringVar(&j.agent.Image, "image", "leeward-agent:latest", "with --print-manifests: image of the agent")
	f.IntVar(&j.agent.Replicas, "replicas", 2, "with --print-manifests: replicas of the agent")
	c.MarkFlagsOneRequired("cluster-kubeconfig", "print-manifests")
	c.MarkFlagsMutuallyExclusive("cluster-kubeconfig", "print-manifests")
	for _, other := range []string{"cluster-context", "region", "zone", "provider", "dry-run"} {
		c.MarkFlagsMutuallyExclusive("print-manifests", other)
	}
	for _, other := range []string{"agent-kubeconfig", "image", "replicas"} {
		c.MarkFlagsMutuallyExclusive("cluster-kubeconfig", other)
	}
	return c
}

// oneName demands the name of one object.
func oneName(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return misused(c, fmt.Errorf("want the name of one %s, not %d", what, len(args)))
		}
		if wrong := validation.IsDNS1123Label(args[0]); len(wrong) > 0 {
			return misused(c, fmt.Errorf("%q is not the name of a %s: %s", args[0], what, wrong[0]))
		}
		return nil
	}
}

func (j *joining) run(c *cobra.Command, args []string) error {
	if j.manifests {
		return j.printManifests(c, args[0])
	}
	if err := j.checkZones(); err != nil {
		return misused(c, err)
	}
	member, err := credentials.Load(j.member, j.memberContext)
	if err != nil {
		return misused(c, fmt.Errorf("--cluster-kubeconfig: %w", err))
	}
	if err := j.connect(c); err != nil {
		return misused(c, err)
	}
	r := &join.Request{Hub: j.client, Member: member, Cluster: &api.Cluster{Spec: j.spec}}
	r.Cluster.Name, r.Cluster.Spec.Zones = args[0], j.zones
	err = r.Check(c.Context())
	if err == nil && j.dryRun.word != "client" {
		err = r.Try(c.Context())
	}
	if err == nil && j.dryRun.word == "none" {
		err = r.Join(c.Context())
	}
	if err != nil {
		return refused(err)
	}
	return j.print(c, clusterNamed(args[0]).String(), "joined")
}

// checkZones refuses a zone without a name, and one that is named twice.
func (j *joining) checkZones() error {
	for i, z := range j.zones {
		switch {
		case z == "":
			return fmt.Errorf("--zone: zone %d of %q has no name", i+1, strings.Join(j.zones, ","))
		case slices.Contains(j.zones[:i], z):
			return fmt.Errorf("--zone: %q is named twice", z)
		}
	}
	return nil
}

func (j *joining) printManifests(c *cobra.Command, cluster string) error {
	j.agent.Cluster = cluster
	if j.agentKubeconfig != "" {
		warning, err := j.agent.ReadKubeconfig(j.agentKubeconfig)
		if err != nil {
			return misused(c, fmt.Errorf("--agent-kubeconfig: %w", err))
		}
		if warning != "" {
			c.PrintErrln(warning)
		}
	}
	var text strings.Builder
	if err := j.agent.Write(&text); err != nil {
		return misused(c, err)
	}
	_, err := fmt.Fprint(c.OutOrStdout(), text.String())
	return err
}

// unjoining is one unjoin command: its flags.
type unjoining struct {
	editing
	leaving join.Leaving
}

func unjoinCommand() *cobra.Command {
	u := &unjoining{editing: newEditing()}
	c := &cobra.Command{
		Use:   "unjoin NAME",
		Short: "Take a cluster back: its workloads, its Works, its credentials and the Cluster",
		Long: `Take a cluster back from a running daemon. Its workloads are rescheduled, and deleted in the member unless they are preserved
(preserveResourcesOnDeletion). Then the Cluster is deleted, with its Secret, its Lease and the namespace of its Works.

If that takes longer than --timeout, the command says what remains; run it again to wait on. --force then removes the finalizers, as
for a member that does not exist any more: what runs there is not deleted. In pull mode, delete the agent in the member afterwards.

` + joinExitCodes,
		Example: "  leeward unjoin eu-1\n  leeward unjoin eu-1 --timeout 10m\n  leeward unjoin eu-1 --timeout 30s --force   # the member was destroyed",
		Args:    oneName("cluster"), RunE: u.run,
	}
	u.add(c)
	c.ValidArgsFunction = u.offerClusters(false)
	c.Flags().DurationVar(&u.leaving.Timeout, "timeout", 2*time.Minute, "how long to wait until the cluster is empty")
	c.Flags().BoolVar(&u.leaving.Force, "force", false, "after --timeout, remove the finalizers of what remains")
	return c
}

func (u *unjoining) run(c *cobra.Command, args []string) error {
	if u.leaving.Timeout < time.Second || u.leaving.Timeout > 24*time.Hour {
		return misused(c, fmt.Errorf("--timeout: %s is out of range: it must be 1s to 24h", u.leaving.Timeout))
	}
	if err := u.connect(c); err != nil {
		return misused(c, err)
	}
	u.leaving.Hub, u.leaving.Clock, u.leaving.Name = u.client, clock.New(), args[0]
	if u.dryRun.word == "client" {
		return u.print(c, clusterNamed(args[0]).String(), "unjoined")
	}
	cluster, err := u.leaving.Find(c.Context())
	if err != nil {
		return refused(err)
	}
	if u.dryRun.word == "none" {
		err = u.leaving.Leave(c.Context())
	}
	if err != nil {
		return refused(err)
	}
	what := clusterNamed(args[0])
	if cluster == nil {
		what = target{resource: catalog.Secrets, name: args[0]}
	}
	return u.print(c, what.String(), "unjoined")
}
