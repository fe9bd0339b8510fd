package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/client/clienttest"
)

// drainable is a node n3 with a pod web-1 of a ReplicaSet, one of a DaemonSet and a bare one, and a node n4 with nothing.
func drainable(t *testing.T) *clienttest.Server {
	t.Helper()
	s := served(t)
	for _, n := range []string{"n3", "n4"} {
		s.Put("/api/v1/nodes/"+n, fmt.Sprintf(`{"metadata": {"name": %q}, "status": {"allocatable": {"pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}`, n))
	}
	s.Put("/apis/apps/v1/namespaces/shop/daemonsets/agent", `{"metadata": {"name": "agent", "namespace": "shop"}, "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}}}`)
	put := func(name, labels, owner, more string) {
		s.Put("/api/v1/namespaces/shop/pods/"+name, fmt.Sprintf(`{"metadata": {"name": %q, "namespace": "shop", "uid": %q, "labels": {"app": %q}, "ownerReferences": [%s] %s}, "spec": {"nodeName": "n3"},
			"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}`, name, name, labels, owner, more))
	}
	put("web-1", "web", `{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": true}`, "")
	put("agent-1", "agent", `{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": true}`, "")
	put("bare", "bare", "", "")
	return s
}

func TestADrainOfNodesSaysWhatKubectlSays(t *testing.T) {
	s := drainable(t)
	code, stdout, stderr := at(t, s, "drain nodes n3")
	require.Equal(t, exitFailed, code)
	require.Equal(t, "node/n3 cordoned\n", stdout)
	require.Contains(t, stderr, `error: unable to drain node "n3" due to error: [cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): shop/agent-1, cannot delete Pods that declare no controller (use --force to override): shop/bare], continuing command...
There are pending nodes to be drained:
 n3
`)

	code, stdout, stderr = at(t, s, "drain nodes n3 n4 --ignore-daemonsets --force")
	require.Zero(t, code, stderr)
	require.Equal(t, "node/n3 already cordoned\nnode/n4 cordoned\nevicting pod shop/bare\npod/bare evicted\nevicting pod shop/web-1\npod/web-1 evicted\nnode/n3 drained\nnode/n4 drained\n", stdout)
	require.Contains(t, stderr, "ignoring DaemonSet-managed Pods: shop/agent-1")
}

func TestADryRunOfADrainSaysWhatABudgetWouldBlock(t *testing.T) {
	s := drainable(t)
	s.Put("/apis/policy/v1/namespaces/shop/poddisruptionbudgets/b", `{"metadata": {"name": "b", "namespace": "shop"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}}`)
	code, stdout, stderr := at(t, s, "drain nodes n3 --ignore-daemonsets --force --dry-run=client")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "node/n3 cordoned (dry run)\nevicting pod shop/bare (dry run)\nevicting pod shop/web-1 (dry run)\nnode/n3 drained (dry run)\n")
	require.Regexp(t, `shop +bare +n3 +0s +drain of node n3`, stdout)
	require.Regexp(t, `shop +web-1 +<none> +blocked +Cannot evict pod as it would violate the pod's disruption budget. The disruption budget b needs 1 healthy pods and has 1 currently`, stdout)
	require.Empty(t, s.Requests())
	s.Forbid("/apis/policy/v1/poddisruptionbudgets")
	for _, preview := range []string{"drain nodes n3 --ignore-daemonsets --force", "taint nodes n3 gone:NoExecute"} {
		code, stdout, stderr = at(t, s, preview+" --dry-run=client")
		require.Zero(t, code, stderr)
		require.Regexp(t, `shop +web-1 +n3 +0s `, stdout)
		require.Contains(t, stderr, "Warning: PodDisruptionBudgets are unknown, and which evictions they would block: ")
	}
}

func TestADrainIsGivenUpAfterItsTimeout(t *testing.T) {
	s := drainable(t)
	s.Put("/api/v1/namespaces/shop/pods/web-1", `{"metadata": {"name": "web-1", "namespace": "shop", "uid": "web-1", "labels": {"app": "web"}, "annotations": {"test/refused": "yes"},
		"ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "controller": true}]}, "spec": {"nodeName": "n3"}}`)
	code, stdout, stderr := at(t, s, "drain nodes n3 --pod-selector app=web --timeout 1ns")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "evicting pod shop/web-1\n")
	require.Contains(t, stderr, `error when evicting pods/"web-1" -n "shop": global timeout reached: 1ns`)
	require.Regexp(t, `(?m)^There are pending pods in node "n3" when an error occurred: error when evicting pods/"web-1" -n "shop": global timeout reached: 1ns\npod/web-1$`, stderr)
}
