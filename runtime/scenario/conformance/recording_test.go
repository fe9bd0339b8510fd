package conformance

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// script returns a recording of what is written as its scenario.
func script(t *testing.T, fields string) *Recording {
	t.Helper()
	r, err := Decode([]byte(`{"format": "karmada-observation/1", "scenario": {"id": "x", ` + fields + `}}`))
	require.NoError(t, err)
	return r
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"what is not JSON", `{`, "decode recording: unexpected end of JSON input"},
		{"another format", `{"format": "karmada-observation/2"}`, `the format is "karmada-observation/2", not "karmada-observation/1"`},
		{"no format", `{}`, `the format is ""`},
		{"no scenario", `{"format": "karmada-observation/1"}`, "the scenario is missing"},
		{"an unknown field of what was done", `{"format": "karmada-observation/1", "scenario": {"id": "r01", "events": [{"atSeconds": 1, "drain": "member1"}]}}`,
			`decode the scenario of recording r01: json: unknown field "drain"`},
		{"an instant that is no number", `{"format": "karmada-observation/1", "scenario": {"endSeconds": "8"}}`, "cannot unmarshal string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode([]byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestDecodeTakesUnknownFieldsOfWhatCameOfIt(t *testing.T) {
	r, err := Decode([]byte(`{"format": "karmada-observation/1", "scenario": {"id": "x"}, "observed": {"weather": "fine"}}`))
	require.NoError(t, err)
	require.Equal(t, "x", r.Script.ID)
}

func TestScenarioRefuses(t *testing.T) {
	for _, c := range []struct{ name, fields, want string }{
		{"an unknown action", `"events": [{"action": "drain", "atSeconds": 1.5}]`, `x.json: event 0 at 1.5s: unknown action "drain"`},
		{"a taint event without a taint", `"events": [{"action": "taint"}]`, "taint: the taint is missing"},
		{"to scale what is not there", `"events": [{"action": "scale", "workload": "w9"}]`, "scale w9: there is no such workload"},
		{"a capacity that is no quantity", `"clusters": [{"name": "member1", "allocatableCPU": "many"}]`, `x.json: cluster member1: read CPUs "many"`},
		{"a use that is no quantity", `"clusters": [{"name": "member1", "allocatedCPU": "few"}]`, `x.json: cluster member1: read CPUs "few"`},
		{"an object with an unknown field", `"deployments": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replica": 1}}]`, "spec.replica"},
		{"an event without its object", `"events": [{"action": "createDeployment"}]`, "createDeployment: the object is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := script(t, c.fields).Scenario("x.json")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestFlagsBecomeSettings(t *testing.T) {
	r := script(t, `"controlPlaneFlags": {
		"karmada-webhook": "--allow-no-execute-taint-policy",
		"karmada-scheduler": "defaults",
		"karmada-controller-manager": "--kube-api-qps=40 --feature-gates=Failover=true,GracefulEviction=false --enable-no-execute-taint-eviction=true --graceful-eviction-timeout=20s"}`)
	s, err := r.Scenario("x.json")
	require.NoError(t, err)
	require.Equal(t, []config.Override{
		{Field: "featureGates", Value: "Failover=true,GracefulEviction=false", Source: "karmada-controller-manager --feature-gates"},
		{Field: "enableNoExecuteTaintEviction", Value: "true", Source: "karmada-controller-manager --enable-no-execute-taint-eviction"},
		{Field: "gracefulEvictionTimeout", Value: "20s", Source: "karmada-controller-manager --graceful-eviction-timeout"},
		{Field: "allowNoExecuteTaintPolicy", Value: "true", Source: "karmada-webhook --allow-no-execute-taint-policy"},
	}, s.Config)
	settings, problems := config.Resolve(s.Profile, s.Config)
	require.Empty(t, problems)
	require.True(t, settings.Evicts())
	require.False(t, settings.GracefulEviction)
	require.Equal(t, 20*time.Second, settings.GracefulEvictionTimeout)
}

func TestClustersHaveDefaults(t *testing.T) {
	r := script(t, `"clusters": [
		{"name": "member1"},
		{"name": "member2", "labels": {"tier": "gold"}, "region": "r1", "zone": "z1", "provider": "p1", "taints": [{"key": "k", "effect": "NoSchedule"}],
		 "allocatableCPU": "16", "allocatedCPU": "500m", "conditions": [{"type": "Ready", "status": "False"}], "workloadHealth": "Unhealthy"}]`)
	s, err := r.Scenario("x.json")
	require.NoError(t, err)
	plain, special := s.Objects[0].Object.(*api.Cluster), s.Objects[1].Object.(*api.Cluster)

	require.Equal(t, "1k", plain.Status.ResourceSummary.Allocatable.Cpu().String())
	require.Equal(t, "4000Gi", plain.Status.ResourceSummary.Allocatable.Memory().String())
	require.Equal(t, "10k", plain.Status.ResourceSummary.Allocatable.Pods().String())
	require.Equal(t, "0", plain.Status.ResourceSummary.Allocated.Cpu().String())
	require.Equal(t, map[string]metav1.ConditionStatus{"Ready": "True", "CompleteAPIEnablements": "True"}, statuses(plain))
	require.Equal(t, messages.MemberBehaviour{StartupMin: 100 * time.Millisecond, StartupMax: 100 * time.Millisecond, Health: api.Healthy}, s.Members["member1"])

	require.Equal(t, "16", special.Status.ResourceSummary.Allocatable.Cpu().String())
	require.Equal(t, "500m", special.Status.ResourceSummary.Allocated.Cpu().String())
	require.Equal(t, map[string]string{"tier": "gold"}, special.Labels)
	require.Equal(t, []string{"r1", "p1", "z1"}, []string{special.Spec.Region, special.Spec.Provider, special.Spec.Zones[0]})
	require.Equal(t, []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}, special.Spec.Taints)
	require.Equal(t, map[string]metav1.ConditionStatus{"Ready": "False"}, statuses(special))
	require.Equal(t, messages.MemberBehaviour{StartupMin: 100 * time.Millisecond, StartupMax: 100 * time.Millisecond, Health: api.Unhealthy}, s.Members["member2"])
}

// What admission refuses of the fleet is a problem of the recording's.
func TestAFleetThatIsRefused(t *testing.T) {
	s, err := script(t, `"clusters": [{"name": "member1", "taints": [{"key": "k", "effect": "PreferNoSchedule"}]}]`).Scenario("x.json")
	require.NoError(t, err)
	_, err = replay.Play(s, replay.Options{})
	require.ErrorContains(t, err, "x.json:1: Cluster member1: spec.taints[0].effect: Unsupported value")
}

func statuses(c *api.Cluster) map[string]metav1.ConditionStatus {
	all := map[string]metav1.ConditionStatus{}
	for _, k := range c.Status.Conditions {
		all[k.Type] = k.Status
	}
	return all
}

const web = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": {}, "template": {}}}`

func TestEventsBecomeSteps(t *testing.T) {
	yes, no := "yes", "no"
	r := script(t, `"clusters": [{"name": "member1", "labels": {"old": "yes"}}], "endSeconds": 9.5, "events": [
		{"atSeconds": 0, "action": "createDeployment", "deployment": `+web+`},
		{"atSeconds": 0.5, "action": "condition", "cluster": "member1", "conditionType": "X", "conditionStatus": "True"},
		{"atSeconds": 1, "action": "condition", "cluster": "member1", "conditionType": "X"},
		{"atSeconds": 2, "action": "taint", "cluster": "member1", "taint": {"key": "k", "value": "v", "effect": "NoExecute"}},
		{"atSeconds": 3, "action": "untaint", "cluster": "member1", "taint": {"key": "k", "effect": "NoExecute"}},
		{"atSeconds": 4, "action": "labels", "cluster": "member1", "labels": {"new": "no"}},
		{"atSeconds": 5, "action": "labels", "cluster": "member1", "labels": {"new": "yes"}},
		{"atSeconds": 6, "action": "labels", "cluster": "member1"},
		{"atSeconds": 7, "action": "health", "cluster": "member1", "health": "Unknown"},
		{"atSeconds": 8, "action": "scale", "workload": "web", "replicas": 3},
		{"atSeconds": 9, "action": "deleteClusterTaintPolicy", "name": "foo"}]`)
	r.Observed.FinalBindings = []Binding{{Name: "web-deployment", ResourceUID: "u-1"}}
	s, err := r.Scenario("x.json")
	require.NoError(t, err)
	require.Equal(t, 9500*time.Millisecond, s.Duration)

	created := s.Timeline[0].Action.(*scenario.Apply)
	require.True(t, created.MayFail)
	require.Equal(t, "u-1", string(created.Documents[0].Object.GetUID()))
	on := []messages.ClusterName{"member1"}
	key := corev1.Taint{Key: "k", Effect: corev1.TaintEffectNoExecute}
	valued := key
	valued.Value = "v"
	require.Equal(t, []scenario.Action{
		&scenario.Condition{Target: scenario.Target{Clusters: on}, Type: "X", Status: metav1.ConditionTrue},
		&scenario.Condition{Target: scenario.Target{Clusters: on}, Type: "X"},
		&scenario.Taint{Target: scenario.Target{Clusters: on}, Changes: taint.Changes{Add: []corev1.Taint{valued}}},
		&scenario.Taint{Target: scenario.Target{Clusters: on}, Changes: taint.Changes{Remove: []corev1.Taint{key}}},
		&scenario.Label{Target: scenario.Target{Clusters: on}, Labels: map[string]*string{"old": nil, "new": &no}},
		&scenario.Label{Target: scenario.Target{Clusters: on}, Labels: map[string]*string{"new": &yes}},
		&scenario.Label{Target: scenario.Target{Clusters: on}, Labels: map[string]*string{"new": nil}},
		&scenario.Health{Clusters: on, Health: api.Unknown},
		&scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}, Replicas: 3},
		&scenario.Delete{Object: api.Key{APIVersion: "policy.karmada.io/v1alpha1", Kind: "ClusterTaintPolicy", Name: "foo"}},
	}, actions(s.Timeline[1:]))
	require.Equal(t, 500*time.Millisecond, s.Timeline[1].At)
}

func actions(steps []scenario.Step) []scenario.Action {
	var all []scenario.Action
	for _, s := range steps {
		all = append(all, s.Action)
	}
	return all
}

// Inputs of one instant follow one another, as they did.
func TestInputsOfOneInstantFollowOneAnother(t *testing.T) {
	s, err := script(t, `"clusters": [{"name": "a"}], "events": [
		{"atSeconds": 1, "action": "health", "cluster": "a", "health": "Unknown"},
		{"atSeconds": 1, "action": "health", "cluster": "a", "health": "Healthy"},
		{"atSeconds": 1.005, "action": "health", "cluster": "a", "health": "Unhealthy"},
		{"atSeconds": 2, "action": "health", "cluster": "a", "health": "Healthy"}]`).Scenario("x.json")
	require.NoError(t, err)
	var at []time.Duration
	for _, step := range s.Timeline {
		at = append(at, step.At)
	}
	const ms = time.Millisecond
	require.Equal(t, []time.Duration{1000 * ms, 1010 * ms, 1020 * ms, 2000 * ms}, at)
}
