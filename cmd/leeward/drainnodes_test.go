package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

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
	require.Regexp(t, `shop +web-1 +n3 +blocked +Cannot evict pod as it would violate the pod's disruption budget. The disruption budget b needs 1 healthy pods and has 1 currently`, stdout)
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
	code, stdout, stderr := at(t, s, "drain nodes n3 --pod-selector app=web --timeout=-1s")
	require.Equal(t, exitInvalid, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "--timeout is -1s: want zero or more")
	code, stdout, stderr = at(t, s, "drain nodes n3 --pod-selector app=web --timeout 1ns")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stdout, "evicting pod shop/web-1\n")
	require.Contains(t, stderr, `error when evicting pods/"web-1" -n "shop": global timeout reached: 1ns`)
	require.Regexp(t, `(?m)^There are pending pods in node "n3" when an error occurred: error when evicting pods/"web-1" -n "shop": global timeout reached: 1ns\npod/web-1$`, stderr)
}

// Each step is five seconds after the one before; all but the last leave something to do.
func TestHowADrainOfNodesWaitsForAPod(t *testing.T) {
	const path = "/api/v1/namespaces/shop/pods/web"
	pod := func(uid, more string) string {
		return fmt.Sprintf(`{"metadata": {"name": "web", "namespace": "shop", "uid": %q %s}}`, uid, more)
	}
	const refused, closing = `, "annotations": {"test/refused": "yes"}`, `, "annotations": {"test/refused": "namespace"}`
	const ending = closing + `, "deletionTimestamp": "2026-01-02T03:04:05Z", "finalizers": ["a/b"]`
	const dying = closing + `, "deletionTimestamp": "1970-01-01T00:00:00Z", "finalizers": ["a/b"]`
	const asks, evicted = "evicting pod shop/web\n", "pod/web evicted\n"
	const later = `error when evicting pods/"web" -n "shop" (will retry after 5s): Too Many Requests` + "\n"
	const closed = `error when evicting pod "web" from terminating namespace "shop" (will retry after 5s): Forbidden` + "\n"
	for name, c := range map[string]struct {
		steps  []string // the pod that the server has then; empty: none
		delete bool
		skip   int
		says   string
	}{
		"it ends immediately":                    {steps: []string{pod("u", "")}, says: asks + evicted},
		"it has gone since it was listed":        {steps: []string{""}, says: asks},
		"it is deleted and not evicted":          {steps: []string{pod("u", refused)}, delete: true, says: "pod/web deleted\n"},
		"it is refused at first":                 {steps: []string{pod("u", refused), pod("u", "")}, says: asks + later + asks + evicted},
		"it ends with its namespace":             {steps: []string{pod("u", ending), pod("u", ending), ""}, says: asks + evicted},
		"it will end with its namespace":         {steps: []string{pod("u", closing), pod("u", ending), pod("u", ending), ""}, says: asks + closed + asks + closed + asks + evicted},
		"it is deleted for long":                 {steps: []string{pod("u", dying), pod("u", dying), pod("u", dying)}, skip: 7, says: asks + `pod "web" has DeletionTimestamp older than 7 seconds, skipping` + "\n"},
		"another has its name when it has ended": {steps: []string{pod("u", ending), pod("w", "")}, says: asks + evicted},
	} {
		t.Run(name, func(t *testing.T) {
			s := clienttest.New(t, nil)
			var said bytes.Buffer
			out := &cobra.Command{}
			out.SetOut(&said)
			out.SetErr(&said)
			r := &removing{draining: &draining{editing: newEditing()}, out: out, clock: clock.NewMock()}
			r.client, r.nodes.options.DisableEviction = s.Client(&said), c.delete
			r.nodes.skip = c.skip
			require.NoError(t, r.nodes.read())
			waits := &removed{Pod: &corev1.Pod{}, asked: r.clock.Now().Add(-evictAgain)}
			require.NoError(t, json.Unmarshal([]byte(cmp.Or(c.steps[0], pod("u", ""))), waits.Pod))
			for i, at := range c.steps {
				if at != "" {
					s.Put(path, at)
				} else if i > 0 {
					s.Remove(path)
				}
				require.Equal(t, i < len(c.steps)-1, r.step(t.Context(), waits, false), "step %d", i)
				r.clock.(*clock.Mock).Add(evictAgain)
			}
			require.Equal(t, c.says, said.String())
			require.Empty(t, r.errs)
		})
	}
}
