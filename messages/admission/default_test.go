package admission_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
)

// admitted returns the spec of a manifest after Default, as JSON.
func admitted(t *testing.T, text string, s *messages.Settings) string {
	t.Helper()
	o := read(t, text)
	admission.Default(o, s, now)
	whole, err := json.Marshal(o)
	require.NoError(t, err)
	var parts struct{ Spec json.RawMessage }
	require.NoError(t, json.Unmarshal(whole, &parts))
	admission.Default(o, s, now.Add(time.Hour))
	again, err := json.Marshal(o)
	require.NoError(t, err)
	require.Equal(t, string(whole), string(again), "defaults are not stable")
	return string(parts.Spec)
}

func TestDefaultsOfAPolicy(t *testing.T) {
	const selector = `"resourceSelectors":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"d"}]`
	const rest = `"priority":0,"preemption":"Never","schedulerName":"default-scheduler"`
	for name, c := range map[string]struct{ rest, want string }{
		"a policy of nothing": {"", `{` + selector + `,` + rest + `,"conflictResolution":"Abort"}`},
		"what is set stays": {"priority: 3, preemption: Always, schedulerName: s, conflictResolution: Overwrite",
			`{` + selector + `,"priority":3,"preemption":"Always","schedulerName":"s","conflictResolution":"Overwrite"}`},
		"a spread by nothing is by cluster": {"placement: {spreadConstraints: [{maxGroups: 2}]}",
			`{` + selector + `,"placement":{"spreadConstraints":[{"spreadByField":"cluster","maxGroups":2,"minGroups":1}]},` + rest + `,"conflictResolution":"Abort"}`},
		"a spread by label stays": {"placement: {spreadConstraints: [{spreadByLabel: l, minGroups: 2}]}",
			`{` + selector + `,"placement":{"spreadConstraints":[{"spreadByLabel":"l","minGroups":2}]},` + rest + `,"conflictResolution":"Abort"}`},
		"replicas are divided by weight": {"placement: {replicaScheduling: {}}",
			`{` + selector + `,"placement":{"replicaScheduling":{"replicaSchedulingType":"Divided","replicaDivisionPreference":"Weighted"}},` + rest + `,"conflictResolution":"Abort"}`},
		"duplicates are not divided": {"placement: {replicaScheduling: {replicaSchedulingType: Duplicated}}",
			`{` + selector + `,"placement":{"replicaScheduling":{"replicaSchedulingType":"Duplicated"}},` + rest + `,"conflictResolution":"Abort"}`},
		"failover waits 300 s and its handover takes 600 s": {"failover: {application: {decisionConditions: {}}, cluster: {}}",
			`{` + selector + `,` + rest + `,"failover":{"application":{"decisionConditions":{"tolerationSeconds":300},"purgeMode":"Gracefully","gracePeriodSeconds":600},"cluster":{"purgeMode":"Gracefully"}},"conflictResolution":"Abort"}`},
		"a direct purge has no grace": {"failover: {application: {decisionConditions: {tolerationSeconds: 0}, purgeMode: Directly}, cluster: {purgeMode: Directly}}",
			`{` + selector + `,` + rest + `,"failover":{"application":{"decisionConditions":{"tolerationSeconds":0},"purgeMode":"Directly"},"cluster":{"purgeMode":"Directly"}},"conflictResolution":"Abort"}`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, admitted(t, policy(c.rest), karmada()))
		})
	}
}

func TestASelectorOfAPolicyIsInItsNamespace(t *testing.T) {
	own := read(t, "PropagationPolicy\nmetadata: {name: a, namespace: shop}\nspec: {resourceSelectors: [{apiVersion: v1, kind: K}, {apiVersion: v1, kind: K, namespace: b}]}\n").(*api.PropagationPolicy)
	admission.Default(own, karmada(), now)
	require.Equal(t, "shop", own.Spec.ResourceSelectors[0].Namespace)
	require.Equal(t, "b", own.Spec.ResourceSelectors[1].Namespace)

	any := read(t, "ClusterPropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K}]}\n").(*api.ClusterPropagationPolicy)
	admission.Default(any, karmada(), now)
	require.Empty(t, any.Spec.ResourceSelectors[0].Namespace)
}

func TestAServiceImportTakesItsDependenciesAlong(t *testing.T) {
	p := read(t, "PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport}]}\n").(*api.PropagationPolicy)
	admission.Default(p, karmada(), now)
	require.True(t, p.Spec.PropagateDeps)
}

func TestDefaultTolerations(t *testing.T) {
	const notReady = `{"key":"cluster.karmada.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}`
	const unreachable = `{"key":"cluster.karmada.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":0}`
	legacy := karmada()
	legacy.DefaultNotReadyTolerationSeconds, legacy.DefaultUnreachableTolerationSeconds = 300, 0
	for name, c := range map[string]struct {
		own, want string
		settings  *messages.Settings
	}{
		"none today":              {"[]", "", karmada()},
		"two in the legacy era":   {"[]", notReady + "," + unreachable, legacy},
		"behind the policy's own": {"[{operator: Exists}]", `{"operator":"Exists"},` + notReady + "," + unreachable, legacy},
		"not where there is an equal": {
			"[{key: cluster.karmada.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]",
			`{"key":"cluster.karmada.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},` + unreachable,
			legacy,
		},
		"though where one differs": {"[{key: cluster.karmada.io/not-ready, effect: NoExecute}]",
			`{"key":"cluster.karmada.io/not-ready","effect":"NoExecute"},` + notReady + "," + unreachable, legacy},
	} {
		t.Run(name, func(t *testing.T) {
			spec := admitted(t, policy("placement: {clusterTolerations: "+c.own+"}"), c.settings)
			var parts struct {
				Placement struct{ ClusterTolerations json.RawMessage }
			}
			require.NoError(t, json.Unmarshal([]byte(spec), &parts))
			want := "[" + c.want + "]"
			if c.want == "" {
				want = ""
			}
			require.Equal(t, want, string(parts.Placement.ClusterTolerations))
		})
	}
}

func TestDefaultsOfACluster(t *testing.T) {
	const cluster = "Cluster\nspec: {zone: a, taints: [{key: k, effect: NoExecute}, {key: k, effect: NoSchedule}, {key: l, effect: NoExecute, timeAdded: 2026-01-01T00:00:00Z}]}\n"
	for name, c := range map[string]struct {
		settings *messages.Settings
		added    time.Time
	}{
		"whole seconds as in Karmada": {karmada(), now.Truncate(time.Second)},
		"exactly":                     {leeward(), now},
	} {
		t.Run(name, func(t *testing.T) {
			o := read(t, cluster).(*api.Cluster)
			admission.Default(o, c.settings, now)
			require.Equal(t, api.Push, o.Spec.SyncMode)
			require.Empty(t, o.Spec.Zone)
			require.Equal(t, []string{"a"}, o.Spec.Zones)
			require.Equal(t, c.added, o.Spec.Taints[0].TimeAdded.Time)
			require.Nil(t, o.Spec.Taints[1].TimeAdded)
			require.Equal(t, 2026*12, o.Spec.Taints[2].TimeAdded.Year()*12+int(o.Spec.Taints[2].TimeAdded.Month())-1)
		})
	}
	pulled := read(t, "Cluster\nspec: {syncMode: Pull}\n").(*api.Cluster)
	admission.Default(pulled, karmada(), now)
	require.Equal(t, api.Pull, pulled.Spec.SyncMode)
	both := read(t, "Cluster\nspec: {zone: a, zones: [b]}\n").(*api.Cluster)
	admission.Default(both, karmada(), now)
	require.Equal(t, "a", both.Spec.Zone, "for validation to refuse")
}

func TestDefaultsOfABinding(t *testing.T) {
	require.Equal(t,
		`{"resource":{"apiVersion":"v1","kind":"K","namespace":"default","name":"o"},"schedulerName":"default-scheduler","placement":{"replicaScheduling":{"replicaSchedulingType":"Divided"}},"failover":{"cluster":{"purgeMode":"Gracefully"}},"conflictResolution":"Abort"}`,
		admitted(t, "ResourceBinding\nspec: {resource: {apiVersion: v1, kind: K, name: o}, placement: {replicaScheduling: {}}, failover: {cluster: {}}}\n", karmada()))
	require.Equal(t, `{"resource":{"apiVersion":"v1","kind":"K","name":"o"},"schedulerName":"default-scheduler","conflictResolution":"Abort"}`,
		admitted(t, "ClusterResourceBinding\nspec: {resource: {apiVersion: v1, kind: K, name: o}}\n", karmada()))
}

func TestDefaultCountsOfWorkloads(t *testing.T) {
	deployment := read(t, "Deployment\nspec: {}\n").(*appsv1.Deployment)
	stateful := read(t, "StatefulSet\nspec: {}\n").(*appsv1.StatefulSet)
	replica := read(t, "ReplicaSet\nspec: {replicas: 0}\n").(*appsv1.ReplicaSet)
	once := read(t, "Job\nspec: {}\n").(*batchv1.Job)
	queue := read(t, "Job\nspec: {parallelism: 3}\n").(*batchv1.Job)
	fixed := read(t, "Job\nspec: {completions: 5}\n").(*batchv1.Job)
	for _, o := range []api.Object{deployment, stateful, replica, once, queue, fixed} {
		admission.Default(o, karmada(), now)
	}
	require.Equal(t, int32(1), *deployment.Spec.Replicas)
	require.Equal(t, int32(1), *stateful.Spec.Replicas)
	require.Equal(t, int32(0), *replica.Spec.Replicas)
	require.Equal(t, []int32{1, 1}, []int32{*once.Spec.Parallelism, *once.Spec.Completions})
	require.Nil(t, queue.Spec.Completions)
	require.Equal(t, []int32{1, 5}, []int32{*fixed.Spec.Parallelism, *fixed.Spec.Completions})
}

func TestScope(t *testing.T) {
	for text, namespace := range map[string]string{
		"Cluster\nmetadata: {name: a, namespace: b}\n":                     "",
		"Node\nmetadata: {name: a}\n":                                      "",
		"Namespace\nmetadata: {name: a}\n":                                 "",
		"ClusterRole\nmetadata: {name: a}\n":                               "",
		"ConfigMap\nmetadata: {name: a}\n":                                 "default",
		"ConfigMap\nmetadata: {name: a, namespace: b}\n":                   "b",
		"Deployment\nmetadata: {name: a}\n":                                "default",
		"ResourceBinding\nmetadata: {name: a}\n":                           "default",
		"ClusterResourceBinding\nmetadata: {name: a}\n":                    "",
		"WorkloadRebalancer\nmetadata: {name: a}\nspec: {workloads: []}\n": "",
	} {
		o := read(t, text)
		require.Equal(t, namespace != "", admission.Namespaced(o), text)
		admission.Default(o, karmada(), now)
		require.Equal(t, namespace, o.GetNamespace(), text)
	}
}

func TestATaskIsDatedWhenItIsSeen(t *testing.T) {
	task := func(created string) *api.ResourceBinding {
		const text = "ResourceBinding\nspec: {resource: {apiVersion: v1, kind: ConfigMap, name: c}, gracefulEvictionTasks: [{fromCluster: m, reason: R, producer: p%s}]}\n"
		return read(t, fmt.Sprintf(text, created)).(*api.ResourceBinding)
	}
	for name, c := range map[string]struct {
		created  string
		settings *messages.Settings
		want     time.Time
	}{
		"in whole seconds in Karmada": {"", karmada(), now.Truncate(time.Second)},
		"exactly in Leeward":          {"", leeward(), now},
		"unless it has its date":      {", creationTimestamp: 2026-01-01T00:00:00Z", leeward(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			b := task(c.created)
			admission.Default(b, c.settings, now)
			require.True(t, b.Spec.GracefulEvictionTasks[0].CreationTimestamp.Time.Equal(c.want))
		})
	}
}
