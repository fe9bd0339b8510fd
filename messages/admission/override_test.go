package admission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

// overrides returns a ClusterOverridePolicy of one rule with some overriders.
func overrides(overriders string) string {
	return "ClusterOverridePolicy\nspec: {overrideRules: [{overriders: {" + overriders + "}}]}\n"
}

func TestOverridePolicies(t *testing.T) {
	const at, operators = "spec.overrideRules[0].overriders.", `supported values: "add", "remove", "replace"`
	for name, c := range map[string]struct{ text, want string }{
		"of everything, everywhere": {overrides(""), ""},
		"each overrider": {overrides(`
			plaintext: [{path: /spec/paused, operator: add, value: true}], labelsOverrider: [{operator: add, value: {a.b/c: d}}],
			imageOverrider: [{component: Registry, operator: replace, value: r}, {predicate: {path: /x}, component: Tag, operator: remove}],
			commandOverrider: [{containerName: c, operator: add, value: [a]}], argsOverrider: [{containerName: c, operator: remove, value: [a]}],
			annotationsOverrider: [{operator: remove, value: {a: b}}], fieldOverrider: [{fieldPath: /data/a, yaml: [{subPath: "", operator: replace, value: {}}]}]`), ""},
		"a selector has a kind": {
			"OverridePolicy\nspec: {resourceSelectors: [{apiVersion: v1}]}\n", "spec.resourceSelectors[0].kind: Required value"},
		"rules and the old form": {
			"OverridePolicy\nspec: {overrideRules: [{overriders: {}}], targetCluster: {}, overriders: {argsOverrider: [{containerName: c, operator: add}]}}\n",
			"spec.targetCluster: Forbidden: overrideRules and targetCluster are mutually exclusive\n" +
				"spec.overriders: Forbidden: overrideRules and overriders are mutually exclusive"},
		"the old form alone": {"OverridePolicy\nspec: {targetCluster: {}, overriders: {plaintext: [{path: /a, operator: remove}]}}\n", ""},
		"the old form is validated": {
			"OverridePolicy\nspec: {overriders: {plaintext: [{path: /a, operator: test}]}}\n",
			`spec.overriders.plaintext[0].operator: Unsupported value: "test": ` + operators},
		"clusters by an unknown field": {
			"OverridePolicy\nspec: {overrideRules: [{targetCluster: {fieldSelector: {matchExpressions: [{key: city, operator: In}]}}, overriders: {}}]}\n",
			`spec.overrideRules[0].targetCluster.fieldSelector.matchExpressions[0].key: Unsupported value: "city": supported values: "provider", "region", "zone"`},
		"a patch of nothing": {overrides("plaintext: [{operator: add}]"), at + "plaintext[0].path: Required value"},
		"a component that no image has": {
			overrides("imageOverrider: [{component: Name, operator: add}]"),
			at + `imageOverrider[0].component: Unsupported value: "Name": supported values: "Registry", "Repository", "Tag"`},
		"an image without an operator": {overrides("imageOverrider: [{component: Tag}]"), at + "imageOverrider[0].operator: Required value"},
		"a predicate that is no pointer": {
			overrides("imageOverrider: [{component: Tag, operator: add, predicate: {path: spec.image}}]"),
			at + `imageOverrider[0].predicate.path: Invalid value: "spec.image": must begin with /, as /spec/replicas`},
		"a command is not replaced": {
			overrides("commandOverrider: [{containerName: c, operator: replace}]"),
			at + `commandOverrider[0].operator: Unsupported value: "replace": supported values: "add", "remove"`},
		"args of no container": {overrides("argsOverrider: [{operator: add}]"), at + "argsOverrider[0].containerName: Required value"},
		"a label that is none": {overrides("labelsOverrider: [{operator: add, value: {a: b c}}]"), at + `labelsOverrider[0].value: Invalid value: "b c": ` + labelValueRule},
		"an annotation that is none": {
			overrides("annotationsOverrider: [{operator: add, value: {a b: c}}]"), at + `annotationsOverrider[0].value: Invalid value: "a b": ` + labelKeyRule},
		"a field that is no pointer": {
			overrides("fieldOverrider: [{fieldPath: data}]"), at + `fieldOverrider[0].fieldPath: Invalid value: "data": must begin with /, as /spec/replicas`},
		"a field in two languages": {
			overrides("fieldOverrider: [{fieldPath: /a, json: [{subPath: /a, operator: remove}], yaml: [{subPath: /a, operator: remove}]}]"),
			at + "fieldOverrider[0].yaml: Forbidden: json and yaml are mutually exclusive"},
		"a field gets nothing": {
			overrides("fieldOverrider: [{fieldPath: /a, json: [{subPath: a, operator: add, value: null}]}]"),
			at + `fieldOverrider[0].json[0].subPath: Invalid value: "a": must begin with /, as /spec/replicas` + "\n" + at + "fieldOverrider[0].json[0].value: Required value"},
		"a field loses a value": {
			overrides("fieldOverrider: [{fieldPath: /a, json: [{subPath: /a, operator: remove, value: 1}]}]"),
			at + "fieldOverrider[0].json[0].value: Forbidden: what is removed takes no value"},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestAnOverridePolicySelectsInItsOwnNamespace(t *testing.T) {
	o := read(t, "OverridePolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K}, {apiVersion: v1, kind: K, namespace: b}]}\n")
	require.Empty(t, findings(o, nil, karmada()))
	selectors := o.(*api.OverridePolicy).Spec.ResourceSelectors
	require.Equal(t, "default", selectors[0].Namespace)
	require.Equal(t, "b", selectors[1].Namespace, "as Karmada, which lets it select nothing")
}
