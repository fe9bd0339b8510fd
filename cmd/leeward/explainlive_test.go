package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/client/clienttest"
)

func TestNodesAndPodsOfAServerAreExplained(t *testing.T) {
	s := clienttest.New(t, map[string]string{
		"/api/v1/nodes/n1": `{"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "a"}},
			"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute", "timeAdded": "2026-11-01T10:00:30Z"}]}, "status": {"allocatable": {"pods": "10"},
			"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-10-01T10:00:00Z", "lastHeartbeatTime": "2026-11-01T10:01:40Z"}]}}`,
		"/api/v1/nodes/n2": `{"metadata": {"name": "n2"}, "status": {"allocatable": {"pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}`,
		"/api/v1/namespaces/shop/pods/web": `{"metadata": {"namespace": "shop", "name": "web", "uid": "u1"}, "spec": {"nodeName": "n1",
			"containers": [{"name": "c", "image": "i"}], "tolerations": [{"key": "maintenance", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}]},
			"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}`,
	})
	s.Lack("/apis/policy/v1/poddisruptionbudgets")
	explained := func(want int, what string) (out, problems string) {
		code, out, problems := at(t, s, "explain "+what)
		require.Equal(t, want, code, problems)
		return out, problems
	}
	node, _ := explained(0, "node n1")
	require.Contains(t, node, "zone a: Normal")
	require.Regexp(t, `shop/web +Running +yes +eviction scheduled +00:08:30 +maintenance:NoExecute; for 600s`, node, "ten minutes from the taint on, which the fleet has had for one and a half")
	pod, _ := explained(0, "pod web -n shop")
	require.Contains(t, pod, "eviction scheduled from n1 for 00:08:30")
	_, problems := explained(2, "node n3")
	require.Contains(t, problems, `there is no node "n3" at 00:00:00; there is n1, n2`)
	require.Empty(t, s.Requests(), "nothing is written at the server")
	s.Forbid("/api/v1/pods")
	_, problems = explained(1, "pod web -n shop")
	require.Contains(t, problems, s.URL()+": list pods: ")
}
