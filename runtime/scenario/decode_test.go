package scenario_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/expect"
)

// files is a directory in memory.
type files map[string]string

func (f files) source() scenario.Source {
	return scenario.Source{
		Read: func(name string) ([]byte, error) {
			text, ok := f[name]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("no such file")}
			}
			return []byte(text), nil
		},
		Glob: func(pattern string) ([]string, error) {
			var names []string
			for name := range f {
				ok, err := path.Match(pattern, name)
				if err != nil {
					return nil, err
				}
				if ok {
					names = append(names, name)
				}
			}
			return names, nil
		},
	}
}

const head = `apiVersion: leeward.dev/v1alpha1
kind: Scenario
metadata: {name: s}
spec:
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: nginx}
spec:
  replicas: 4
  selector: {matchLabels: {app: nginx}}
  template: {metadata: {labels: {app: nginx}}, spec: {containers: [{name: nginx, image: nginx}]}}
`

const statefulSet = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}
`

const policy = `apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: nginx}
spec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: nginx}]}
`

const fleet = "  fleet: [{name: 'member{1..3}', region: eu}, {name: 'us-{1..2}', region: us, labels: {tier: gold}}]\n"

// decode reads one file among others.
func (f files) decode(name string) ([]*scenario.Scenario, manifest.Problems) {
	return f.source().Decode(name, []byte(f[name]))
}

// read reads a spec, with a fleet and two workloads beside it, that must be valid.
func read(t *testing.T, spec string) *scenario.Scenario {
	t.Helper()
	scenarios, problems := world(spec).decode("s.yaml")
	require.Empty(t, problems)
	require.Len(t, scenarios, 1)
	return scenarios[0]
}

func world(spec string) files {
	return files{
		"s.yaml":          head + fleet + spec + "---\n" + deployment + "---\n" + statefulSet,
		"policies/p.yaml": policy,
		"late.yaml":       "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: late}\n",
	}
}

func TestTheShapeOfTheDesign(t *testing.T) {
	f := files{
		"s.yaml": head + `  description: A sentence that says what this shows.
  profile: karmada
  seed: 7
  duration: 15m
  config:
    gracefulEvictionTimeout: 20s
    enableNoExecuteTaintEviction: true
  include: [fleet.yaml, policies/*.yaml]
  fleet:
  - name: member{1..5}
    region: eu
    zones: [a]
    provider: p1
    labels: {tier: gold}
    taints: ["spot:NoSchedule"]
    capacity: {cpu: "100", memory: 40Gi}
    allocated: {cpu: "20"}
    startup: 2s
    health: Unhealthy
  timeline:
  - {at: 0s, taint: {cluster: member2, taints: ["failed:NoExecute"]}}
  - {every: 90s, from: 5m, until: 10m, condition: {cluster: member3, type: Ready, toggle: true}}
  - {at: 2m, condition: {cluster: member1, type: Ready, status: "False", reason: R, message: M}}
  expect:
  - {at: 10s, binding: {name: default/nginx-deployment, clusters: {member1: 2, member3: 2}, tasks: [member2]}}
  - {within: {after: 0s, for: 5m}, binding: {name: default/nginx-deployment, healthy: true}}
  - {always: true, binding: {name: default/nginx-deployment, available: {min: 2}}}
  - {never: true, event: {kind: EvictionStarted, cluster: member1}}
  - {total: {event: {kind: EvictionStarted}, max: 1}}
  - {at: 10s, object: {apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: member2}, spec: {taints: [{key: failed}]}}}
`,
		"fleet.yaml":      deployment,
		"policies/p.yaml": policy,
	}
	scenarios, problems := f.decode("s.yaml")
	require.Empty(t, problems)
	s := scenarios[0]

	require.Equal(t, "s", s.Name)
	require.Equal(t, "A sentence that says what this shows.", s.Description)
	require.Equal(t, "karmada", s.Profile)
	require.Equal(t, uint64(7), s.Seed)
	require.Equal(t, 15*time.Minute, s.Duration)
	require.Equal(t, 15*time.Minute, s.Until())
	require.Len(t, s.Config, 2)
	require.Equal(t, "gracefulEvictionTimeout", s.Config[0].Field)
	require.Equal(t, "20s", s.Config[0].Value)
	require.Equal(t, "s.yaml:10", s.Config[0].Source)
	require.Equal(t, true, s.Config[1].Value)

	require.Equal(t, []string{"Deployment default/nginx", "PropagationPolicy default/nginx", "Cluster member1",
		"Cluster member2", "Cluster member3", "Cluster member4", "Cluster member5"}, keys(s.Objects))
	require.Equal(t, messages.MemberBehaviour{StartupMin: 2 * time.Second, StartupMax: 2 * time.Second, Health: api.Unhealthy}, s.Members["member4"])
	c := s.Objects[3].Object.(*api.Cluster)
	require.Equal(t, "eu", c.Spec.Region)
	require.Equal(t, []string{"a"}, c.Spec.Zones)
	require.Equal(t, "p1", c.Spec.Provider)
	require.Equal(t, api.Push, c.Spec.SyncMode)
	require.Equal(t, map[string]string{"tier": "gold"}, c.Labels)
	require.Equal(t, "spot", c.Spec.Taints[0].Key)
	require.Equal(t, "100", c.Status.ResourceSummary.Allocatable.Cpu().String())
	require.Equal(t, "10k", c.Status.ResourceSummary.Allocatable.Pods().String(), "what is not given stays ample")
	require.Equal(t, "20", c.Status.ResourceSummary.Allocated.Cpu().String())
	require.Equal(t, "Ready", c.Status.Conditions[0].Type)

	var at []string
	for _, step := range s.Timeline {
		at = append(at, span.String(step.At))
	}
	require.Equal(t, "0s 2m 5m 6m30s 8m 9m30s", strings.Join(at, " "))
	require.Equal(t, &scenario.Condition{Target: scenario.Target{Clusters: []messages.ClusterName{"member1"}}, Type: "Ready", Status: "False", Reason: "R", Message: "M"}, s.Timeline[1].Action)
	require.Equal(t, "s.yaml:27", s.Timeline[1].Source())

	var sentences []string
	for i := range s.Expect {
		sentences = append(sentences, s.Expect[i].String())
	}
	require.Equal(t, []string{
		"at 10s: binding default/nginx-deployment runs on member1=2, member3=2; evicting from member2 (s.yaml:29)",
		"within 5m: binding default/nginx-deployment is healthy (s.yaml:30)",
		"always: binding default/nginx-deployment has at least 2 available replicas (s.yaml:31)",
		"never: event EvictionStarted on member1 (s.yaml:32)",
		"in all: event EvictionStarted happens at most 1 time (s.yaml:33)",
		`at 10s: Cluster member2 matches {"metadata":{"name":"member2"},"spec":{"taints":[{"key":"failed"}]}} (s.yaml:34)`,
	}, sentences)
}

func keys(docs []manifest.Document) []string {
	names := make([]string, len(docs))
	for i, doc := range docs {
		names[i] = api.KeyOf(doc.Object).String()
	}
	return names
}

func TestDefaults(t *testing.T) {
	s := read(t, "")
	require.Equal(t, uint64(1), s.Seed)
	require.Zero(t, s.Duration)
	require.Empty(t, s.Profile)
	require.Equal(t, messages.MemberBehaviour{Health: api.Healthy}, s.Members["member1"])
}

func TestFilesHoldSeveralScenarios(t *testing.T) {
	f := files{"s.yaml": head + "  include: [late.yaml]\n---\n" + deployment + "---\n" + strings.Replace(head, "name: s", "name: t", 1) +
		"  include: [late.yaml]\n", "late.yaml": world("")["late.yaml"]}
	scenarios, problems := f.decode("s.yaml")
	require.Empty(t, problems)
	require.Equal(t, []string{"s", "t"}, []string{scenarios[0].Name, scenarios[1].Name})
	require.Equal(t, 15, scenarios[1].Line)
	for _, s := range scenarios {
		require.Equal(t, []string{"Deployment default/nginx", "Cluster late"}, keys(s.Objects))
	}
	require.NotSame(t, scenarios[0].Objects[0].Object, scenarios[1].Objects[0].Object)
}

func TestClustersHaveMembersAndStartReady(t *testing.T) {
	const cluster = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: NAME}
`
	f := files{"s.yaml": head + `  fleet:
  - {name: plain, startup: {min: 1s, max: 3s}, health: Unknown}
  - {name: dark, conditions: {Ready: "", NetworkDown: "True"}}
  timeline: [{at: 1m, apply: {file: late.yaml}}]
---
` + strings.Replace(cluster, "NAME", "plain", 1) + "---\n" + strings.Replace(cluster, "NAME", "told", 1) +
		"status: {conditions: [{type: Ready, status: 'False', reason: R, message: '', lastTransitionTime: null}]}\n",
		"late.yaml": world("")["late.yaml"]}
	scenarios, problems := f.decode("s.yaml")
	require.Empty(t, problems)
	s := scenarios[0]
	status := func(i int) string {
		var words []string
		c := s.Objects[i].Object.(*api.Cluster)
		for _, condition := range c.Status.Conditions {
			words = append(words, condition.Type+"="+string(condition.Status))
		}
		return c.Name + ": " + strings.Join(words, " ")
	}
	require.Equal(t, "plain: Ready=True CompleteAPIEnablements=True", status(0))
	require.Equal(t, "told: Ready=False", status(1))
	require.Equal(t, "dark: CompleteAPIEnablements=True NetworkDown=True", status(2))
	require.Nil(t, s.Objects[1].Object.(*api.Cluster).Status.ResourceSummary, "a status that is given is the whole status")
	require.Equal(t, map[messages.ClusterName]messages.MemberBehaviour{
		"plain": {StartupMin: time.Second, StartupMax: 3 * time.Second, Health: api.Unknown},
		"told":  {Health: api.Healthy}, "dark": {Health: api.Healthy}, "late": {Health: api.Healthy},
	}, s.Members)
}

// actions are actions as they are written, and as they are read.
func actions() map[string]scenario.Action {
	names := func(list string) []messages.ClusterName {
		var all []messages.ClusterName
		for _, name := range strings.Fields(list) {
			all = append(all, messages.ClusterName(name))
		}
		return all
	}
	gold := "gold"
	return map[string]scenario.Action{
		`condition: {cluster: member1, type: Ready, status: ""}`:                       &scenario.Condition{Target: scenario.Target{Clusters: names("member1")}, Type: "Ready"},
		`condition: {cluster: [member1, us-1], type: Ready, toggle: true}`:             &scenario.Condition{Target: scenario.Target{Clusters: names("member1 us-1")}, Type: "Ready", Toggle: true},
		`cordon: {cluster: "member{1..2}"}`:                                            &scenario.Cordon{Target: scenario.Target{Clusters: names("member1 member2")}},
		`cordon: {cluster: "us-*"}`:                                                    &scenario.Cordon{Target: scenario.Target{Clusters: names("us-1 us-2")}},
		`cordon: {cluster: ["*-2", us-2, "member?"]}`:                                  &scenario.Cordon{Target: scenario.Target{Clusters: names("us-2 member1 member2 member3")}},
		`drain: {cluster: us-1, deadline: 5m}`:                                         &scenario.Drain{Target: scenario.Target{Clusters: names("us-1")}, Deadline: 5 * time.Minute},
		`drain: {cluster: us-1}`:                                                       &scenario.Drain{Target: scenario.Target{Clusters: names("us-1")}},
		`condition: {cluster: us-1, type: Ready, status: "False", observed: true}`:     &scenario.Condition{Target: scenario.Target{Clusters: names("us-1")}, Type: "Ready", Status: "False", Observed: true},
		`uncordon: {cluster: {region: us}}`:                                            &scenario.Cordon{Target: scenario.Target{Clusters: names("us-1 us-2")}, Off: true},
		`uncordon: {cluster: {labels: {tier: gold}}}`:                                  &scenario.Cordon{Target: scenario.Target{Clusters: names("us-1 us-2")}, Off: true},
		`label: {cluster: us-1, labels: {tier: gold, team: null}}`:                     &scenario.Label{Target: scenario.Target{Clusters: names("us-1")}, Labels: map[string]*string{"tier": &gold, "team": nil}},
		`outage: {cluster: {region: us}, kind: power, for: 25m}`:                       &scenario.Outage{Target: scenario.Target{Clusters: names("us-1 us-2")}, Kind: "power", For: 25 * time.Minute},
		`outage: {cluster: us-1, kind: apiserver}`:                                     &scenario.Outage{Target: scenario.Target{Clusters: names("us-1")}, Kind: "apiserver"},
		`health: {cluster: us-1, status: Unhealthy}`:                                   &scenario.Health{Clusters: names("us-1"), Health: api.Unhealthy},
		`health: {cluster: us-1, status: Healthy, binding: nginx}`:                     &scenario.Health{Clusters: names("us-1"), Health: api.Healthy, Binding: "default/nginx-deployment"},
		`health: {cluster: us-1, status: Healthy, binding: StatefulSet/shop/db}`:       &scenario.Health{Clusters: names("us-1"), Health: api.Healthy, Binding: "shop/db-statefulset"},
		`health: {cluster: us-1, status: Healthy, binding: shop/db-statefulset}`:       &scenario.Health{Clusters: names("us-1"), Health: api.Healthy, Binding: "shop/db-statefulset"},
		`scale: {workload: nginx, replicas: 0}`:                                        &scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "nginx"}},
		`scale: {workload: default/nginx, replicas: 9}`:                                &scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "nginx"}, Replicas: 9},
		`scale: {workload: StatefulSet/shop/db, replicas: 9}`:                          &scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "db"}, Replicas: 9},
		`scale: {workload: sts/db -n shop, replicas: 9}`:                               &scenario.Scale{Workload: api.Key{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "db"}, Replicas: 9},
		`delete: {kind: Deployment, name: nginx}`:                                      &scenario.Delete{Object: api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "nginx"}},
		`delete: {kind: Cluster, name: us-1, apiVersion: cluster.karmada.io/v1alpha1}`: &scenario.Delete{Object: api.Key{APIVersion: "cluster.karmada.io/v1alpha1", Kind: "Cluster", Name: "us-1"}},
		`delete: {kind: StatefulSet, namespace: shop, name: db}`:                       &scenario.Delete{Object: api.Key{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "shop", Name: "db"}},
		`restart: true`: &scenario.Restart{},
		`restart: {}`:   &scenario.Restart{},

		`crash: {}`:                                                    &scenario.Crash{After: -1},
		`crash: {after: 0, for: 30s}`:                                  &scenario.Crash{For: 30 * time.Second},
		`clock: {ahead: 1m}`:                                           &scenario.Clock{By: time.Minute},
		`clock: {back: 1m}`:                                            &scenario.Clock{By: -time.Minute},
		`rebootNodes: {cluster: us-1}`:                                 &scenario.RebootNodes{Clusters: names("us-1")},
		`reports: {cluster: us-1, fault: lost, for: 1m}`:               &scenario.Reports{Clusters: names("us-1"), Fault: messages.ReportsLost, For: time.Minute},
		`reports: {cluster: us-1, fault: delayed, by: 2s, for: 1m}`:    &scenario.Reports{Clusters: names("us-1"), Fault: messages.ReportsDelayed, For: time.Minute, By: 2 * time.Second},
		`reports: {cluster: us-1, fault: duplicated, by: 2s, for: 1m}`: &scenario.Reports{Clusters: names("us-1"), Fault: messages.ReportsDuplicated, For: time.Minute, By: 2 * time.Second},
		`reports: {cluster: us-1, fault: reordered, by: 2s, for: 1m}`:  &scenario.Reports{Clusters: names("us-1"), Fault: messages.ReportsReordered, For: time.Minute, By: 2 * time.Second},
	}
}

func TestActions(t *testing.T) {
	for written, want := range actions() {
		s := read(t, "  timeline: [{at: 5s, "+written+"}]\n")
		require.Equal(t, want, s.Timeline[0].Action, written)
		require.Equal(t, 5*time.Second, s.Timeline[0].At)
	}
}

func TestTaintsAreWrittenAsForKubectl(t *testing.T) {
	s := read(t, `  timeline:
  - {at: 0, taint: {cluster: us-1, taints: ["a=b:NoExecute", "c:NoSchedule-", "d-"]}}
  - {at: 0, untaint: {cluster: us-1, taints: ["a:NoExecute", d, e-]}}
`)
	first, second := s.Timeline[0].Action.(*scenario.Taint).Changes, s.Timeline[1].Action.(*scenario.Taint).Changes
	require.Equal(t, "b", first.Add[0].Value)
	require.Len(t, first.Remove, 2)
	require.Empty(t, second.Add)
	require.Equal(t, []string{"a", "d", "e"}, []string{second.Remove[0].Key, second.Remove[1].Key, second.Remove[2].Key})
}

func TestCapacityNamesWhatChanges(t *testing.T) {
	s := read(t, "  timeline: [{at: 0, capacity: {cluster: us-1, capacity: {pods: 5}}}]\n")
	a := s.Timeline[0].Action.(*scenario.Capacity)
	require.Equal(t, int64(5), a.Capacity.Pods().Value())
	require.Nil(t, a.Allocated)
}

func TestServesListsKindsByGroupAndVersion(t *testing.T) {
	s := read(t, "  timeline: [{at: 0, apiEnablements: {cluster: us-1, kinds: {batch/v1: [Job], apps/v1: [Deployment, StatefulSet]}}}]\n")
	a := s.Timeline[0].Action.(*scenario.APIEnablements)
	require.Equal(t, []api.APIEnablement{
		{GroupVersion: "apps/v1", Resources: []api.APIResource{{Kind: "Deployment"}, {Kind: "StatefulSet"}}},
		{GroupVersion: "batch/v1", Resources: []api.APIResource{{Kind: "Job"}}},
	}, a.APIs)
}

func TestConfigChangesInTheOrderWritten(t *testing.T) {
	s := read(t, `  timeline:
  - at: 1m
    config:
      gracefulEvictionTimeout: 1m
      evictionWorkers: 5
`)
	var fields []string
	for _, o := range read(t, "  config: {keepLastCopy: true, failover: true, evictionWorkers: 3, conditionHold: 1s}\n").Config {
		fields = append(fields, o.Field)
	}
	require.Equal(t, []string{"keepLastCopy", "failover", "evictionWorkers", "conditionHold"}, fields)
	settings := s.Timeline[0].Action.(*scenario.Config).Settings
	require.Equal(t, "gracefulEvictionTimeout", settings[0].Field)
	require.Equal(t, int64(5), settings[1].Value)
	require.Equal(t, "s.yaml:10", settings[1].Source)
}

func TestApplyTakesManifestsInAnyForm(t *testing.T) {
	s := read(t, `  timeline:
  - at: 1m
    mayFail: true
    apply:
    - {file: policies/*.yaml}
    - apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings}
      data: {a: b}
    - apiVersion: cluster.karmada.io/v1alpha1
      kind: Cluster
      metadata: {name: new}
      spec:
        region: eu
  - {at: 2m, cordon: {cluster: new}}
  - {at: 3m, health: {cluster: new, binding: ConfigMap/default/settings, status: Unhealthy}}
`)
	a := s.Timeline[0].Action.(*scenario.Apply)
	require.True(t, a.MayFail)
	require.Equal(t, []string{"PropagationPolicy default/nginx", "ConfigMap default/settings", "Cluster new"}, keys(a.Documents))
	require.Equal(t, "eu", a.Documents[2].Object.(*api.Cluster).Spec.Region)
	require.Equal(t, 19, a.Documents[2].Line("spec.region"), "an inline manifest knows its lines")
	require.Equal(t, 1, a.Documents[0].Line(""))
	require.Equal(t, messages.BindingName("default/settings-configmap"), s.Timeline[2].Action.(*scenario.Health).Binding)
}

func TestStepsOfOneInstantKeepTheirOrder(t *testing.T) {
	s := read(t, `  duration: 20s
  timeline:
  - {at: 10s, cordon: {cluster: us-2}}
  - {every: 5s, from: 5s, restart: true}
  - {at: 10s, cordon: {cluster: us-1}}
`)
	var got []string
	for _, step := range s.Timeline {
		got = append(got, span.String(step.At)+" "+strings.TrimPrefix(step.Source(), "s.yaml:"))
	}
	require.Equal(t, []string{"5s 9", "10s 8", "10s 9", "10s 10", "15s 9", "20s 9"}, got)
}

func TestARunLastsUntilItsLastExpectation(t *testing.T) {
	require.Equal(t, 3*time.Minute, read(t, "  timeline: [{at: 3m, restart: true}]\n").Until())
	require.Equal(t, 7*time.Minute, read(t, "  expect: [{within: {after: 2m, for: 5m}, taint: {cluster: us-1, key: a}}]\n").Until())
	require.Equal(t, 9*time.Minute, read(t, "  expect: [{never: true, from: 9m, taint: {cluster: us-1, key: a}}]\n").Until())
	require.Zero(t, read(t, "  expect: [{never: true, taint: {cluster: us-1, key: a}}]\n").Until())
}

// expectations are expectations as they are written, and as they are told.
func expectations() map[string]string {
	return map[string]string{
		`at: 0, taint: {cluster: us-1, key: a, value: b, effect: NoExecute}`:                                                       "at 0s: cluster us-1 has the taint a=b:NoExecute",
		`at: 1d, taint: {cluster: us-1, key: a, present: false}`:                                                                   "at 1d: cluster us-1 has no taint a",
		`at: 0, binding: {name: nginx, clusters: [us-1, member1]}`:                                                                 "at 0s: binding default/nginx-deployment runs on member1, us-1",
		`at: 0, binding: {name: nginx-deployment, clusters: {}}`:                                                                   "at 0s: binding default/nginx-deployment runs on no cluster",
		`at: 0, binding: {name: StatefulSet/shop/db, tasks: []}`:                                                                   "at 0s: binding shop/db-statefulset has no eviction task",
		`at: 0, binding: {name: nginx, tasks: [{fromCluster: us-1, reason: R}]}`:                                                   `at 0s: binding default/nginx-deployment has the eviction tasks [{"fromCluster":"us-1","reason":"R"}]`,
		`at: 0, binding: {name: nginx, clusterCount: 2, replicas: {max: 4}, available: {min: 1, max: 2}}`:                          "at 0s: binding default/nginx-deployment has 2 clusters; has at most 4 replicas; has 1 to 2 available replicas",
		`at: 0, binding: {name: nginx, conditions: {Scheduled: "False", FullyApplied: "True"}}`:                                    "at 0s: binding default/nginx-deployment has FullyApplied=True, Scheduled=False",
		`at: 0, binding: {name: nginx, conditions: [{type: Scheduled, reason: Success}]}`:                                          "at 0s: binding default/nginx-deployment has Scheduled (Success)",
		`at: 0, binding: {name: nginx, scheduled: NoClusterFit, affinity: eu, healthy: false}`:                                     "at 0s: binding default/nginx-deployment is not healthy; has Scheduled (NoClusterFit); uses the affinity group eu",
		`always: true, from: 1m, until: 2m, binding: {name: nginx, healthy: true}`:                                                 "always from 1m until 2m: binding default/nginx-deployment is healthy",
		`never: true, event: {kind: EvictionStarted, binding: nginx, task: {reason: R}}`:                                           `never: event EvictionStarted of default/nginx-deployment with {"task":{"reason":"R"}}`,
		`never: {}, event: {kind: Restarted}`:                                                                                      "never: event Restarted",
		`total: {event: {kind: Scheduled}, exact: 2}, until: 5m`:                                                                   "in all until 5m: event Scheduled happens 2 times",
		`total: {event: {kind: Scheduled}, min: 1}`:                                                                                "in all: event Scheduled happens at least 1 time",
		`at: 0, object: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}`:                                      `at 0s: ConfigMap default/x matches {"data":{"a":"b"},"metadata":{"name":"x"}}`,
		`at: 0, object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: nginx, namespace: default}, spec: {replicas: 4}}`: `at 0s: Deployment default/nginx matches {"metadata":{"name":"nginx","namespace":"default"},"spec":{"replicas":4}}`,
	}
}

func TestExpectations(t *testing.T) {
	for written, want := range expectations() {
		s := read(t, "  expect: [{"+written+"}]\n")
		require.Equal(t, want+" (s.yaml:6)", s.Expect[0].String(), written)
	}
}

func TestEventsAreResolved(t *testing.T) {
	s := read(t, "  expect: [{never: true, event: {kind: EvictionStarted, cluster: us-1, binding: nginx}}]\n")
	require.Equal(t, &expect.Event{Kind: "EvictionStarted", Cluster: "us-1", Binding: "default/nginx-deployment"}, s.Expect[0].Subject)
}
