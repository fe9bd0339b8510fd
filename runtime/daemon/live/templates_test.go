package live

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// fields are what some kinds are not admitted without.
var fields = map[string]string{
	"CronJob":            `{"spec":{"schedule":"@hourly"}}`,
	"Service":            `{"spec":{"clusterIP":"None"}}`,
	"RoleBinding":        `{"roleRef":{"kind":"ClusterRole","name":"r"}}`,
	"ClusterRoleBinding": `{"roleRef":{"kind":"ClusterRole","name":"r"}}`,
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
	for i := range catalog.All {
		r := &catalog.All[i]
		if !r.Template() {
			continue
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
