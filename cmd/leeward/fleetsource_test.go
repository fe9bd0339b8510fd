package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// runningFleet is the fleet of the example as a control plane has it once it is at rest.
func runningFleet(t *testing.T) []api.Object {
	t.Helper()
	s, problems := scenario.Disk.Fleet([]string{weak})
	require.Empty(t, problems)
	still := *s
	still.Timeline, still.Expect, still.Duration = nil, nil, settled
	run, err := replay.Play(&still, replay.Options{Seed: 1})
	require.NoError(t, err)
	require.NoError(t, run.Err)
	return run.All()
}

// servedFleet serves the objects of a fleet, without Leeward's own kinds, as a Karmada API server does.
func servedFleet(t *testing.T, fleet []api.Object) *clienttest.Server {
	t.Helper()
	s := clienttest.New(t, nil)
	for _, o := range fleet {
		r := catalog.Of(api.KeyOf(o))
		if r == nil || o.GetObjectKind().GroupVersionKind().Group == "leeward.dev" {
			continue
		}
		path := "/apis/" + r.Kind.GroupVersion().String()
		if !r.ClusterScoped {
			path += "/namespaces/" + o.GetNamespace()
		}
		text, err := json.Marshal(o)
		require.NoError(t, err)
		s.Put(path+"/"+r.Plural+"/"+o.GetName(), string(text))
	}
	for _, kind := range []string{"evictionbudgets", "clusterevictionbudgets", "governors"} {
		s.Lack("/apis/leeward.dev/v1alpha1/" + kind)
	}
	return s
}

func TestAFleetIsTheSameFromAServerAndFromItsDump(t *testing.T) {
	t.Chdir("../..")
	fleet := runningFleet(t)
	s := servedFleet(t, fleet)
	code, live, problems := at(t, s, "assess -o wide")
	require.Zero(t, code, problems)
	require.Contains(t, live, "assess: 5 clusters in 3 regions; 4 workloads, 41 replicas;")
	require.Contains(t, live, "(policy shop/cart; policy pay/billing)", "no file and line, for there is none")
	require.Empty(t, s.Requests(), "nothing is written at the server")

	dump, export := filed(t, fleet)
	for _, file := range []string{dump, export} {
		out, _ := assessedAs(t, 0, "-f", file, "-o", "wide")
		before, _, _ := strings.Cut(out, "what to change")
		same, _, _ := strings.Cut(live, "what to change")
		require.Equal(t, before, same, file)
	}
}

func TestWhatIfAndExplainAskAServer(t *testing.T) {
	t.Chdir("../..")
	s := servedFleet(t, runningFleet(t))
	code, out, problems := at(t, s, "what-if --lose region=eu")
	require.Equal(t, 1, code, problems)
	require.Contains(t, out, "predicted: 1 binding would be evicted, ")
	code, out, problems = at(t, s, "what-if --apply docs/examples/fleet-policies.yaml --lose cluster=us-1")
	require.Equal(t, 1, code, problems)
	require.Contains(t, out, "pay/billing-deployment", "the policy applies to what the server has")
	code, out, problems = at(t, s, "explain binding web -n shop")
	require.Zero(t, code, problems)
	require.Contains(t, out, "shop/web-deployment")
	code, out, problems = at(t, s, "explain policy PropagationPolicy/web -n shop")
	require.Zero(t, code, problems)
	require.Contains(t, out, "Deployment shop/web: applies; on ", "the workload itself is not read")
	code, _, problems = at(t, s, "explain binding web -n shop -f "+weak)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "not both")
	require.Empty(t, s.Requests(), "nothing is written at the server")
}

// TestWhatIfGoesByTheGovernorOfAServer, as that of a Karmada which Leeward is attached to: its pause holds what it would otherwise predict.
func TestWhatIfGoesByTheGovernorOfAServer(t *testing.T) {
	t.Chdir("../..")
	s := servedFleet(t, runningFleet(t))
	s.Put("/apis/leeward.dev/v1alpha1/governors/fleet", `{"apiVersion": "leeward.dev/v1alpha1", "kind": "Governor", "metadata": {"name": "fleet"}, "spec": {"pause": {"reason": "freeze"}}}`)
	code, out, problems := at(t, s, "what-if --lose region=eu")
	require.Equal(t, 1, code, problems)
	require.Contains(t, out, "predicted: 4 evictions would be blocked\n")
	require.NotContains(t, out, "would be evicted")
	require.Empty(t, s.Requests(), "nothing is written at the server")
}

func TestAServerForbidsWhatItDoesNotHave(t *testing.T) {
	t.Chdir("../..")
	s := servedFleet(t, runningFleet(t))
	kinds := []string{"evictionbudgets", "clusterevictionbudgets", "governors"}
	for _, kind := range kinds {
		s.Forbid("/apis/leeward.dev/v1alpha1/" + kind)
	}
	code, out, problems := at(t, s, "explain binding web -n shop")
	require.Zero(t, code, problems)
	require.Contains(t, out, "shop/web-deployment")
	s.Put("/apis/leeward.dev/v1alpha1", `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"leeward.dev/v1alpha1","resources":[{"name":"evictionbudgets"}]}`)
	code, _, problems = at(t, s, "explain binding web -n shop")
	require.Equal(t, 1, code)
	require.Contains(t, problems, "list evictionbudgets of ", "it has them, and does not show them")
}

func TestAFleetIsReadAsARecordingBegins(t *testing.T) {
	t.Chdir("../..")
	out, _ := assessedAs(t, 0, "-f", "scenarios/recordings/nginx-is-evicted-from-a-failed-cluster.jsonl")
	require.Contains(t, out, "predicted: cluster member1   1 (2)     1 (2) ")
	require.NotContains(t, out, ".jsonl:", "no line of it is one of a policy")
}

func TestWhatAServerDoesNotSayOfItsFleet(t *testing.T) {
	t.Chdir("../..")
	fleet := runningFleet(t)
	s := servedFleet(t, fleet)
	s.Forbid("/apis/work.karmada.io/v1alpha2/resourcebindings")
	code, _, problems := at(t, s, "assess")
	require.Equal(t, 1, code)
	require.Contains(t, problems, "list resourcebindings of "+s.URL()+": ")
	code, _, problems = at(t, clienttest.New(t, nil), "assess")
	require.Equal(t, 2, code)
	require.Contains(t, problems, "holds no Cluster")
	code, _, problems = at(t, s, "assess -f "+weak)
	require.Equal(t, 2, code)
	require.Contains(t, problems, "want files (-f) or a server (--kubeconfig, --context), not both")
}

func TestAServerSendsPoliciesThatItWouldNotAdmit(t *testing.T) {
	s := clienttest.New(t, map[string]string{
		clustersPath + "/eu-1": `{"metadata": {"name": "eu-1"}}`,
		"/apis/policy.karmada.io/v1alpha1/clustertaintpolicies/p": `{"metadata": {"name": "p"}, "spec": {"taints": [{"key": "-", "effect": "NoExecute"}]}}`,
	})
	code, _, problems := at(t, s, "assess")
	require.Equal(t, 2, code)
	require.Contains(t, problems, s.URL()+": ClusterTaintPolicy p: spec.taints[0].key")
}
