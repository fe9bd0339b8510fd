package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leeward/runtime/scenario/explain"

	"github.com/stretchr/testify/require"
)

const (
	nginxFile    = "scenarios/nginx-is-evicted-from-a-failed-cluster.yaml"
	divisionFile = "docs/examples/fleet.yaml"
	blockedFile  = "scenarios/failover/a-duplicated-workload-stays-when-candidates-are-too-few.yaml --scenario a-duplicated-workload-stays-when-candidates-are-too-few"
	dumpFile     = "scenarios/dumps/a-dump-of-a-running-fleet-goes-on.yaml --scenario a-dump-of-a-running-fleet-goes-on"
	recordedFile = "scenarios/recordings/nginx-is-evicted-from-a-failed-cluster.jsonl"
	zoneFile     = "scenarios/nodes/a-zone-is-lost-and-its-pods-go-to-the-others.yaml"
	rackFile     = "scenarios/tiers/a-rack-a-zone-a-cluster-a-region.yaml --scenario a-rack-fails-and-its-cluster-has-capacity"
)

// explainedAs runs the command in the folder of the repository.
func explainedAs(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	require.Equal(t, code, execute(append([]string{"explain"}, args...), &out, &log), log.String())
	return out.String(), log.String()
}

func TestExplanationsReadAsTheyDid(t *testing.T) {
	t.Chdir("../..")
	for name, args := range map[string]string{
		"binding-scheduled":  "binding deploy/nginx -f " + nginxFile + " --at 6m",
		"binding-evicting":   "binding deploy/nginx -f " + nginxFile + " --at 6m45s",
		"binding-past":       "binding default/nginx-deployment -f " + nginxFile,
		"binding-divided":    "binding web -n shop -f " + divisionFile,
		"binding-blocked":    "binding nginx -f " + blockedFile + " --at 2m",
		"binding-migrated":   "binding nginx -f scenarios/failover/a-divided-workload-migrates-to-the-healthy-cluster.yaml --scenario a-divided-workload-migrates-to-the-healthy-cluster --at 2m",
		"cluster-blocked":    "cluster member2 -f " + blockedFile + " --at 2m",
		"binding-wide":       "binding nginx -f " + nginxFile + " -o wide --profile karmada --set allowNoExecuteTaintPolicy=true --set enableNoExecuteTaintEviction=true --set failover=true",
		"binding-dump":       "binding web -f " + dumpFile,
		"binding-recorded":   "binding nginx -f " + recordedFile,
		"binding-json":       "binding nginx -f " + nginxFile + " --at 6m45s -o json",
		"cluster":            "cluster member2 -f " + nginxFile + " --at 6m",
		"cluster-json":       "cluster member2 -f " + nginxFile + " --at 6m -o json",
		"cluster-dump":       "clusters member4 -f " + dumpFile,
		"policy-taint":       "policy evict-when-not-ready -f " + nginxFile + " --at 6m",
		"policy-propagation": "policy web -n shop -f " + divisionFile,
		"node":               "node a-1 -f " + zoneFile + " --at 5m",
		"node-queued":        "node a-1 -f " + zoneFile + " --at 1m5s",
		"node-json":          "node a-1 -f " + zoneFile + " --at 1m5s -o json",
		"node-of-cluster":    "no eu-1/a1 -f " + rackFile + " --at 2m",
		"pod-scheduled":      "pod db-1 -f " + zoneFile + " --at 5m",
		"pod-evicting":       "pod web-h24hqrfnkm-2nkg5 -f " + zoneFile + " --at 6m20s",
		"pod-replacement":    "po default/web-h24hqrfnkm-vt8ww -f " + zoneFile,
		"pod-past":           "pod db-1 -n default -f " + zoneFile,
		"pod-gone":           "pod web-h24hqrfnkm-2nkg5 -f " + zoneFile,
		"pod-json":           "pod db-1 -f " + zoneFile + " --at 5m -o json",
		"pod-blocked":        "pod web-56gctsgdsd-pr2sd -f scenarios/nodes/a-drain-evicts-no-more-pods-than-the-budget-allows.yaml --at 1m1s",
		"pod-given-up":       "pod app -f scenarios/nodes/an-eviction-that-is-refused-is-tried-until-it-is-done.yaml --scenario an-eviction-that-is-refused-is-tried-until-it-is-done-in-kubernetes",
		"pod-limited":        "pod web-h65cndmfch-24c6q -f scenarios/nodes/thirty-pods-wait-for-the-limits-of-the-api-client.yaml --scenario thirty-pods-wait-for-the-limits-of-the-api-client --at 61s",
		"pod-down":           "pod app -f scenarios/nodes/controllers-that-are-down-delay-evictions-until-they-are-back.yaml --scenario controllers-that-are-down-begin-every-countdown-again-in-kubernetes --at 3m",
		"pod-drain-ended":    "pod default/web-56gctsgdsd-srlhg -f scenarios/nodes/a-drain-times-out-and-names-what-remains.yaml --scenario a-drain-times-out-and-names-what-remains",
		"pod-unschedulable":  "pod web -f scenarios/nodes/the-scheduler-names-the-taints-that-refuse-a-pod.yaml --scenario the-scheduler-names-the-taints-that-refuse-a-pod-in-kubernetes",
		"pod-of-cluster":     "pod web-5dx2hzpj8z-jcddl -f " + rackFile + " --at 2m",
		"policy-json":        "policy evict-when-not-ready -f " + nginxFile + " --at 6m -o json",
	} {
		t.Run(name, func(t *testing.T) {
			out, log := explainedAs(t, 0, strings.Fields(args)...)
			require.Empty(t, log)
			again, _ := explainedAs(t, 0, strings.Fields(args)...)
			require.Equal(t, out, again, "the same bytes")
			isGolden(t, "explain/"+name+".golden", out)
		})
	}
}

func TestExplainExitsByWhatIsWrong(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{2, "binding nginx", "name files with -f"},
		{2, "binding -f " + nginxFile, "want what is explained (binding, cluster, policy, node, pod) and one name, as binding web, not 1 word\nsee 'leeward explain --help'"},
		{2, "moon x -f " + nginxFile, "want one of binding, cluster, policy, node, pod"},
		{2, "bindng x -f " + nginxFile, "did you mean binding?"},
		{2, "node x -f " + nginxFile, "there are no nodes: want a scenario with spec.nodes"},
		{2, "pod x", "or name files with -f"},
		{2, "pod db-2 -f " + zoneFile, `there is no pod "db-2" at 00:22:00; there is default/db-0, default/db-1,`},
		{2, "pod db-1 -n shop -f " + zoneFile, `there is no pod "shop/db-1"`},
		{2, "node a-3 -f " + zoneFile, "did you mean a-1?"},
		{2, "node a1 -f " + rackFile, `node "a1" may mean eu-1/a1, us-1/a1: name one of them whole`},
		{2, "cluster a-1 -f " + zoneFile, "this is a scenario of nodes"},
		{2, "cluster membr2 -f " + nginxFile, `there is no cluster "membr2" at 00:20:40; did you mean member2?; there is member1,`},
		{2, "binding deploy/ngimx -f " + nginxFile, "there is default/nginx-deployment"},
		{2, "binding nginx -n shop -f " + nginxFile, `there is no binding "shop/nginx"`},
		{2, "policy evict-when-notready -f " + nginxFile, "did you mean evict-when-not-ready?"},
		{2, "binding nginx -f " + nginxFile + " --at soon", "--at"},
		{2, "binding nginx -f " + nginxFile + " --set evictionWorkers=many", "evictionWorkers"},
		{2, "binding nginx -f " + recordedFile + " -f " + nginxFile, "a recording can only be named alone"},
		{2, "cluster member1 -f nowhere.yaml", "nowhere.yaml"},
		{2, "cluster member1 -f scenarios/nodes", "nodes"},
	} {
		out, log := explainedAs(t, c.code, strings.Fields(c.args)...)
		require.Empty(t, out)
		require.Contains(t, log, c.says, c.args)
	}
}

func TestExplainedKindsAreNamedAsKubectlDoes(t *testing.T) {
	for word, want := range map[string]string{
		"binding": "binding", "rb": "binding", "resourcebindings": "binding", "ResourceBinding": "binding", "clusterresourcebinding": "binding",
		"cluster": "cluster", "clusters": "cluster", "policy": "policy", "clustertaintpolicies": "policy", "propagationpolicy": "policy",
		"ClusterPropagationPolicy": "policy", "node": "node", "no": "node", "Nodes": "node", "pods": "pod", "po": "pod",
	} {
		got, err := explainedKind(word)
		require.NoError(t, err, word)
		require.Equal(t, want, got, word)
	}
}

func FuzzExplainedKind(f *testing.F) {
	f.Add("resourcebindings")
	f.Fuzz(func(t *testing.T, word string) {
		if kind, err := explainedKind(word); err == nil {
			require.Contains(t, explain.Kinds(), kind)
		}
	})
}

func TestExplainCompletesWhatCanBeExplained(t *testing.T) {
	var out, log bytes.Buffer
	require.Equal(t, 0, execute([]string{"__complete", "explain", ""}, &out, &log))
	require.Contains(t, out.String(), "binding\ncluster\npolicy\nnode\npod\n")
}

func TestAFailedExpectationAboutABindingIsExplained(t *testing.T) {
	text, err := os.ReadFile("../../" + nginxFile)
	require.NoError(t, err)
	wrong := strings.Replace(string(text), "clusters: {member1: 2, member3: 2}, tasks: [member2]", "clusters: {member1: 2, member5: 2}", 1)
	require.NotEqual(t, string(text), wrong)
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	require.NoError(t, os.WriteFile(file, []byte(wrong), 0o600))
	var out, log bytes.Buffer
	require.Equal(t, 1, execute([]string{"replay", file}, &out, &log), log.String())
	require.Contains(t, out.String(), `failed: 1 of 8 expectations
explained: default/nginx-deployment at 00:06:40 on member1:2 member3:2; scheduled 00:06:40, because eviction
  member5: fits, not chosen
  member2: refused: is in the process of eviction
  member4: refused: did not match the placement cluster affinity constraint: not among the names
  evicting from member2: cluster.karmada.io/not-ready:NoExecute; policy evict-when-not-ready; condition Ready=False (ClusterNotReachable: cluster is not reachable); for 60s
repeat: `)
	out.Reset()
	require.Equal(t, 0, execute([]string{"replay", "../../" + nginxFile}, &out, &log), log.String())
	require.NotContains(t, out.String(), "explained: ")
}

func TestAFailedExpectationOfAnyKindIsExplained(t *testing.T) {
	const scheduler, plain = "scenarios/nodes/the-scheduler-names-the-taints-that-refuse-a-pod.yaml", "scenarios/nodes/a-noexecute-taint-evicts-pods-that-do-not-tolerate-it.yaml"
	pod := "explained: default/an-hour at 00:02:00, Running, ready on node1\n  eviction scheduled from node1 for 01:01:00: key1=value1:NoExecute; by a user; key1=value1:NoExecute for 3600s\n"
	evicting := "explained: default/nginx-deployment at 00:06:40 on member1:2 member3:2; scheduled 00:06:40, because eviction\n"
	cluster := "explained: cluster member2 at 00:06:00\n  condition Ready=False (ClusterNotReachable: cluster is not reachable), since 00:05:40\n"
	for _, c := range []struct{ file, wrong, explained string }{
		{scheduler, "{at: 1s, pod: {name: web, unschedulable: 3 node}}", `explained: default/web at 00:00:01, Pending on no node
  unschedulable: 0/2 nodes are available: 2 node(s) had untolerated taint(s). preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
  node1: refused: node(s) had untolerated taint(s)
  node2: refused: node(s) had untolerated taint(s)
repeat: `},
		{plain, "{at: 2m, pod: {name: plain, phase: Running}}", "explained: default/plain at 00:02:00, gone\n  evicted from node1: key1=value1:NoExecute; by a user; not tolerated\nrepeat: "},
		{plain, "{at: 2m, pod: {name: an-hour, present: false}}", pod + "repeat: "},
		{plain, "{at: 2m, event: {kind: PodEvicted, pod: an-hour}}", pod},
		{plain, "{at: 2m, object: {apiVersion: v1, kind: Pod, metadata: {name: an-hour, namespace: default}, spec: {nodeName: node2}}}", pod},
		{plain, "{at: 2m, pods: {node: node1, ready: {max: 0}}}", pod},
		{plain, "{at: 2m, taint: {node: node1, key: other}}", "explained: node node1 at 00:02:00; nodes without a zone: Normal; nodes are tainted at 0.1 a second\n"},
		{nginxFile, "{at: 6m, taint: {cluster: member2, key: other}}", cluster},
		{nginxFile, "{at: 6m, anyOf: [{taint: {cluster: member2, key: a}}, {taint: {cluster: member2, key: b}}]}", cluster},
		{nginxFile, "{at: 6m, event: {kind: EvictionStarted, cluster: member2}}", cluster},
		{nginxFile, "{never: true, event: {kind: EvictionStarted}}", evicting},
		{nginxFile, "{total: {event: {kind: EvictionStarted}, exact: 0}}", evicting},
		{nginxFile, "{total: {event: {kind: EvictionStarted}, exact: 2}}", "explained: cluster member2 at 00:20:40\n"},
		{nginxFile, "{at: 6m, event: {kind: EvictionStarted}}", "explained: default/nginx-deployment at 00:06:00 on member1:2 member2:2; scheduled 00:00:00, because first placement\n"},
		{nginxFile, "{total: {event: {kind: FailbackStarted}, min: 1}}", "it happened 0 times, and nothing that leads to it did: FailbackScheduled\n"},
		{plain, "{total: {event: {kind: PodEvicted}, exact: 9}}", "it happened 2 times, the last one: PodEvicted of default/an-hour at 1h1m\n"},
		{plain, "{total: {event: {kind: PodEvicted}, exact: 9}}", "explained: node node1 at 02:00:00; "},
		{nginxFile, "{at: 6m40s, object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: nginx}, spec: {replicas: 3}}}", evicting},
		{
			nginxFile, "{at: 6m, object: {apiVersion: policy.karmada.io/v1alpha1, kind: ClusterTaintPolicy, metadata: {name: evict-when-not-ready}, spec: {taints: []}}}",
			"explained: ClusterTaintPolicy evict-when-not-ready at 00:06:00\n  cluster member2: add; add: Ready NotIn [True] holds: ",
		},
		{
			nginxFile, "{at: 6m, object: {apiVersion: policy.karmada.io/v1alpha1, kind: PropagationPolicy, metadata: {name: nginx-propagation}, spec: {schedulerName: other}}}",
			"explained: PropagationPolicy default/nginx-propagation at 00:06:00\n  Deployment default/nginx: applies since 00:00:00; on member1:2 member2:2\n",
		},
	} {
		text, err := os.ReadFile("../../" + c.file)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "wrong.yaml")
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "  expect:\n", "  expect:\n  - "+c.wrong+"\n", 1)), 0o600))
		var out, log bytes.Buffer
		require.Equal(t, 1, execute([]string{"replay", file}, &out, &log), log.String())
		require.Contains(t, out.String(), c.explained, c.wrong)
	}
}
