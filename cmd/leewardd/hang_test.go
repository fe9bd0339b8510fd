package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/store"
)

// hang is main with a machine whose step does not return once it hears of a taint.
func hang(culprit string) {
	if err := runHanging(culprit); err != nil {
		fmt.Fprintln(os.Stderr, "leewardd:", err)
		os.Exit(1)
	}
}

func runHanging(culprit string) error {
	line := newCommandLine()
	if err := line.flags().Parse(os.Args[1:]); err != nil {
		return err
	}
	c, err := line.read()
	if err != nil {
		return err
	}
	d, err := newDaemon(line, c, newLogger(&c.options, os.Stderr))
	if err != nil {
		return err
	}
	d.machines.config.Tamper = func(_ time.Time, to messages.Address, m messages.Message) []messages.Message {
		if changed, is := m.(*messages.TaintsChanged); is && len(changed.Taints) > 0 && to.String() == culprit {
			select {}
		}
		return []messages.Message{m}
	}
	return d.run(context.Background(), os.Stdout, nil)
}

// apiBinding is that of a second workload.
var apiBinding = api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "api-deployment"}

// TestADaemonQuarantinesTheMachineThatHangsAndGoesOnWithAllOthers has a machine of a daemon, in a process of its own, hang for good.
func TestADaemonQuarantinesTheMachineThatHangsAndGoesOnWithAllOthers(t *testing.T) {
	t.Parallel() // it waits
	const limit = "--machine-step-limit=3s"
	dir := t.TempDir()
	r, _ := spawnWith(t, dir, "binding/default/web-deployment", limit)
	seen := see(t, r)
	r.apply(strings.ReplaceAll(manifests, "3600", "1"))
	_, workload, _ := strings.Cut(manifests, "kind: Deployment}]")
	_, workload, _ = strings.Cut(workload, "---\n")
	r.apply(strings.ReplaceAll(workload, "name: web", "name: api"))
	r.apply("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m2}\nspec: {syncMode: Pull, taints: [{key: later, effect: NoSchedule}]}\n")
	r.patch("m1", up, "status")
	r.patch("m2", up, "status")
	on := func(cluster string) func(*api.ResourceBinding) bool {
		return func(b *api.ResourceBinding) bool {
			return len(b.Spec.Clusters) == 1 && b.Spec.Clusters[0].Name == cluster
		}
	}
	await(seen, webBinding, on("m1"))
	await(seen, apiBinding, on("m1"))
	r.patch("m2", `{"spec":{"taints":[]}}`)
	began := time.Now().Truncate(time.Second)
	r.patch("m1", `{"spec":{"taints":[{"key":"failed","effect":"NoExecute"}]}}`)

	await(seen, apiBinding, on("m2"))
	await(seen, store.GovernorKey, func(g *api.Governor) bool { return g.Status.QuarantinedCount == 1 })
	o, err := seen.client.Get(t.Context(), catalog.Governors, "", api.GovernorName)
	require.NoError(t, err)
	shown := o.(*api.Governor).Status.Quarantined
	require.Len(t, shown, 1)
	require.Equal(t, []string{"ResourceBinding", "default", "web-deployment", "TaintsChanged"}, []string{shown[0].Kind, shown[0].Namespace, shown[0].Name, shown[0].Step})
	require.False(t, shown[0].Since.Time.Before(began), "%s is before %s", shown[0].Since, began)
	require.Equal(t, firstQuarantine, shown[0].NotBefore.Sub(shown[0].Since.Time))
	require.True(t, r.log.has(`"machine":"binding/default/web-deployment","received":"*messages.TaintsChanged"`))
	_, metrics := r.read("/metrics")
	require.Contains(t, metrics, "\nleeward_machines_quarantined{machine=\"binding\"} 1\n")
	_, web := r.read("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment")
	require.Contains(t, web, `"name":"m1"`, "nothing is decided for it")
	require.NotContains(t, web, "gracefulEvictionTasks")
	code, body := r.read("/readyz")
	require.Equal(t, 200, code, body)

	require.NoError(t, r.stop())
	again, _ := spawnIn(t, dir, limit)
	seen = see(t, again)
	await(seen, webBinding, on("m2"))
	await(seen, store.GovernorKey, func(g *api.Governor) bool { return g.Status.QuarantinedCount == 0 })
}
