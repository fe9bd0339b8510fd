package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/explain"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// explaining is one explain command: its flags.
type explaining struct {
	from      fleetSource
	namespace string
	at        spanFlag
	profile   string
	set       overrideFlag
	seed      seedFlag
	output    wordFlag
}

func explainCommand() *cobra.Command {
	e := &explaining{seed: seedFlag{value: 1, set: true}, output: wordFlag{"text", []string{"text", "wide", "json", "yaml"}}}
	c := &cobra.Command{
		Use:   "explain binding|cluster|policy|node|pod NAME",
		Short: "Explain why a workload or a pod is where it is, what is under way, and why it moved",
		Long: `Explain why a workload is where it is, what is under way, and why it moved before: for a binding the decision of the
scheduler, cluster by cluster, evictions and handovers with their deadlines and what would cancel them, and each failover
step by step. For a cluster its conditions and taints with their causes, and when the workloads on it would be evicted;
for a policy what it applies to, what it asks for, since when, and why nothing of the others. For a pod the same as for a
binding, node by node; for a node its conditions, taints and zone, and when its pods would be evicted.

The files (-f) are a scenario, which is replayed until --at; manifests or the output of kubectl get -o yaml, which run
until nothing more is due; or one recording (.jsonl). Without -f the fleet is read from the API server of a kubeconfig,
that of leewardd or of Karmada, by lists alone, as it is now; with --at, as it is predicted to be then. A directory means all *.yaml, *.yml and *.json files below it.
NAME is as kubectl has it: nginx, deploy/nginx, default/nginx-deployment; a policy is a ClusterTaintPolicy or a
propagation policy. Nodes and pods are those of a scenario of nodes, of manifests of Nodes and Pods, of a fleet whose
clusters have nodes (eu-1/node1, eu-1/shop/web-5d9c), or of the Kubernetes cluster of the kubeconfig. The schedulers are asked again for the explanation; nothing is written.

Exit codes:
  0  explained
  1  the server refuses to list the fleet
  2  a manifest, a scenario, the command line or the name is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward explain binding deploy/nginx -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml
  leeward explain binding deploy/nginx -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --at 6m45s
  leeward explain cluster member2 -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --at 6m
  leeward explain policy evict-when-not-ready -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --at 6m
  leeward explain node a-2 -f scenarios/nodes/a-zone-is-lost-and-its-pods-go-to-the-others.yaml --at 5m
  leeward explain pod db-1 -f scenarios/nodes/a-zone-is-lost-and-its-pods-go-to-the-others.yaml --at 5m
  leeward explain node eu-1/a1 -f scenarios/tiers/a-rack-a-zone-a-cluster-a-region.yaml --scenario a-rack-fails-and-its-cluster-has-capacity --at 2m
  leeward explain binding web -n shop -f docs/examples/fleet.yaml -o wide
  leeward explain pod web-5d9c -n shop --context eu-1
  kubectl get clusters,clustertaintpolicies,propagationpolicies,resourcebindings,deployments -A -o yaml > dump.yaml && leeward explain cluster eu-1 -f dump.yaml`,
		Args: oneExplained,
		RunE: e.run,
	}
	f := c.Flags()
	f.SortFlags = false
	e.from.add(c)
	e.from.addScenario(c)
	f.StringVarP(&e.namespace, "namespace", "n", "", "namespace of the binding, the policy or the pod")
	f.Var(&e.at, "at", "virtual time to explain, from the start (default: the end of the scenario; of a server: now)")
	profileFlag(c, &e.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&e.set, "set", "setting to change, as field=value; may be given again")
	f.Var(&e.seed, "seed", "seed of start-up times and of what Karmada leaves to chance")
	e.output.add(c, "output", "o", "text, wide, json or yaml")
	c.ValidArgsFunction = e.completeExplained
	return c
}

// mostAsked is how many failed expectations of a run are tried to be explained: each takes a run of its own.
const mostAsked = 3

// explain says in short, of the first expectation that a run did not meet and that is about an object, why that is as it is.
func (r *replaying) explain(t task, run *replay.Run) []string {
	if run.Err != nil {
		return nil
	}
	asked := map[string]bool{}
	for i := range run.Expectations {
		kind, name := explain.Meant(run.Expectations[i].About)
		if kind == "" || asked[kind+name] {
			continue
		}
		at := max(1, time.Duration(run.Expectations[i].At*float64(time.Second))) // zero would be the end
		x, err := explain.Run(explain.Config{Scenario: t.scenario, Kind: kind, Name: name, At: at, Profile: r.profile, Set: r.set, Seed: t.seed})
		if err == nil {
			return explain.Short(x)
		} // such as a binding that does not exist then, which the expectation says itself
		if asked[kind+name] = true; len(asked) == mostAsked {
			break
		}
	}
	return nil
}

func (e *explaining) run(c *cobra.Command, args []string) error {
	kind, err := explainedKind(args[0])
	if err != nil {
		return misused(c, err)
	}
	if err := e.from.check(); err != nil {
		return misused(c, err)
	}
	if _, problems := config.Resolve(e.profile, e.set); len(problems) > 0 {
		return misused(c, errors.Join(problems...))
	}
	s, err := e.read(c.Context(), kind, c.ErrOrStderr())
	if err != nil {
		return err
	}
	x, err := explain.Run(explain.Config{
		Scenario: s, Kind: kind, Name: args[1], Namespace: e.namespace, At: e.instant(),
		Profile: e.profile, Set: e.settings(s), Seed: e.seed.value,
	})
	if err != nil {
		return unfinished(err, &e.from, "explained")
	}
	return printed(c.OutOrStdout(), e.output.word, x, func(out io.Writer) error { return explain.WriteText(out, x, e.output.word == "wide") })
}

// instant is when to explain: as a server has it, where no time is given; zero is the end of a scenario.
func (e *explaining) instant() time.Duration {
	if e.at == 0 && e.from.live() {
		return 1
	}
	return time.Duration(e.at)
}

// oneExplained demands what is explained, and its name.
func oneExplained(c *cobra.Command, args []string) error {
	if len(args) != 2 {
		return misused(c, fmt.Errorf("want what is explained (%s) and one name, as binding web, not %s", strings.Join(explain.Kinds(), ", "), spelling.Count(len(args), "word")))
	}
	return nil
}

// explainedKind reads what is explained, as kubectl names it.
func explainedKind(word string) (string, error) {
	kinds := map[string]string{"ResourceBinding": explain.KindBinding, "ClusterResourceBinding": explain.KindBinding, "Cluster": explain.KindCluster, "ClusterTaintPolicy": explain.KindPolicy, "PropagationPolicy": explain.KindPolicy, "ClusterPropagationPolicy": explain.KindPolicy, "Node": explain.KindNode, "Pod": explain.KindPod}
	lower := strings.ToLower(word)
	switch lower {
	case "binding", "bindings", "rb", "crb":
		return explain.KindBinding, nil
	case "policy", "policies":
		return explain.KindPolicy, nil
	case "no":
		return explain.KindNode, nil
	case "po":
		return explain.KindPod, nil
	}
	if kind, known := spelling.KindMeant(word, []string{"Cluster", "ClusterPropagationPolicy", "ClusterResourceBinding", "ClusterTaintPolicy", "Node", "Pod", "PropagationPolicy", "ResourceBinding"}); known && kinds[kind] != "" {
		return kinds[kind], nil
	}
	return "", fmt.Errorf("explain %s: want one of %s%s; a workload is explained by its binding, as explain binding deploy/web", word, strings.Join(explain.Kinds(), ", "), spelling.Hint(word, explain.Kinds()))
}

// read reads a server, a scenario, manifests or a recording, which is replayed. The error has its exit code.
func (e *explaining) read(ctx context.Context, kind string, warnings io.Writer) (*scenario.Scenario, error) {
	if e.from.live() && (kind == explain.KindNode || kind == explain.KindPod) {
		return e.from.nodes(ctx, warnings)
	}
	if len(e.from.files) != 1 || len(isRecording(e.from.files[0])) == 0 {
		return e.from.read(ctx, warnings)
	}
	file := e.from.files[0]
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, ofInput(err)
	}
	if !beginsRecording(data) {
		return e.from.read(ctx, warnings)
	}
	recorded, err := incident.Read(file, data)
	if err != nil {
		return nil, ofInput(err)
	}
	return recorded.Scenario(incident.Under{Profile: e.profile, Set: e.set}), nil
}

// settings are those to change. A policy of plain manifests was admitted, so what admits it is on.
func (e *explaining) settings(s *scenario.Scenario) []config.Override {
	if s.Name != "" {
		return e.set
	}
	return append([]config.Override{{Field: "allowNoExecuteTaintPolicy", Value: true, Source: "explain"}}, e.set...)
}
