package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
)

// ofKarmadas has Karmada's agent act for a cluster.
func ofKarmadas(f *fixture, cluster string) {
	edit(f, member(cluster), func(c *api.Cluster) {
		c.Annotations = map[string]string{api.AnnotationAgent: api.AgentOfKarmada}
	})
	require.NoError(f.t, f.step())
}

// manifestIn is the first manifest of a Work.
func manifestIn(t *testing.T, w *api.Work) *unstructured.Unstructured {
	t.Helper()
	require.NotNil(t, w)
	o := &unstructured.Unstructured{}
	require.NoError(t, o.UnmarshalJSON(w.Spec.Workload.Manifests[0].Raw))
	return o
}

func TestAClaimLeavesTheRestOfAManifestAsItIs(t *testing.T) {
	raw, err := claim([]byte(`{"kind":"K","metadata":{"name":"n","labels":{"b":"1"},"annotations":{"a":"2"},"n":1.50},"spec":{"large":12345678901234567890,"exact":1.50}}`), "karmada-es-m1", "w", 7)
	require.NoError(t, err)
	require.Equal(t, `{"kind":"K","metadata":{"annotations":{"a":"2","resourcetemplate.karmada.io/generation":"7",`+
		`"resourcetemplate.karmada.io/managed-annotations":"a,resourcetemplate.karmada.io/generation,resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,work.karmada.io/name,work.karmada.io/namespace",`+
		`"resourcetemplate.karmada.io/managed-labels":"b,karmada.io/managed","work.karmada.io/name":"w","work.karmada.io/namespace":"karmada-es-m1"},`+
		`"labels":{"b":"1","karmada.io/managed":"true"},"n":1.50,"name":"n"},"spec":{"large":12345678901234567890,"exact":1.50}}`, string(raw))
	for _, wrong := range []string{`7`, `{}`, `{"metadata":7}`, `{"metadata":{"labels":7}}`, `{"metadata":{"annotations":{"a":1}}}`} {
		_, err := claim([]byte(wrong), "", "", 1)
		require.Error(t, err, wrong)
	}
}

func TestAWorkOfKarmadasAgentSaysWhoseItIsAndOfWhichGeneration(t *testing.T) {
	f := running(t)
	require.Empty(t, manifestIn(t, get(f, work("m1"))).GetAnnotations(), "leeward-agent notes it by itself")
	ofKarmadas(f, "m1")
	claimed := func(generation string) {
		t.Helper()
		w := get(f, work("m1"))
		m := manifestIn(t, w)
		require.Equal(t, map[string]string{labelManaged: "true"}, m.GetLabels())
		require.Equal(t, w.Name, m.GetAnnotations()[annotationWorkName])
		require.Equal(t, generation, m.GetAnnotations()[annotationGeneration])
	}
	claimed("2")
	require.Equal(t, int64(2), get(f, work("m1")).Generation)
	f.apply(deployment(2, "nginx:2"))
	claimed("3")
	before := f.engine.Version()
	f.restart()
	f.pass(time.Minute)
	require.Equal(t, before, f.engine.Version(), "a start writes nothing new")
	edit(f, member("m1"), func(c *api.Cluster) { c.Annotations = nil })
	require.NoError(t, f.step())
	require.Empty(t, manifestIn(t, get(f, work("m1"))).GetLabels())
}

// Karmada's agent does not say which generation of the Work its report is about. What the copy was before does not end a handover.
func TestAReportOfKarmadasAgentIsAboutTheManifestThatTheCopyHas(t *testing.T) {
	f := running(t)
	ofKarmadas(f, "m2")
	putTaints(f, "m1", failed)
	f.apply(deployment(2, "nginx:2"))
	require.Equal(t, int64(2), get(f, work("m2")).Generation)
	reports := func(generation int64) {
		edit(f, work("m2"), func(w *api.Work) {
			w.Status = served(w, 2)
			w.Status.Conditions[0].ObservedGeneration = 0
			var status map[string]any
			require.NoError(t, json.Unmarshal(w.Status.ManifestStatuses[0].Status.Raw, &status))
			status[generationReported] = generation
			raw, err := json.Marshal(status)
			require.NoError(t, err)
			w.Status.ManifestStatuses[0].Status = &runtime.RawExtension{Raw: raw}
		})
		require.NoError(t, f.step())
	}
	reports(1)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	reports(2)
	require.Equal(t, "m2:2", placed(f))
}

func TestWhatAReportSaysOfItsGeneration(t *testing.T) {
	require.Nil(t, dated(nil))
	for status, want := range map[string]int64{
		"": 0, `{"resourceTemplateGeneration":4}`: 4, `{"resourceTemplateGeneration":-4}`: 0, `{"resourceTemplateGeneration":"4"}`: 0,
		`{"resourceTemplateGeneration":1e30}`: 0, `{"note":"resourceTemplateGeneration"}`: 0,
	} {
		said := &messages.WorkReport{Status: status}
		require.Equal(t, want, dated(said).Generation, status)
		require.Zero(t, said.Generation, "others share it")
		require.Equal(t, int64(3), dated(&messages.WorkReport{Status: status, Generation: 3}).Generation, "an agent that says it is believed")
	}
}

func TestKarmadasAgentGetsTheNamespaceOfItsCopies(t *testing.T) {
	f := newFixture(t)
	p, d := policy(), deployment(2, "nginx:1")
	p.Namespace, d.Namespace = "shop", "shop" // which members do not have from the start
	w, namespace := work("m1"), work("m1")
	w.Name, namespace.Name = workName("shop/web-deployment"), "shop.namespace"
	f.apply(member("m1"), p, d)
	require.NotNil(t, get(f, w))
	require.Nil(t, get(f, namespace), "leeward-agent creates namespaces")
	ofKarmadas(f, "m1")
	stored := get(f, namespace)
	m := manifestIn(t, stored)
	require.Equal(t, "v1 Namespace shop", m.GetAPIVersion()+" "+m.GetKind()+" "+m.GetName())
	require.Equal(t, api.AnnotationOverwrites, m.GetAnnotations()[api.AnnotationConflict])
	require.Empty(t, stored.Finalizers, "its deletion deletes nothing in the member")
	f.restart()
	require.Same(t, stored, get(f, namespace))

	f.remove(member("m1"))
	f.remove(d)
	require.Equal(t, int64(3), get(f, w).Generation, "Karmada's agent hears of a deletion by the generation")
	require.True(t, f.obeys(get(f, w)))
	require.NoError(t, f.step())
	require.Nil(t, get(f, member("m1")), "no agent has to let the namespace go")
	require.Nil(t, get(f, namespace))
}
