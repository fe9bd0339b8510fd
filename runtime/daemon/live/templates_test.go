package live

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// fields are what some kinds are not admitted without.
var fields = map[string]string{
	"CronJob":                  `{"spec":{"schedule":"@hourly"}}`,
	"ReplicaSet":               `{"spec":{"replicas":3}}`,
	"Topic":                    `{"kind":"Topic","spec":{"replicas":3},"status":{"phase":"Ready"}}`,
	"CustomResourceDefinition": `{"kind":"CustomResourceDefinition","status":{"acceptedNames":{}}}`,
	"Service":                  `{"spec":{"clusterIP":"None"}}`,
	"RoleBinding":              `{"roleRef":{"kind":"ClusterRole","name":"r"}}`,
	"ClusterRoleBinding":       `{"roleRef":{"kind":"ClusterRole","name":"r"}}`,
}

// Every kind of templates is propagated to each cluster, overrides reach it, and it remains so after a start.
func TestEveryKindOfTemplatesIsPropagated(t *testing.T) {
	f := newFixture(t)
	p := named(&api.ClusterPropagationPolicy{}, api.PolicyGroupVersion, "ClusterPropagationPolicy", "", "all")
	o := named(&api.ClusterOverridePolicy{}, api.PolicyGroupVersion, "ClusterOverridePolicy", "", "team")
	o.Spec.OverrideRules = []api.OverrideRule{{Overriders: api.Overriders{LabelsOverrider: []api.MetadataOverrider{{Operator: "add", Value: map[string]string{"team": "a"}}}}}}
	m := member("m1")
	m.Status.APIEnablements = nil
	var templates []api.Object
	for _, r := range catalog.Kept() {
		if !r.Template() {
			continue
		}
		if r == catalog.Customs {
			r = catalog.Custom(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Topic"})
		}
		version, kind := r.Kind.ToAPIVersionAndKind()
		template := r.New()
		if text := fields[kind]; text != "" {
			require.NoError(t, json.Unmarshal([]byte(text), template))
		}
		namespace := "default"
		if r.ClusterScoped {
			namespace = ""
		}
		templates = append(templates, named(template, version, kind, namespace, "web"))
		p.Spec.ResourceSelectors = append(p.Spec.ResourceSelectors, api.ResourceSelector{APIVersion: version, Kind: kind})
		m.Status.APIEnablements = append(m.Status.APIEnablements, api.APIEnablement{GroupVersion: version, Resources: []api.APIResource{{Name: r.Plural, Kind: kind}}})
	}
	f.apply(append(templates, m, p, o)...)
	copies := func() (versions map[string]string) {
		versions = map[string]string{}
		for _, w := range all[*api.Work](f, catalog.Works) {
			u := &unstructured.Unstructured{}
			require.NoError(t, json.Unmarshal(w.Spec.Workload.Manifests[0].Raw, &u.Object))
			require.Equal(t, map[string]string{"team": "a"}, u.GetLabels(), "%s", u.GetKind())
			if replicas, asks, _ := unstructured.NestedFieldNoCopy(u.Object, "spec", "replicas"); asks && (u.GetKind() == "ReplicaSet" || u.GetKind() == "Topic") {
				require.EqualValues(t, 3, replicas, "%s", u.GetKind())
			}
			if u.GetKind() == "Topic" || u.GetKind() == "CustomResourceDefinition" {
				require.NotContains(t, u.Object, "status")
				require.NotContains(t, u.Object["metadata"], "generation")
			}
			versions[u.GetAPIVersion()+" "+u.GetKind()+" "+u.GetNamespace()] = w.ResourceVersion
		}
		return versions
	}
	before := copies()
	require.Len(t, before, len(templates))
	f.restart()
	require.Equal(t, before, copies())
	for _, template := range templates {
		f.remove(template)
	}
	for _, w := range all[*api.Work](f, catalog.Works) {
		require.NotNil(t, w.DeletionTimestamp, w.Name)
	}
}

// Where a daemon has nodes, the status of a budget is about their pods, and not about copies.
func TestTheStatusOfABudgetIsAboutThePodsOfNodes(t *testing.T) {
	f := unopened(t)
	var err error
	f.engine, err = engine.Open(engine.Config{Resources: engine.Tables(catalog.OfNodes...), Clock: f.clock})
	require.NoError(t, err)
	t.Cleanup(func() { f.Close(); require.NoError(t, f.engine.Close()) })
	f.open()
	b := named(&policyv1.PodDisruptionBudget{}, "policy/v1", "PodDisruptionBudget", "default", "web")
	b.Status.DisruptionsAllowed = 7
	p := policy()
	p.Spec.ResourceSelectors = []api.ResourceSelector{{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}}
	m := member("m1")
	m.Status.APIEnablements = []api.APIEnablement{{GroupVersion: "policy/v1", Resources: []api.APIResource{{Kind: "PodDisruptionBudget"}}}}
	f.apply(m, p, b)
	works := all[*api.Work](f, catalog.Works)
	require.Len(t, works, 1)
	edit(f, works[0], func(w *api.Work) {
		w.Status.ManifestStatuses = []api.ManifestStatus{{Health: api.Healthy, Status: &runtime.RawExtension{Raw: []byte(`{"disruptionsAllowed":3}`)}}}
	})
	require.NoError(t, f.step())
	require.EqualValues(t, 7, get(f, b).Status.DisruptionsAllowed)
}
