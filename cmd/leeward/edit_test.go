package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/runtime/client/clienttest"
)

const (
	clustersPath = "/apis/cluster.karmada.io/v1alpha1/clusters"
	governorPath = "/apis/leeward.dev/v1alpha1/governors/fleet"
	bindingPath  = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/nginx"
)

// served is a fleet of two clusters: eu-1 has a taint, eu-2 is cordoned and drained; and two nodes: n1 has a taint, n2 is cordoned.
func served(t *testing.T) *clienttest.Server {
	t.Helper()
	s := clienttest.New(t, map[string]string{
		clustersPath + "/eu-1": `{"metadata": {"name": "eu-1", "labels": {"tier": "gold"}}, "spec": {"taints": [{"key": "k", "value": "v", "effect": "NoExecute"}]}}`,
		clustersPath + "/eu-2": `{"metadata": {"name": "eu-2", "annotations": {"leeward.dev/drain": ""}}, "spec": {"taints": [{"key": "cluster.karmada.io/unschedulable", "effect": "NoSchedule"}]},
			"status": {"drain": {"bindings": 5, "left": 0}}}`,
		bindingPath: `{"metadata": {"name": "nginx"}}`,
		governorPath: `{"metadata": {"name": "fleet"}, "status": {"holds": [
			{"cluster": "eu-1", "reason": "its rack"}, {"cluster": "eu-1", "reason": "r"}, {"binding": "shop/web-deployment", "reason": "r"}]}}`,
		"/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/web-deployment": `{"metadata": {"name": "web-deployment"}}`,
	})
	s.Put("/api/v1/nodes/n1", `{"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}}`)
	s.Put("/api/v1/nodes/n2", `{"metadata": {"name": "n2", "labels": {"tier": "gold"}}, "spec": {"unschedulable": true}}`)
	return s
}

// at runs a command line at a server and returns its exit code and what it said.
func at(t *testing.T, s *clienttest.Server, line string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	args := append(words(line), "--kubeconfig", kubeconfigOf(t, s.URL()))
	return execute(args, &out, &problems), out.String(), problems.String()
}

func kubeconfigOf(t *testing.T, url string) string {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(kubeconfig, fmt.Appendf(nil, `{"clusters": [{"name": "c", "cluster": {"server": %q}}], "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}`, url), 0o600))
	return kubeconfig
}

// words splits a line at its spaces; those in a word are written as _.
func words(line string) []string {
	fields := strings.Fields(line)
	for i := range fields {
		fields[i] = strings.ReplaceAll(fields[i], "_", " ")
	}
	return fields
}

func TestEdits(t *testing.T) {
	cases := []struct {
		name, line string
		says       string
		sends      string // the body of the only write; empty: none is made
	}{
		{"a taint is added to those that there are", "taint clusters eu-1 a=b:NoSchedule", "cluster/eu-1 tainted\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[{"key":"a","value":"b","effect":"NoSchedule"},{"key":"k","value":"v","effect":"NoExecute"}]}}`},
		{"a taint is removed, and its value means nothing", "taint cluster eu-1 k=w:NoExecute-", "cluster/eu-1 untainted\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`},
		{"every effect of a key is removed", "taint CLUSTERS eu-1 k-", "cluster/eu-1 untainted\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`},
		{"one is added and another removed", "taint clusters eu-1 a:NoExecute k-", "cluster/eu-1 modified\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`},
		{"a value is replaced where that is asked for", "taint clusters eu-1 k=w:NoExecute --overwrite", "cluster/eu-1 modified\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[{"key":"k","value":"w","effect":"NoExecute"}]}}`},
		{"clusters are chosen by their labels", "taint clusters k- -l tier=gold", "cluster/eu-1 untainted\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`},
		{"the server only judges it", "taint clusters eu-1 k- --dry-run=server", "cluster/eu-1 untainted (server dry run)\n",
			`/eu-1?dryRun=All {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`},
		{"nothing is sent", "taint clusters eu-1 k- --dry-run", "cluster/eu-1 untainted (dry run)\n", ""},
		{"a cluster is cordoned", "cordon eu-1", "cluster/eu-1 cordoned\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[{"key":"k","value":"v","effect":"NoExecute"},{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}]}}`},
		{"a cluster is cordoned already", "cordon clusters eu-2", "cluster/eu-2 already cordoned\n", ""},
		{"a cordon ends, and a drain with it", "uncordon eu-2", "cluster/eu-2 uncordoned\n",
			`/eu-2 {"metadata":{"annotations":{"leeward.dev/drain":null},"resourceVersion":"2"},"spec":{"taints":[]}}`},
		{"there is no cordon to end", "uncordon eu-1", "cluster/eu-1 already uncordoned\n", ""},
		{"a cluster is drained", "drain eu-1", "cluster/eu-1 draining\n", `/eu-1 {"metadata":{"annotations":{"leeward.dev/drain":""},"resourceVersion":"1"}}`},
		{"a drain is awaited", "drain eu-2 --wait", "cluster/eu-2 already draining\ncluster/eu-2 drained of 5 of 5 bindings\n", ""},
		{"a drain ends", "drain eu-2 --cancel", "cluster/eu-2 not draining\n", `/eu-2 {"metadata":{"annotations":{"leeward.dev/drain":null},"resourceVersion":"2"}}`},
		{"a cluster is held", "hold cluster eu-1 --reason its_rack", "cluster/eu-1 held\n",
			`/eu-1 {"metadata":{"annotations":{"leeward.dev/hold-evictions":"its rack","leeward.dev/hold-until":null}}}`},
		{"a cluster is held no longer", "release cluster eu-1", "cluster/eu-1 not held\n",
			`/eu-1 {"metadata":{"annotations":{"leeward.dev/hold-evictions":null,"leeward.dev/hold-until":null}}}`},
		{"clusters are held by their labels", "hold clusters -l tier=gold --reason r", "cluster/eu-1 held\n",
			`/eu-1 {"metadata":{"annotations":{"leeward.dev/hold-evictions":"r","leeward.dev/hold-until":null}}}`},
		{"a cluster is named in one word", "cordon cluster/eu-1", "cluster/eu-1 cordoned\n",
			`/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[{"key":"k","value":"v","effect":"NoExecute"},{"key":"cluster.karmada.io/unschedulable","effect":"NoSchedule"}]}}`},
		{"a taint, too", "taint cluster/eu-1 k-", "cluster/eu-1 untainted\n", `/eu-1 {"metadata":{"resourceVersion":"1"},"spec":{"taints":[]}}`},
		{"a node is tainted", "taint nodes n2 a=b:PreferNoSchedule", "node/n2 tainted\n",
			`/n2 {"metadata":{"resourceVersion":"7"},"spec":{"taints":[{"key":"a","value":"b","effect":"PreferNoSchedule"}]}}`},
		{"a node is untainted", "taint no n1 k-", "node/n1 untainted\n", `/n1 {"metadata":{"resourceVersion":"6"},"spec":{"taints":[]}}`},
		{"a node is cordoned", "cordon nodes n1", "node/n1 cordoned\n", `/n1 {"metadata":{"resourceVersion":"6"},"spec":{"unschedulable":true}}`},
		{"a node is cordoned already", "cordon node/n2", "node/n2 already cordoned\n", ""},
		{"nodes are uncordoned by their labels", "uncordon nodes -l tier=gold", "node/n2 uncordoned\n", `/n2 {"metadata":{"resourceVersion":"7"},"spec":{"unschedulable":null}}`},
		{"a workload names its binding", "hold deploy/web -n shop --reason r", "resourcebinding/web-deployment held\n",
			`/web-deployment {"metadata":{"annotations":{"leeward.dev/hold-evictions":"r","leeward.dev/hold-until":null}}}`},
		{"in kubectl's other grammar, too", "release deployments.apps web -n shop", "resourcebinding/web-deployment not held\n",
			`/web-deployment {"metadata":{"annotations":{"leeward.dev/hold-evictions":null,"leeward.dev/hold-until":null,"leeward.dev/release-evictions":null}}}`},
		{"with the namespace of scenarios, too", "hold shop/web --reason r", "resourcebinding/web-deployment held\n",
			`/web-deployment {"metadata":{"annotations":{"leeward.dev/hold-evictions":"r","leeward.dev/hold-until":null}}}`},
		{"a binding waits for nothing", "release binding nginx -n shop --now --reason a_customer_waits", "resourcebinding/nginx released\n",
			`/nginx {"metadata":{"annotations":{"leeward.dev/release-evictions":"a customer waits"}}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := served(t)
			code, stdout, stderr := at(t, s, c.line)
			require.Equal(t, exitHeld, code, stderr)
			require.Equal(t, c.says, stdout)
			sent := s.Requests()
			if c.sends == "" {
				require.Empty(t, sent)
				return
			}
			require.Len(t, sent, 1)
			require.Equal(t, c.sends, sent[0][strings.Index(sent[0], strings.FieldsFunc(c.sends, func(r rune) bool { return r == ' ' })[0]):])
		})
	}
}

func TestEditsThatAreRefused(t *testing.T) {
	cases := []struct {
		name, line, says string
		code             int
	}{
		{"a taint is there", "taint clusters eu-1 k=w:NoExecute", "cluster eu-1 already has k taint(s) with same effect(s) and --overwrite is false", exitFailed},
		{"a taint is not there", "taint clusters eu-1 z:NoExecute-", `taint "z:NoExecute" not found`, exitFailed},
		{"another kind", "taint pods eu-1 k-", `invalid resource type pods, only ["cluster" "clusters" "node" "nodes"] are supported`, exitInvalid},
		{"a taint of a node is there", "taint nodes n1 k=w:NoExecute", "node n1 already has k taint(s) with same effect(s) and --overwrite is false", exitFailed},
		{"a node that is not there", "taint nodes n7 k-", "read node/n7: Not Found", exitFailed},
		{"nodes and clusters", "cordon nodes n1 cluster/eu-1", "want nodes, not cluster/eu-1", exitInvalid},
		{"flags of clusters for a drain of nodes", "drain nodes n1 --wait", "--cancel, --wait and --by are for clusters", exitInvalid},
		{"a selector of pods that is none", "drain nodes n1 --pod-selector a_in", "--pod-selector=<pod_selector> must be a valid label selector", exitInvalid},
		{"all, and a selector", "taint nodes --all -l tier=gold k-", "want names, --selector or --all, not two of them", exitInvalid},
		{"a key that is none", "taint nodes n1 b&d=x:NoSchedule", "invalid taint spec: b&d=x:NoSchedule, name part must consist of", exitInvalid},
		{"no name", "taint clusters k-", "at least one resource name must be specified", exitInvalid},
		{"no kind", "taint k-", "one or more resources must be specified as <resource> <name>", exitInvalid},
		{"no taint", "taint clusters eu-1", "at least one taint update is required", exitInvalid},
		{"a name behind a taint", "taint clusters eu-1 k- eu-2", "all resources must be specified before taint changes: eu-2", exitInvalid},
		{"names and a selector", "cordon eu-1 --all", "want names, --selector or --all, not two of them", exitInvalid},
		{"a cluster that is not there", "cordon eu-7", "read cluster/eu-7: Not Found", exitFailed},
		{"a hold without a reason", "hold cluster eu-1", "--reason is missing or empty: give a reason", exitInvalid},
		{"a hold of something else", "hold thing eu-1 --reason r", "want clusters NAME..., bindings NAME..., or workloads such as deployment/nginx", exitInvalid},
		{"a hold of nothing", "hold --reason r", "want clusters NAME..., bindings NAME..., or workloads such as deployment/nginx", exitInvalid},
		{"a hold of bindings without a name", "hold bindings --reason r", "workloads such as deployment/nginx, not bindings", exitInvalid},
		{"a hold of names and a selector", "hold deploy/web -l a=b --reason r", "want names, --selector or --all, not two of them", exitInvalid},
		{"a cordon of a workload", "cordon deploy/nginx", "want clusters, not deploy/nginx", exitInvalid},
		{"a taint of a workload", "taint deploy/nginx k-", `invalid resource type deploy, only ["cluster" "clusters" "node" "nodes"] are supported`, exitInvalid},
		{"a binding that is not there", "hold binding web -n shop --reason r", "resourcebinding/web: Not Found", exitFailed},
		{"a release of a whole cluster", "release cluster eu-1 --now --reason r", "--now is for bindings and workloads", exitInvalid},
		{"a cancellation with a deadline", "drain eu-1 --cancel --by 5m", "--cancel cannot be combined with --by or --wait", exitInvalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := at(t, served(t), c.line)
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
		})
	}
}

func TestADryRunOfADrainSaysWhatWouldBeEvictedWhenAndWhereTo(t *testing.T) {
	const preview = `{"metadata": {"name": "drain"}, "status": {"summary": ["2 bindings would be evicted, in 5m0s", "1 binding would be unschedulable"], "evicted": 2, "unschedulable": 1, "evictions": [
		{"namespace": "shop", "name": "nginx-deployment", "fromCluster": "eu-1", "toClusters": [{"name": "eu-2", "replicas": 2}, {"name": "us-1"}], "at": "2026-01-02T03:04:05.000000Z", "message": "drained"},
		{"name": "tools-clusterrole", "fromCluster": "eu-1", "at": "2026-01-02T03:09:05.000000Z", "message": "drained"}]}}`
	for _, asked := range []string{"client", "server"} {
		s := served(t)
		s.Answer("/apis/leeward.dev/v1alpha1/failoverpreviews", preview)
		code, stdout, stderr := at(t, s, "drain clusters eu-1 --dry-run="+asked)
		require.Equal(t, exitHeld, code, stderr)
		_, table, _ := strings.Cut(stdout, "dry run)\n")
		require.Equal(t, `NAMESPACE   BINDING             FROM   TO               AT                     REASON
shop        nginx-deployment    eu-1   eu-2 (2), us-1   2026-01-02T03:04:05Z   drained
            tools-clusterrole   eu-1   <none>           2026-01-02T03:09:05Z   drained
preview: 2 bindings would be evicted, in 5m0s
preview: 1 binding would be unschedulable
`, table)
		sent := s.Requests()
		require.Contains(t, sent[len(sent)-1], `"annotations":{"leeward.dev/drain":""}`)
		s.Await(clustersPath+"/eu-1", func(o *unstructured.Unstructured) bool {
			require.Empty(t, o.GetAnnotations(), "nothing is changed")
			return true
		})
	}
}

func TestADryRunOfADrainSaysThatAServerPreviewsNothing(t *testing.T) {
	s := served(t)
	s.Lack("/apis/leeward.dev/v1alpha1/failoverpreviews")
	code, stdout, stderr := at(t, s, "drain eu-1 --dry-run")
	require.Equal(t, exitHeld, code)
	require.Equal(t, "cluster/eu-1 draining (dry run)\n", stdout)
	require.Contains(t, stderr, "the server has no FailoverPreview")
}

func TestADrainIsAwaitedOnTheClustersThatWereChosen(t *testing.T) {
	drained := func(name string, left int) string {
		return fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"region": %q}, "annotations": {"leeward.dev/drain": ""}}, "status": {"drain": {"bindings": 5, "left": %d}}}`, name, name[:2], left)
	}
	for _, c := range []struct {
		name string
		does func(*clienttest.Server)
		says string
	}{
		{"until they are empty", func(s *clienttest.Server) { s.Put(clustersPath+"/eu-1", drained("eu-1", 0)) }, "cluster/eu-1 drained of 5 of 5 bindings"},
		{"until they are gone", func(s *clienttest.Server) { s.Remove(clustersPath + "/eu-1") }, ""},
		{"until they are to be used again", func(s *clienttest.Server) { s.Put(clustersPath+"/eu-1", `{"metadata": {"name": "eu-1"}}`) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := clienttest.New(t, map[string]string{clustersPath + "/eu-1": drained("eu-1", 2), clustersPath + "/us-1": drained("us-1", 3)})
			out, stdout := io.Pipe()
			args := append(words("drain -l region=eu --wait --kubeconfig"), kubeconfigOf(t, s.URL()))
			go func() {
				execute(args, stdout, io.Discard)
				_ = stdout.Close() // it never fails
			}()
			said := bufio.NewScanner(out)
			for _, line := range []string{"cluster/eu-1 already draining", "cluster/eu-1 drained of 3 of 5 bindings"} {
				require.True(t, said.Scan())
				require.Equal(t, line, said.Text())
			}
			c.does(s)
			said.Scan()
			require.Equal(t, c.says, said.Text())
			require.False(t, said.Scan(), "it ends")
		})
	}
}

func TestAPauseMakesTheGovernorAndIsAcknowledged(t *testing.T) {
	s := served(t)
	s.Remove(governorPath)
	said := make(chan string)
	args := append(words("pause --reason the_network_is_rebuilt --timeout 1h"), "--kubeconfig", kubeconfigOf(t, s.URL()))
	go func() {
		var out, problems bytes.Buffer
		execute(args, &out, &problems)
		said <- out.String() + problems.String()
	}()
	s.Await(governorPath, func(o *unstructured.Unstructured) bool {
		if o == nil {
			return false
		}
		reason, _, _ := unstructured.NestedString(o.Object, "spec", "pause", "reason")
		return reason == "the network is rebuilt"
	})
	select {
	case words := <-said:
		require.Fail(t, "no machine has taken it in", words)
	default:
	}
	s.Put(governorPath, `{"metadata": {"name": "fleet"}, "status": {"holds": [{"reason": "the network is rebuilt"}]}}`)
	require.Equal(t, "evictions paused\n", <-said)
	code, stdout, _ := at(t, s, "resume")
	require.Equal(t, exitHeld, code)
	require.Equal(t, "evictions resumed\n", stdout)
}

func TestAHoldThatNoLeaderTakesInIsNoSuccess(t *testing.T) {
	for _, line := range []string{"pause --reason x", "hold cluster eu-1 --reason x", "hold cluster eu-1 --reason r --for 1h"} {
		code, stdout, stderr := at(t, served(t), line+" --timeout 1ms")
		require.Equal(t, exitFailed, code, line)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "it is stored, but the daemon has not acknowledged it for 1ms", line)
		code, _, stderr = at(t, served(t), line+" --timeout 0")
		require.Equal(t, exitHeld, code, stderr)
	}
}

func TestClustersOfASimulatedMember(t *testing.T) {
	cases := []struct{ name, flag, clusters string }{
		{"one", "eu-1", "eu-1"},
		{"a list, each once", "us-1,eu-1,us-1", "eu-1,us-1"},
		{"braces, also with commas", "{eu,us}-{1..2},ap-1", "ap-1,eu-1,eu-2,us-1,us-2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var names namesFlag
			require.NoError(t, names.Set(c.flag))
			require.Equal(t, c.clusters, names.String())
		})
	}
}

func TestSimulatedMembersThatMakeNoSense(t *testing.T) {
	cases := []struct{ name, line, says string }{
		{"nobody", "member simulate", "--cluster is missing"},
		{"an open brace", "member simulate --cluster eu-{1", `"eu-{1" `},
		{"a failure that never begins", "member simulate --cluster eu-1 --fail silence", "need --fail-after"},
		{"a region of a cluster that is there", "member simulate --cluster eu-1 --region eu", "--region needs --create"},
		{"no quantity", "member simulate --cluster eu-1 --capacity cpu=much", `cpu: "much" must be a quantity, such as 100 or 40Gi`},
		{"no resource", "member simulate --cluster eu-1 --capacity 100", `"100" must be a resource and a quantity, such as cpu=100`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, _, stderr := at(t, served(t), c.line)
			require.Equal(t, exitInvalid, code)
			require.Contains(t, stderr, c.says)
		})
	}
}

func TestEditsOfOneClusterAtTheSameTimeAllSucceed(t *testing.T) {
	for _, writers := range []int{12, 50} {
		t.Run(fmt.Sprintf("%d writers", writers), func(t *testing.T) {
			s := served(t)
			kubeconfig := kubeconfigOf(t, s.URL())
			var all sync.WaitGroup
			said := make([]bytes.Buffer, writers)
			for i := range writers {
				all.Go(func() {
					execute([]string{"taint", "clusters", "eu-1", fmt.Sprintf("k%d:NoSchedule", i), "--kubeconfig", kubeconfig}, &said[i], &said[i])
				})
			}
			all.Wait()
			for i := range said {
				require.Equal(t, "cluster/eu-1 tainted\n", said[i].String())
			}
			s.Await(clustersPath+"/eu-1", func(o *unstructured.Unstructured) bool {
				taints, _, _ := unstructured.NestedSlice(o.Object, "spec", "taints")
				require.Len(t, taints, writers+1, "no taint is lost")
				return true
			})
		})
	}
}

func TestAnEditIsTriedAgainForAsLongAsIsSaid(t *testing.T) {
	waits, least, most := patience, time.Duration(0), time.Duration(0)
	waits.Jitter = 0
	for waits.Steps > 1 { // nothing is waited for after the last attempt
		wait := waits.Step()
		least, most = least+wait, most+wait+time.Duration(patience.Jitter*float64(wait))
	}
	said := fmt.Sprintf("for %d to %d seconds", int(least.Seconds()), int(most.Seconds()))
	docs, err := os.ReadFile("../../docs/api.md")
	require.NoError(t, err)
	require.Contains(t, string(docs), said)
	require.Contains(t, taintCommand().Long, said)
}

func TestADryRunOfATaintSaysWhichPodsWouldMove(t *testing.T) {
	s := served(t)
	s.Put("/api/v1/nodes/n3", `{"metadata": {"name": "n3"}, "status": {"allocatable": {"pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	s.Put("/api/v1/nodes/n4", `{"metadata": {"name": "n4"}, "status": {"allocatable": {"pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}`)
	s.Put("/apis/apps/v1/namespaces/shop/deployments/web", `{"metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 1,
		"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}}}`)
	s.Put("/api/v1/namespaces/shop/pods/web-1-x", `{"metadata": {"name": "web-1-x", "namespace": "shop", "labels": {"app": "web"},
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "controller": true}]},
		"spec": {"nodeName": "n3", "containers": [{"name": "c"}]}, "status": {"phase": "Running"}}`)
	code, stdout, stderr := at(t, s, "taint nodes n3 maintenance:NoExecute --dry-run=client")
	require.Equal(t, exitHeld, code, stderr)
	require.Equal(t, `node/n3 tainted (dry run)
NAMESPACE   POD       NODE   EVICTED AFTER   REASON
shop        web-1-x   n3     0s              taint maintenance:NoExecute; not tolerated
others would run on n4 (1)
preview: 1 pod would be evicted within 1h0m0s, 1 bound elsewhere, 0 pending at the end; nothing was changed
`, stdout)
	for _, request := range s.Requests() {
		require.NotContains(t, request, "PATCH")
	}
}

// A daemon stores the Deployments that policies propagate, and makes no pods of them.
func TestADryRunAtAFleetMakesNoPodsOfWhatIsPropagated(t *testing.T) {
	s := clienttest.New(t, nil)
	for _, n := range []string{"n3", "n4"} {
		s.Put("/api/v1/nodes/"+n, fmt.Sprintf(`{"metadata": {"name": %q}, "status": {"allocatable": {"pods": "1"}, "conditions": [{"type": "Ready", "status": "True"}]}}`, n))
	}
	put := func(plural, name, owner string) {
		s.Put("/apis/apps/v1/namespaces/shop/"+plural+"/"+name, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop", "ownerReferences": [%s]}, "spec": {"replicas": 1,
			"selector": {"matchLabels": {"app": %q}}, "template": {"metadata": {"labels": {"app": %q}}, "spec": {"containers": [{"name": "c"}]}}}}`, name, owner, name, name))
	}
	put("deployments", "propagated", "")
	put("deployments", "web", "")
	put("replicasets", "web", `{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": true}`)
	s.Put("/api/v1/namespaces/shop/pods/web-x", `{"metadata": {"name": "web-x", "namespace": "shop", "labels": {"app": "web"},
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": true}]},
		"spec": {"nodeName": "n3", "containers": [{"name": "c"}]}, "status": {"phase": "Running"}}`)
	for resource, want := range map[string]string{"clusters": "1 bound elsewhere, 0 pending", "others": "0 bound elsewhere, 1 pending"} {
		s.Put("/apis/cluster.karmada.io/v1alpha1", fmt.Sprintf(`{"kind": "APIResourceList", "resources": [{"name": %q}]}`, resource))
		code, stdout, stderr := at(t, s, "taint nodes n3 maintenance:NoExecute --dry-run=client")
		require.Equal(t, exitHeld, code, stderr)
		require.Contains(t, stdout, "preview: 1 pod would be evicted within 1h0m0s, "+want)
	}
}
