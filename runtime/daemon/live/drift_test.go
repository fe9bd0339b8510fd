package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// tampering is what people do to a Work by hand.
var tampering = map[string]func(*api.Work){
	"emptied": func(w *api.Work) { w.Spec.Workload.Manifests = nil },
	"another": func(w *api.Work) {
		w.Spec.Workload.Manifests = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 9}}`)}}}
	},
	"two": func(w *api.Work) {
		w.Spec.Workload.Manifests = append(w.Spec.Workload.Manifests, w.Spec.Workload.Manifests[0])
	},
	"without the name of its binding": func(w *api.Work) { w.Annotations = nil },
}

// tamper edits a Work as the API would store it: what it asks for is of a new generation.
func (f *fixture) tamper(cluster string, with func(*api.Work)) {
	f.t.Helper()
	edit(f, work(cluster), func(w *api.Work) {
		with(w)
		w.Generation++
	})
}

func TestAWorkThatAUserEditsIsRestored(t *testing.T) {
	for name, with := range tampering {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			want := get(f, work("m1"))
			restored := func(when string) {
				t.Helper()
				is := get(f, work("m1"))
				require.Equal(t, want.Spec, is.Spec, when)
				require.Equal(t, want.Annotations, is.Annotations, when)
				f.serves("m1", 2)
				require.Equal(t, api.Healthy, get(f, binding()).Status.AggregatedStatus[0].Health, when)
			}
			f.tamper("m1", with)
			f.pass(time.Second)
			restored("while the daemon runs")

			f.Close()
			f.tamper("m1", with)
			f.open()
			restored("at its next start")
			require.Equal(t, "m1:2", placed(f))
		})
	}
}

// Who exports a fleet and imports it elsewhere sorts the fields of manifests. Agents have nothing to apply for that, and what they
// reported of their copies still counts.
func TestAWorkWhoseFieldsAreInAnotherOrderIsNotWrittenAgain(t *testing.T) {
	f := running(t)
	f.Close()
	edit(f, work("m1"), func(w *api.Work) {
		var fields map[string]any
		raw := &w.Spec.Workload.Manifests[0].Raw
		require.NoError(t, json.Unmarshal(*raw, &fields))
		sorted, err := json.Marshal(fields)
		require.NoError(t, err)
		require.NotEqual(t, *raw, sorted)
		*raw = sorted
	})
	sorted := get(f, work("m1"))
	f.open()
	require.Equal(t, sorted, get(f, work("m1")))
	f.apply(deployment(2, "nginx:2"))
	require.Equal(t, sorted.Generation+1, get(f, work("m1")).Generation, "another image is another manifest")
}

// A Work is told nothing while its binding's dispatching is suspended: people may mean what they write there.
func TestAWorkThatAUserEditsStaysWhileDispatchingIsSuspended(t *testing.T) {
	f := running(t)
	yes := true
	edit(f, policy(), func(p *api.PropagationPolicy) { p.Spec.Suspension = &api.Suspension{Dispatching: &yes} })
	f.pass(time.Second)
	f.tamper("m1", tampering["another"])
	f.pass(time.Second)
	edited := get(f, work("m1")).Spec
	require.Contains(t, string(edited.Workload.Manifests[0].Raw), `"replicas": 9`)
	f.restart()
	require.Equal(t, edited, get(f, work("m1")).Spec)
	edit(f, policy(), func(p *api.PropagationPolicy) { p.Spec.Suspension = nil })
	f.pass(time.Second)
	require.NotEqual(t, edited, get(f, work("m1")).Spec, "it hears again")
}

// The status of a workload is the sum of what its own binding's copies report, whatever was written into it, or into another binding
// that claims to be of it.
func TestTheStatusOfAWorkloadIsThatOfItsBinding(t *testing.T) {
	f := running(t)
	right := get(f, deployment(2, "")).Status
	require.EqualValues(t, 2, right.ReadyReplicas)

	foreign := api.Copy(get(f, binding())).(*api.ResourceBinding)
	foreign.Name, foreign.UID, foreign.OwnerReferences, foreign.ResourceVersion = "web-foreign", "", nil, ""
	foreign.Labels, foreign.Finalizers, foreign.Status = nil, nil, api.BindingStatus{}
	foreign.Spec.Clusters = []api.TargetCluster{{Name: "m2", Replicas: 5}}
	f.apply(foreign)
	f.pass(time.Minute)
	require.Equal(t, right, get(f, deployment(2, "")).Status, "a foreign binding says nothing of it")
	f.remove(foreign)
	f.pass(time.Minute)
	require.Equal(t, right, get(f, deployment(2, "")).Status)

	disturb := func() {
		edit(f, deployment(2, ""), func(d *appsv1.Deployment) { d.Status.ReadyReplicas, d.Status.Replicas = 7, 9 })
	}
	disturb()
	f.pass(time.Second)
	require.Equal(t, right, get(f, deployment(2, "")).Status, "while the daemon runs")
	f.Close()
	disturb()
	f.open()
	f.pass(time.Second)
	require.Equal(t, right, get(f, deployment(2, "")).Status, "at its next start")
}
