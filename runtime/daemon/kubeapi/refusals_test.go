package kubeapi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// TestWhatOnlyTheMemberWouldRefuseIsRefused writes what no cluster could run, and the same set right.
func TestWhatOnlyTheMemberWouldRefuseIsRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	d := serve(t)
	large := strings.Repeat("x", 1<<20)
	const apps, batch = "apiVersion: apps/v1\nkind: ", "apiVersion: batch/v1\nkind: "
	const selector, labels, containers = "selector: {matchLabels: {a: b}}, ", "metadata: {labels: {a: b}}, ", "containers: [{name: c, image: i}]"
	workload := func(selector, pod string) string {
		return "Deployment\nspec: {" + selector + "template: {" + labels + "spec: {" + pod + "}}}"
	}
	job := func(pod string) string { return "Job\nspec: {template: {spec: {" + pod + "}}}" }
	cron := func(rest string) string {
		return "CronJob\nspec: {" + rest + ", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, " + containers + "}}}}}"
	}
	service := func(spec string) string { return "apiVersion: v1\nkind: Service\nspec: " + spec }
	for name, c := range map[string]struct{ wrong, right, field string }{
		"a Deployment without a selector": {apps + workload("", containers), apps + workload(selector, containers), "spec.selector"},
		"one of all pods":                 {apps + workload("selector: {}, ", containers), apps + workload(selector, containers), "spec.selector"},
		"one without containers":          {apps + workload(selector, ""), apps + workload(selector, containers), "spec.template.spec.containers"},
		"one without an image":            {apps + workload(selector, "containers: [{name: c}]"), apps + workload(selector, containers), "spec.template.spec.containers[0].image"},
		"a container without a name":      {apps + workload(selector, "containers: [{image: i}]"), apps + workload(selector, containers), "spec.template.spec.containers[0].name"},
		"two containers of one name": {apps + workload(selector, "containers: [{name: c, image: i}, {name: c, image: i}]"),
			apps + workload(selector, "containers: [{name: c, image: i}, {name: d, image: i}]"), "spec.template.spec.containers[1].name"},
		"a Deployment that ends": {apps + workload(selector, "restartPolicy: Never, "+containers), apps + workload(selector, "restartPolicy: Always, "+containers), "spec.template.spec.restartPolicy"},
		"a request above its limit": {apps + workload(selector, "containers: [{name: c, image: i, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]"),
			apps + workload(selector, "containers: [{name: c, image: i, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]"), "spec.template.spec.containers[0].resources.requests[cpu]"},
		"a StatefulSet without a selector": {apps + strings.Replace(workload("", containers), "Deployment", "StatefulSet", 1), apps + strings.Replace(workload(selector, containers), "Deployment", "StatefulSet", 1), "spec.selector"},
		"a DaemonSet without containers":   {apps + strings.Replace(workload(selector, ""), "Deployment", "DaemonSet", 1), apps + strings.Replace(workload(selector, containers), "Deployment", "DaemonSet", 1), "spec.template.spec.containers"},
		"a ReplicaSet without an image":    {apps + strings.Replace(workload(selector, "containers: [{name: c}]"), "Deployment", "ReplicaSet", 1), apps + strings.Replace(workload(selector, containers), "Deployment", "ReplicaSet", 1), "spec.template.spec.containers[0].image"},
		"a Job that goes on for ever":      {batch + job("restartPolicy: Always, "+containers), batch + job("restartPolicy: OnFailure, "+containers), "spec.template.spec.restartPolicy"},
		"a Job that does not say":          {batch + job(containers), batch + job("restartPolicy: Never, "+containers), "spec.template.spec.restartPolicy"},
		"a Job without containers":         {batch + job("restartPolicy: Never"), batch + job("restartPolicy: Never, "+containers), "spec.template.spec.containers"},
		"a CronJob at no time":             {batch + cron("schedule: '61 * * * *'"), batch + cron("schedule: '59 * * * *'"), "spec.schedule"},
		"a CronJob without a schedule":     {batch + cron("suspend: true"), batch + cron("schedule: '@hourly'"), "spec.schedule"},
		"a CronJob of no place":            {batch + cron("schedule: '@hourly', timeZone: Mars/Olympus"), batch + cron("schedule: '@hourly', timeZone: UTC"), "spec.timeZone"},
		"a CronJob with its zone":          {batch + cron("schedule: 'TZ=UTC 0 * * * *'"), batch + cron("schedule: '0 * * * *'"), "spec.schedule"},
		"a CronJob of another mind":        {batch + cron("schedule: '@hourly', concurrencyPolicy: Perhaps"), batch + cron("schedule: '@hourly', concurrencyPolicy: Forbid"), "spec.concurrencyPolicy"},
		"a port that is none":              {service("{ports: [{port: 70000}]}"), service("{ports: [{port: 7000}]}"), "spec.ports[0].port"},
		"no port":                          {service("{}"), service("{clusterIP: None}"), "spec.ports"},
		"ports without names":              {service("{ports: [{port: 1}, {port: 2}]}"), service("{ports: [{port: 1, name: a}, {port: 2, name: b}]}"), "spec.ports[0].name"},
		"a port twice":                     {service("{ports: [{port: 1, name: a}, {port: 1, name: b}]}"), service("{ports: [{port: 1, name: a}, {port: 1, name: b, protocol: UDP}]}"), "spec.ports[1].port"},
		"a protocol that is none":          {service("{ports: [{port: 1, protocol: HTTP}]}"), service("{ports: [{port: 1, protocol: SCTP}]}"), "spec.ports[0].protocol"},
		"a target that is none":            {service("{ports: [{port: 1, targetPort: -5}]}"), service("{ports: [{port: 1, targetPort: web}]}"), "spec.ports[0].targetPort"},
		"a name of nothing":                {service("{type: ExternalName}"), service("{type: ExternalName, externalName: a.example}"), "spec.externalName"},
		"a large ConfigMap":                {"apiVersion: v1\nkind: ConfigMap\ndata: {a: x" + large + "}", "apiVersion: v1\nkind: ConfigMap\ndata: {a: " + large + "}", "data"},
		"a key that is none":               {"apiVersion: v1\nkind: ConfigMap\ndata: {'a/b': x}", "apiVersion: v1\nkind: ConfigMap\ndata: {a.b: x}", "data[a/b]"},
		"a key twice":                      {"apiVersion: v1\nkind: ConfigMap\ndata: {a: x}\nbinaryData: {a: eA==}", "apiVersion: v1\nkind: ConfigMap\ndata: {a: x}\nbinaryData: {b: eA==}", "binaryData[a]"},
		"a large Secret":                   {"apiVersion: v1\nkind: Secret\nstringData: {a: x" + large + "}", "apiVersion: v1\nkind: Secret\nstringData: {a: " + large + "}", "data"},
		"a Secret that lacks a key":        {"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nstringData: {tls.crt: x}", "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nstringData: {tls.crt: x, tls.key: z}", "data[tls.key]"},
	} {
		t.Run(name, func(t *testing.T) {
			write := func(text string) error {
				o := parse(t, text)
				o.SetName("o")
				_, err := d.client(kubeapi.Admin()).Resource(resourceOf(t, o)).Namespace("default").Create(t.Context(), o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return err
			}
			refusedFor(t, write(c.wrong), c.field)
			require.NoError(t, write(c.right))
		})
	}
}

func TestWhatIsImmutableStays(t *testing.T) {
	d := serve(t)
	for _, kind := range []string{"ConfigMap", "Secret"} {
		o := object("v1", kind, "default", "fixed", nil)
		o.Object["immutable"], o.Object["data"] = true, map[string]any{"a": "eA=="}
		at := d.client(kubeapi.Admin()).Resource(resourceOf(t, o)).Namespace("default")
		_, err := at.Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
		for patch, field := range map[string]string{`{"data":{"a":"eQ=="}}`: "data", `{"immutable":false}`: "immutable"} {
			_, err := at.Patch(t.Context(), "fixed", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			refusedFor(t, err, field)
		}
		_, err = at.Patch(t.Context(), "fixed", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
}

// TestAWorkloadOfOldMayBeScaled: one that was stored before it would have been refused is not stuck.
func TestAWorkloadOfOldMayBeScaled(t *testing.T) {
	d := serve(t)
	old := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "default", UID: "u"}}
	table := catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"}).Name()
	require.NoError(t, d.engine.Commit(engine.Create(engine.Key(table, "default", "old"), old)))
	stored := d.client(kubeapi.Admin()).Resource(deployments).Namespace("default")
	scaled, err := stored.Patch(t.Context(), "old", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Equal(t, "3", at(t, scaled, ".spec.replicas"))
	_, err = stored.Patch(t.Context(), "old", types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`), metav1.PatchOptions{})
	refusedFor(t, err, "spec.template.spec.containers[0].image")
}
