package explain

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/podplacement"
	"leeward/messages"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

const nginx = "../../../scenarios/nginx-is-evicted-from-a-failed-cluster.yaml"

func read(t *testing.T, file string) *scenario.Scenario {
	t.Helper()
	if all, _, _ := scenario.Find(file); len(all) > 0 {
		return all[0]
	}
	s, problems := scenario.Disk.Fleet([]string{file})
	require.Empty(t, problems)
	return s
}

func explained(t *testing.T, kind, name string, at time.Duration) *Explanation {
	t.Helper()
	x, err := Run(Config{Scenario: read(t, nginx), Kind: kind, Name: name, At: at, Seed: 1})
	require.NoError(t, err)
	return x
}

func TestABindingHasTheDecisionThatPlacedIt(t *testing.T) {
	b := explained(t, KindBinding, "deploy/nginx", 6*time.Minute+45*time.Second).Binding
	require.Equal(t, "eviction", b.Placed.Trigger)
	require.Equal(t, Seconds(400*time.Second), b.Placed.At)
	d := b.Placed.Decision
	require.Equal(t, []messages.ClusterName{"member2"}, d.Without)
	require.Equal(t, b.Clusters, d.Targets)
	require.Equal(t, "cluster(s) was being drained or evicted from", d.Terms[0].Clusters[1].Refused)
	require.Equal(t, int64(100), d.Terms[0].Clusters[0].Score)
	require.Empty(t, b.Past)
	require.Len(t, b.UnderWay, 1)
	require.Equal(t, StateEvicting, b.UnderWay[0].State)
	require.Equal(t, Seconds(1000*time.Second), *b.UnderWay[0].Deadline)
}

func TestAnEvictionThatIsScheduledSaysWhatWouldCancelIt(t *testing.T) {
	b := explained(t, KindBinding, "nginx", 6*time.Minute).Binding
	require.Len(t, b.UnderWay, 1)
	m := b.UnderWay[0]
	require.Equal(t, StateScheduled, m.State)
	require.Equal(t, "evict-when-not-ready", m.Policy)
	require.Equal(t, "for 60s", m.Toleration)
	require.Equal(t, Seconds(400*time.Second), *m.Deadline)
	require.Equal(t, "policy evict-when-not-ready removes the taint: Ready In [True]", m.Ends[0])
	w := explained(t, KindCluster, "member2", 6*time.Minute).Cluster.Workloads
	require.Len(t, w, 1)
	require.Equal(t, m.Deadline, w[0].Due, "the cluster says the same")
}

func TestAFailoverThatIsOverIsToldStepByStep(t *testing.T) {
	b := explained(t, KindBinding, "default/nginx-deployment", 0).Binding
	require.Empty(t, b.UnderWay)
	require.Len(t, b.Past, 1)
	var parts []string
	for _, s := range b.Past[0].Steps {
		parts = append(parts, s.Part)
	}
	require.Equal(t, []string{"condition", "taint", "scheduled", "permit", "eviction", "placement", "available", "handover", "removed"}, parts)
}

func TestNamesThatAreNotKnownAreRefused(t *testing.T) {
	for kind, name := range map[string]string{KindBinding: "ngimx", KindCluster: "membr2", KindPolicy: "evict", KindNode: "x", KindPod: "x", "moon": "x"} {
		_, err := Run(Config{Scenario: read(t, nginx), Kind: kind, Name: name, Seed: 1})
		require.ErrorAs(t, err, new(*forecast.Invalid), kind)
		t.Log(err)
	}
	_, err := Run(Config{Scenario: read(t, nginx), Kind: KindCluster, Name: "membr2", Seed: 1})
	require.ErrorContains(t, err, "did you mean member2?")
}

func TestAnExplanationChangesNothing(t *testing.T) {
	s := read(t, nginx)
	plain, err := replay.Play(s, replay.Options{Seed: 1})
	require.NoError(t, err)
	x, err := Run(Config{Scenario: s, Kind: KindBinding, Name: "nginx", Seed: 1})
	require.NoError(t, err)
	again, err := replay.Play(s, replay.Options{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, plain.Events, again.Events)
	require.Equal(t, plain.Events[len(plain.Events)-1].Seq, again.Events[len(again.Events)-1].Seq)
	same, err := Run(Config{Scenario: s, Kind: KindBinding, Name: "nginx", Seed: 1})
	require.NoError(t, err)
	require.Equal(t, x, same)
}

// The decision that is explained is the one that was made: over the scenarios of the repository, asking again at the instant of a
// placement comes to the same clusters, and each binding can be put into words.
func TestTheDecisionExplainedIsTheOneThatWasMade(t *testing.T) {
	placed, differs := 0, []string{}
	for _, file := range scenarioFiles(t) {
		all, _, _ := scenario.Find(file)
		if len(all) == 0 { // manifests that scenarios include
			continue
		}
		s := all[0]
		if s.OfNodes || len(s.MemberNodes) > 0 {
			continue
		}
		for _, name := range bindingsOf(t, s) {
			x, err := Run(Config{Scenario: s, Kind: KindBinding, Name: name, Seed: 1})
			require.NoError(t, err, "%s: %s", file, name)
			var out strings.Builder
			require.NoError(t, WriteText(&out, x, true))
			if p := x.Binding.Placed; p != nil {
				placed++
				if p.Decision == nil && p.Trigger != "failback" { // which the scheduler asks otherwise
					differs = append(differs, file+" "+name+" "+p.Trigger)
				}
			}
		}
	}
	require.Empty(t, differs)
	require.Greater(t, placed, 50)
}

// The same of pods: in scenarios of nodes, and of clusters that have some, what the scheduler is explained to decide immediately before is
// what it decides, and a run of which each decision is explained is the run without that.
func TestWhatIsExplainedOfAPodIsWhatIsDecided(t *testing.T) {
	bound, unschedulable := 0, 0
	for _, file := range scenarioFiles(t) {
		if folder := filepath.Base(filepath.Dir(file)); folder != "nodes" && folder != "tiers" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		scenarios, problems := scenario.Disk.Decode(file, text)
		require.Empty(t, problems)
		for _, s := range scenarios {
			type decided struct {
				pod messages.PodName
				at  time.Time
			}
			explained := map[decided][]*podplacement.Explanation{} // an instant may have several
			run, err := replay.Play(s, replay.Options{Seed: 1, Begun: func(w *world.World) {
				w.AttendPods(func(at time.Time, pod messages.PodName) {
					explained[decided{pod, at}] = append(explained[decided{pod, at}], w.ExplainPod(at, pod))
				})
			}})
			require.NoError(t, err)
			for _, e := range run.Events {
				switch f := e.Fact.(type) {
				case *messages.PodBound:
					require.True(t, slices.ContainsFunc(explained[decided{f.Pod, e.At}], func(x *podplacement.Explanation) bool {
						return x.Node != "" && x.Timed == f.Timed && (f.Node == messages.NodeName(x.Node) || strings.HasSuffix(string(f.Node), "/"+x.Node))
					}), "%s: %s on %s", s.Name, f.Pod, f.Node)
					bound++
				case *messages.PodUnschedulable:
					require.True(t, slices.ContainsFunc(explained[decided{f.Pod, e.At}], func(x *podplacement.Explanation) bool {
						return x.Node == "" && x.Why == f.Message
					}), "%s: %s: %s", s.Name, f.Pod, f.Message)
					unschedulable++
				}
			}
			plain, err := replay.Play(s, replay.Options{Seed: 1})
			require.NoError(t, err)
			require.Len(t, run.Events, len(plain.Events), s.Name)
			for i := range plain.Events {
				require.Equal(t, plain.Events[i].Fact, run.Events[i].Fact, s.Name)
			}
			explainsAll(t, s, plain)
		}
	}
	require.Greater(t, bound, 200)
	require.Greater(t, unschedulable, 10)
}

// explainsAll explains the first node and the first two pods of a run, and puts them into words.
func explainsAll(t *testing.T, s *scenario.Scenario, run *replay.Run) {
	t.Helper()
	names := map[string][]string{}
	for _, e := range run.Events {
		switch f := e.Fact.(type) {
		case *messages.NodeRegistered:
			names[KindNode] = append(names[KindNode], string(f.Node))
		case *messages.PodCreated:
			names[KindPod] = append(names[KindPod], string(f.Pod))
		}
	}
	for kind, all := range names { // order-free: each by itself
		for _, name := range all[:min(len(all), 2)] {
			x, err := Run(Config{Scenario: s, Kind: kind, Name: name, Seed: 1})
			if err != nil && kind == KindNode {
				require.ErrorContains(t, err, "there is no node", "it was deleted")
				continue
			}
			require.NoError(t, err, "%s: %s %s", s.Name, kind, name)
			var out strings.Builder
			require.NoError(t, WriteText(&out, x, true))
			if p := x.Pod; p != nil && p.Bound != nil {
				require.NotNil(t, p.Decision, "%s: %s", s.Name, name)
				require.Equal(t, p.Node, p.Decision.Node)
			}
		}
	}
}

func scenarioFiles(t *testing.T) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir("../../../scenarios", func(name string, e fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".yaml" {
			files = append(files, name)
		}
		return err
	}))
	return files
}

// bindingsOf is the first binding that there is when a scenario ends.
func bindingsOf(t *testing.T, s *scenario.Scenario) (names []string) {
	t.Helper()
	run, err := replay.Play(s, replay.Options{Seed: 1})
	require.NoError(t, err)
	for _, o := range run.Objects {
		if strings.HasSuffix(o.GetObjectKind().GroupVersionKind().Kind, "ResourceBinding") && len(names) == 0 {
			names = append(names, nameOf(o))
		}
	}
	return names
}

// dump is one of a fleet whose binding runs 2 replicas of 1 cpu on m1, which m1 reports as allocated.
const dump = `apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
status:
  conditions: [{type: Ready, status: "True", reason: ClusterReady, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]
  resourceSummary: {allocatable: {cpu: "4", pods: "100"}, allocated: {cpu: "2", pods: "2"}}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  namespace: shop
  name: web-deployment
  labels: {propagationpolicy.karmada.io/permanent-id: x}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}
  replicas: 2
  replicaRequirements: {resourceRequest: {cpu: "1"}}
  clusters: [{name: m1, replicas: 2}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}}
status:
  aggregatedStatus: [{clusterName: m1, applied: true, health: Healthy, status: {replicas: 2, readyReplicas: 2}}]
`

func TestTheCopiesOfADumpAreCountedOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.yaml")
	require.NoError(t, os.WriteFile(file, []byte(dump), 0o600))
	s := read(t, file)
	for range 2 { // what was read stays as it is
		x, err := Run(Config{Scenario: s, Kind: KindBinding, Name: "deploy/web", Namespace: "shop", Seed: 1})
		require.NoError(t, err)
		c := x.Binding.Now.Terms[0].Clusters[0]
		require.Equal(t, int64(4), *c.Capacity, "2 that run, and 2 that are free")
		require.EqualValues(t, 2, c.Replicas)
	}
}

func TestNamesAreReadAsKubectlDoes(t *testing.T) {
	for _, c := range []struct{ name, namespace, want string }{
		{"nginx", "", "default/nginx"}, {"nginx", "", "default/nginx-deployment"}, {"deploy/nginx", "", "default/nginx-deployment"},
		{"deploy/nginx", "shop", "shop/nginx-deployment"}, {"deploy/nginx -n shop", "", "shop/nginx-deployment"},
		{"default/nginx-deployment", "", "default/nginx-deployment"}, {"nginx-deployment", "shop", "shop/nginx-deployment"},
		{"StatefulSet/shop/db", "", "shop/db-statefulset"},
	} {
		got, err := bindingsMeant(c.name, c.namespace, nil)
		require.NoError(t, err, c.name)
		require.Contains(t, got, messages.BindingName(c.want), "%s -n %s", c.name, c.namespace)
	}
}

func FuzzNames(f *testing.F) {
	for _, name := range []string{"nginx", "deploy/nginx", "deploy/nginx -n shop", "a/b/c", "", "/", " -n", "rb/x\x00"} {
		f.Add(name, "")
		f.Add(name, "shop")
	}
	f.Fuzz(func(t *testing.T, name, namespace string) {
		got, err := bindingsMeant(name, namespace, []string{"Rocket"})
		if err == nil && len(got) > 64 {
			t.Fatalf("%q means %d bindings", name, len(got))
		}
	})
}

// TestAnEvictionThatADumpShowsIsUnderWay: it is decided in the same way again, of which no fact tells.
func TestAnEvictionThatADumpShowsIsUnderWay(t *testing.T) {
	text := strings.NewReplacer(
		"status:\n  conditions", `spec: {taints: [{key: failed, effect: NoExecute, timeAdded: "2026-01-01T00:00:10Z"}]}
status:
  taintCauses: [{key: failed, effect: NoExecute, by: policy, policy: down, because: "Ready=False (Lost)"}]
  conditions`,
		"placement: {", "placement: {clusterTolerations: [{key: failed, operator: Exists, effect: NoExecute, tolerationSeconds: 600}], ",
		"status:\n  aggregatedStatus", `status:
  lastScheduledTime: "2026-01-01T00:00:00Z"
  evictions: [{cluster: m1, state: Scheduled, taint: "failed:NoExecute", policy: down, reason: TaintUntolerated, deadline: "2026-01-01T00:10:10.000000Z"}]
  aggregatedStatus`,
	).Replace(dump)
	file := filepath.Join(t.TempDir(), "dump.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	at := time.Date(2026, 1, 1, 0, 0, 40, 0, time.UTC)
	x, err := Run(Config{Scenario: read(t, file), Kind: KindBinding, Name: "deploy/web", Namespace: "shop", Seed: 1, Start: at, At: 1})
	require.NoError(t, err)
	deadline := Seconds(9*time.Minute + 30*time.Second)
	require.Equal(t, []Move{{
		Cluster: "m1", State: StateScheduled, Taint: "failed:NoExecute", Policy: "down", Condition: "Ready=False (Lost)", Toleration: "for 600s", Deadline: &deadline, Steps: []Step{},
		Ends: []string{"the taint failed:NoExecute is removed from m1", "the placement tolerates failed:NoExecute for longer, or without tolerationSeconds"},
	}}, x.Binding.UnderWay)
}
