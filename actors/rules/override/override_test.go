package override_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"leeward/actors/rules/override"
	"leeward/messages"
	"leeward/messages/api"
)

// inJSON writes YAML as JSON.
func inJSON(t testing.TB, text string) string {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	return string(raw)
}

// policy makes a policy of its spec in YAML; "ns/name" has a namespace, "name" none.
func policy(t testing.TB, namespace, name, text string) *override.Policy {
	t.Helper()
	var spec api.OverrideSpec
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &spec))
	p, err := override.Compile(namespace, name, &spec)
	require.NoError(t, err)
	return p
}

// applied names the policies that were applied.
func applied(list []api.AppliedOverride) (names []string) {
	for _, a := range list {
		names = append(names, a.PolicyName)
	}
	return names
}

var m1 = &messages.ClusterView{Name: "m1", Labels: map[string]string{"tier": "gold"}, Region: "eu"}

const web = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: d, labels: {app: web}}, spec: {replicas: 2}}`

// set is a spec that sets the annotation "by", for some resources.
func set(by, selectors string) string {
	return `{resourceSelectors: [` + selectors + `], overrideRules: [{overriders: {annotationsOverrider: [{operator: add, value: {by: ` + by + `}}]}}]}`
}

const (
	all     = ""
	kind    = "{apiVersion: apps/v1, kind: Deployment}"
	byLabel = "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: web}}}"
	byName  = "{apiVersion: apps/v1, kind: Deployment, name: web}"
)

func TestWhichPolicyHasTheLastWord(t *testing.T) {
	for name, c := range map[string]struct {
		policies []*override.Policy
		by       string
	}{
		"the later name":                 {[]*override.Policy{policy(t, "d", "b", set("b", all)), policy(t, "d", "a", set("a", all))}, "b"},
		"labels before all":              {[]*override.Policy{policy(t, "d", "a", set("labels", byLabel)), policy(t, "d", "b", set("all", all))}, "labels"},
		"labels before the kind":         {[]*override.Policy{policy(t, "d", "a", set("labels", byLabel)), policy(t, "d", "b", set("kind", kind))}, "labels"},
		"the kind is one of all":         {[]*override.Policy{policy(t, "d", "a", set("kind", kind)), policy(t, "d", "b", set("all", all))}, "all"},
		"the name before labels":         {[]*override.Policy{policy(t, "d", "a", set("name", byName)), policy(t, "d", "b", set("labels", byLabel))}, "name"},
		"the closest of several":         {[]*override.Policy{policy(t, "d", "a", set("name", kind+", "+byName)), policy(t, "d", "b", set("labels", byLabel))}, "name"},
		"the namespace before the fleet": {[]*override.Policy{policy(t, "d", "a", set("local", all)), policy(t, "", "b", set("fleet", byName))}, "local"},
		"the fleet, in any namespace":    {[]*override.Policy{policy(t, "", "b", set("fleet", all))}, "fleet"},
		"none from another namespace":    {[]*override.Policy{policy(t, "e", "a", set("other", all))}, ""},
		"none that means another kind":   {[]*override.Policy{policy(t, "d", "a", set("other", "{apiVersion: v1, kind: Secret}"))}, ""},
		"none that means other labels":   {[]*override.Policy{policy(t, "d", "a", set("other", "{apiVersion: apps/v1, kind: Deployment, labelSelector: {matchLabels: {app: db}}}"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := override.Apply([]byte(inJSON(t, web)), c.policies, m1)
			require.NoError(t, err)
			var o struct {
				Metadata struct{ Annotations map[string]string }
			}
			require.NoError(t, json.Unmarshal(r.Manifest, &o))
			require.Equal(t, c.by, o.Metadata.Annotations["by"])
		})
	}
}

func TestRulesApplyInOrderWhereTheyMeanTheCluster(t *testing.T) {
	const labels = "overriders: {labelsOverrider: [{operator: add, value: "
	p := policy(t, "d", "p", `{overrideRules: [
		{targetCluster: {clusterNames: [m1]}, `+labels+`{a: first, b: first}}]}},
		{targetCluster: {labelSelector: {matchLabels: {tier: tin}}}, `+labels+`{a: tin}}]}},
		{targetCluster: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [eu]}]}}, `+labels+`{a: eu}}]}}]}`)
	r, err := override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, m1)
	require.NoError(t, err)
	require.Contains(t, string(r.Manifest), `"labels":{"a":"eu","app":"web","b":"first"}`)
	require.Equal(t, []string{"p", "p"}, applied(r.Local))

	r, err = override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, &messages.ClusterView{Name: "m2"})
	require.NoError(t, err)
	require.Equal(t, inJSON(t, web), string(r.Manifest), "the very bytes, for no rule means m2")
	require.Empty(t, r.Local)
}

func TestWhatWasAppliedIsListedByName(t *testing.T) {
	policies := []*override.Policy{
		policy(t, "d", "a", set("a", byName)), policy(t, "d", "b", set("b", all)), policy(t, "", "c", set("c", all)),
	}
	r, err := override.Apply([]byte(inJSON(t, web)), policies, m1)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, applied(r.Local), "b applied first")
	require.Equal(t, []string{"c"}, applied(r.Cluster))
	text, err := json.Marshal(r.Cluster)
	require.NoError(t, err)
	require.Equal(t, `[{"policyName":"c","overriders":{"annotationsOverrider":[{"operator":"add","value":{"by":"c"}}]}}]`, string(text))
}

func TestAPolicyOfANamespaceSeesWhatThoseOfTheFleetMade(t *testing.T) {
	relabel := policy(t, "", "relabel", `{overrideRules: [{overriders: {labelsOverrider: [{operator: replace, value: {app: db}}]}}]}`)
	require.True(t, policy(t, "d", "p", set("p", byLabel)).MayReach(api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "d", Name: "db"}))
	r, err := override.Apply([]byte(inJSON(t, web)), []*override.Policy{relabel, policy(t, "d", "p", set("p", byLabel))}, m1)
	require.NoError(t, err)
	require.Empty(t, applied(r.Local))
}

func TestAnOverridePolicyMakesNoOtherObject(t *testing.T) {
	for _, overriders := range []string{
		`{plaintext: [{path: /metadata/namespace, operator: replace, value: bank}]}`,
		`{plaintext: [{path: /metadata, operator: replace, value: {name: web, namespace: bank}}]}`,
		`{plaintext: [{path: "", operator: replace, value: {apiVersion: v1, kind: Secret, metadata: {name: web, namespace: d}}}]}`,
		`{plaintext: [{path: /apiVersion, operator: replace, value: rbac.authorization.k8s.io/v1}, {path: /kind, operator: replace, value: ClusterRoleBinding}]}`,
		`{imageOverrider: [{predicate: {path: /metadata/name}, component: Repository, operator: replace, value: other}]}`,
	} {
		p := policy(t, "d", "p", `{overrideRules: [{overriders: `+overriders+`}]}`)
		_, err := override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, m1)
		require.ErrorContains(t, err, "an OverridePolicy may not change which object it overrides", overriders)
	}
	p := policy(t, "", "p", `{overrideRules: [{overriders: {plaintext: [{path: /metadata/namespace, operator: replace, value: bank}]}}]}`)
	_, err := override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, m1)
	require.NoError(t, err, "whoever may write a ClusterOverridePolicy may write in every namespace")
}

func TestWhatDoesNotFitASecretIsNotTold(t *testing.T) {
	const held = "aHVudGVyMg=="
	manifest := []byte(inJSON(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: d}, data: {key: `+held+`}}`))
	for _, overriders := range []string{
		`{fieldOverrider: [{fieldPath: /data, yaml: [{subPath: /a, operator: remove}]}]}`,
		`{fieldOverrider: [{fieldPath: /data/key, yaml: [{subPath: /a, operator: remove}]}]}`,
		`{imageOverrider: [{predicate: {path: /data}, component: Tag, operator: remove}]}`,
	} {
		p := policy(t, "d", "p", `{overrideRules: [{overriders: `+overriders+`}]}`)
		_, err := override.Apply(manifest, []*override.Policy{p}, m1)
		require.ErrorContains(t, err, "OverridePolicy d/p: spec.overrideRules[0].overriders do not fit", overriders)
		require.NotContains(t, err.Error(), held)
	}
}

func TestTheOldFormIsARule(t *testing.T) {
	p := policy(t, "d", "old", `{targetCluster: {exclude: [m2]}, overriders: {plaintext: [{path: /spec/replicas, operator: replace, value: 7}]}}`)
	r, err := override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, m1)
	require.NoError(t, err)
	require.Contains(t, string(r.Manifest), `"replicas":7`)
	require.True(t, p.Tells(m1, &messages.ClusterView{Name: "m2"}))
	require.False(t, p.Tells(m1, &messages.ClusterView{Name: "m3"}))
	require.Equal(t, "OverridePolicy d/old", p.String())

	p = policy(t, "d", "old", `{overriders: {imageOverrider: [{predicate: {path: /spec}, component: Tag, operator: remove}]}}`)
	_, err = override.Apply([]byte(inJSON(t, web)), []*override.Policy{p}, m1)
	require.ErrorContains(t, err, "OverridePolicy d/old: spec.overriders", "there is no rule to name")
}

func TestAPolicyThatCannotSayItsClustersIsRefused(t *testing.T) {
	spec := api.OverrideSpec{OverrideRules: []api.OverrideRule{{}, {TargetCluster: &api.ClusterAffinity{
		FieldSelector: &api.FieldSelector{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "city"}}},
	}}}}
	_, err := override.Compile("", "p", &spec)
	require.EqualError(t, err, `ClusterOverridePolicy p: spec.overrideRules[1].targetCluster: compile field selector: key "city": want provider, region or zone`)
}

// FuzzApply: any overriders on any manifest end in an object, or in an error and nothing else.
func FuzzApply(f *testing.F) {
	manifest := inJSON(f, web)
	for _, c := range cases {
		f.Add(inJSON(f, c.manifest), inJSON(f, "{"+c.overriders+"}"))
	}
	f.Add(manifest, `{"plaintext":[{"path":"","operator":"replace","value":1}]}`)
	f.Add(`null`, `{"plaintext":[{"path":"/a/-1","operator":"add"}]}`)
	f.Fuzz(func(t *testing.T, manifest, overriders string) {
		spec := api.OverrideSpec{}
		if json.Unmarshal([]byte(overriders), &spec.Overriders) != nil {
			return
		}
		p, err := override.Compile("", "p", &spec)
		require.NoError(t, err)
		r, err := override.Apply([]byte(manifest), []*override.Policy{p}, m1)
		if err != nil {
			require.Empty(t, r.Manifest)
			return
		}
		var object map[string]any
		require.NoError(t, json.Unmarshal(r.Manifest, &object))
		require.NotNil(t, object)
	})
}
