package admission_test

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 49)
	for name, c := range map[string]struct{ text, want string }{
		"a cluster's name is a DNS label": {
			"Cluster\nmetadata: {name: a.b}\n",
			`metadata.name: Invalid value: "a.b": must not contain dots`,
		},
		"a cluster's name has 48 characters": {"Cluster\nmetadata: {name: " + long[1:] + "}\n", ""},
		"and not 49": {
			"Cluster\nmetadata: {name: " + long + "}\n",
			`metadata.name: Invalid value: "` + long + `": must be no more than 48 characters`,
		},
		"a policy's name may have dots": {
			"ClusterTaintPolicy\nmetadata: {name: a.b}\nspec: {taints: [{key: k, effect: NoSchedule}]}\n",
			"",
		},
		"a role's name may have colons": {"ClusterRole\nmetadata: {name: 'system:a'}\n", ""},
		"but no slash": {
			"ClusterRole\nmetadata: {name: a/b}\n",
			`metadata.name: Invalid value: "a/b": may not contain '/'`,
		},
		"a label's value is one": {
			"ConfigMap\nmetadata: {name: a, labels: {x: a b}}\n",
			`metadata.labels: Invalid value: "a b": ` + labelValueRule,
		},
		"a namespace is cleared where none is": {"Cluster\nmetadata: {name: a, namespace: b}\n", ""},
		"a namespace is named as DNS wants": {
			"ConfigMap\nmetadata: {name: a, namespace: B}\n",
			`metadata.namespace: Invalid value: "B": ` + dnsLabelRule,
		},
		"an object without a namespace gets one": {"ConfigMap\nmetadata: {name: a}\n", ""},
		"the kind Namespace is in none":          {"Namespace\nmetadata: {name: a}\n", ""},
		"generations do not count below nothing": {
			"ConfigMap\nmetadata: {name: a, generation: -1}\n",
			`metadata.generation: Invalid value: -1: must be greater than or equal to 0`,
		},
		"an owner has apiVersion, kind and a uid": {
			"ConfigMap\nmetadata: {name: a, ownerReferences: [{apiVersion: v1, kind: K, name: b, uid: ''}]}\n",
			`metadata.ownerReferences[0].uid: Required value: must not be empty`,
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestClusters(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"nothing is required": {"{}", ""},
		"a sync mode is one of two": {
			"{syncMode: Sync}",
			`spec.syncMode: Unsupported value: "Sync": supported values: "Push", "Pull"`,
		},
		"a secret has a namespace": {"{secretRef: {name: a}}", `spec.secretRef.namespace: Required value`},
		"a secret has a name": {
			"{impersonatorSecretRef: {namespace: a}}",
			`spec.impersonatorSecretRef.name: Required value`,
		},
		"a proxy speaks HTTP or SOCKS": {
			"{proxyURL: 'ftp://a'}",
			`spec.proxyURL: Unsupported value: "ftp": supported values: "http", "https", "socks5"`,
		},
		"a proxy is a URL":            {"{proxyURL: 'http://[a'}", `spec.proxyURL: Invalid value: "http://[a": must be a URL`},
		"a proxy may be SOCKS":        {"{proxyURL: 'socks5://a:1'}", ""},
		"a provider is a label value": {"{provider: a b}", `spec.provider: Invalid value: "a b": ` + labelValueRule},
		"a region is a label value":   {"{region: a b}", `spec.region: Invalid value: "a b": ` + labelValueRule},
		"a zone is a label value":     {"{zones: [a, a b]}", `spec.zones[1]: Invalid value: "a b": ` + labelValueRule},
		"zone and zones exclude another": {
			"{zone: a, zones: [b]}",
			`spec.zone: Invalid value: "a": zone and zones are mutually exclusive`,
		},
		"zone alone becomes zones": {"{zone: a}", ""},
		"a taint has a key": {
			"{taints: [{key: '', effect: NoExecute}]}",
			"spec.taints[0].key: Invalid value: \"\": name part must be non-empty\nspec.taints[0].key: Invalid value: \"\": " + labelKeyRule,
		},
		"a taint's value is a label's": {
			"{taints: [{key: k, value: a b, effect: NoExecute}]}",
			`spec.taints[0].value: Invalid value: "a b": ` + labelValueRule,
		},
		"a taint has an effect": {"{taints: [{key: k, effect: ''}]}", `spec.taints[0].effect: Required value`},
		"a cluster has no soft taints": {
			"{taints: [{key: k, effect: PreferNoSchedule}]}",
			`spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`,
		},
		"a key may have both effects": {"{taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoExecute}]}", ""},
		"a key has an effect once": {
			"{taints: [{key: k, effect: NoSchedule}, {key: k, value: v, effect: NoSchedule}]}",
			`spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`,
		},
		"a grade has ranges": {
			"{resourceModels: [{grade: 0, ranges: []}]}",
			`spec.resourceModels[0].ranges: Required value`,
		},
		"two grades that meet, unordered": {
			"{resourceModels: [{grade: 1, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}, {grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}]}",
			"",
		},
		"a grade comes once": {
			"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 0, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}]}",
			`spec.resourceModels[1].grade: Duplicate value: 0`,
		},
		"the lowest grade begins at 0": {
			"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}]}",
			`spec.resourceModels[0].ranges[0].min: Invalid value: "1": must be 0 in the lowest grade`,
		},
		"the highest grade has no end": {
			"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 5}]}]}",
			`spec.resourceModels[0].ranges[0].max: Invalid value: "5": must be 9223372036854775807 in the highest grade`,
		},
		"no quantity is between grades": {
			"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: 9223372036854775807}]}]}",
			`spec.resourceModels[1].ranges[0].min: Invalid value: "2": must be where the grade below ends`,
		},
		"a range goes up": {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 2}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: 1}]}, {grade: 2, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}]}",
			`spec.resourceModels[1].ranges[0].max: Invalid value: "1": must be more than min`},
		"grades have the same resources": {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: memory, min: 1, max: 9223372036854775807}]}]}",
			`spec.resourceModels[1].ranges[0].name: Invalid value: "memory": every grade must have the same resources, in the same order`},
		"grades have as many resources": {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, min: 1, max: 9223372036854775807}, {name: memory, min: 0, max: 9223372036854775807}]}]}",
			`spec.resourceModels[1].ranges: Invalid value: 2: every grade must have the same resources`},
	} {
		t.Run(name, func(t *testing.T) {
			text := "Cluster\nspec: " + c.spec + "\n"
			requireFindings(t, text, c.want, c.want)
		})
	}
}
