package admission_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTaintPolicies(t *testing.T) {
	const allowed = "to allow it in policies, set allowNoExecuteTaintPolicy: true in the configuration of leewardd (or Karmada's --allow-no-execute-taint-policy), " +
		"in spec.config of a Scenario, or by --set allowNoExecuteTaintPolicy=true of leeward"
	const noExecute = "spec.taints[0]: Forbidden: a NoExecute taint evicts every workload that does not tolerate it; " + allowed
	for name, c := range map[string]struct{ spec, karmada, leeward string }{
		"a policy has taints": {
			"{}",
			"spec.taints: Required value: at least one taint",
			"spec.taints: Required value: at least one taint",
		},
		"NoExecute needs its setting": {"{taints: [{key: k, effect: NoExecute}]}", noExecute, noExecute},
		"a key has an effect once": {
			"{taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoSchedule}]}",
			`spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`,
			`spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`,
		},
		"a taint has a key and an effect": {
			"{taints: [{key: '', effect: ''}]}",
			"spec.taints[0].key: Required value\nspec.taints[0].effect: Required value",
			"spec.taints[0].key: Invalid value: \"\": name part must be non-empty\nspec.taints[0].key: Invalid value: \"\": " + labelKeyRule + "\nspec.taints[0].effect: Required value",
		},
		"a taint that no cluster takes": {
			"{taints: [{key: k, effect: PreferNoSchedule}]}",
			"",
			`spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`,
		},
		"a value that no cluster takes": {
			"{taints: [{key: k, value: a b, effect: NoSchedule}]}",
			"",
			`spec.taints[0].value: Invalid value: "a b": ` + labelValueRule,
		},
		"a condition has a type": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: '', operator: In, statusValues: []}]}",
			"spec.addOnConditions[0].conditionType: Required value",
			"spec.addOnConditions[0].conditionType: Required value",
		},
		"a condition has an operator": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: '', statusValues: []}]}",
			"spec.addOnConditions[0].operator: Required value",
			"spec.addOnConditions[0].operator: Required value",
		},
		"a condition has a list of statuses": {
			"{taints: [{key: k, effect: NoSchedule}], removeOnConditions: [{conditionType: c, operator: In}]}",
			"spec.removeOnConditions[0].statusValues: Required value",
			"spec.removeOnConditions[0].statusValues: Required value",
		},
		"an operator that never matches": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: Is, statusValues: []}]}",
			"",
			`spec.addOnConditions[0].operator: Unsupported value: "Is": supported values: "In", "NotIn"`,
		},
		"a status that no condition has": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: In, statusValues: ['true']}]}",
			"",
			`spec.addOnConditions[0].statusValues[0]: Unsupported value: "true": supported values: "True", "False", "Unknown"`,
		},
		"NoExecute that is only reported": {"{taints: [{key: k, effect: NoExecute}], reportOnly: true}", "", ""},
		"a clean-up by choice":            {"{taints: [{key: k, effect: NoSchedule}], cleanup: OnChange}", "", ""},
		"a clean-up that there is not": {
			"{taints: [{key: k, effect: NoSchedule}], cleanup: Always}",
			`spec.cleanup: Unsupported value: "Always": supported values: "Never", "OnDelete", "OnChange"`,
			`spec.cleanup: Unsupported value: "Always": supported values: "Never", "OnDelete", "OnChange"`,
		},
		"a condition that must last": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: In, statusValues: [], for: 5m}]}", "", "",
		},
		"a condition that must last less than no time": {
			"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: In, statusValues: [], for: -5m}]}",
			`spec.addOnConditions[0].for: Invalid value: "-5m0s": must be 0 or more`,
			`spec.addOnConditions[0].for: Invalid value: "-5m0s": must be 0 or more`,
		},
		"a default that no condition has": {
			"{taints: [{key: k, effect: NoSchedule}], removeOnConditions: [{conditionType: c, operator: In, statusValues: [], defaultStatus: Maybe}]}",
			`spec.removeOnConditions[0].defaultStatus: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
			`spec.removeOnConditions[0].defaultStatus: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"`,
		},
		"a selector that matches no cluster": {
			"{taints: [{key: k, effect: NoSchedule}], targetClusters: {fieldSelector: {matchExpressions: [{key: city, operator: In, values: [a]}]}}}",
			"",
			`spec.targetClusters.fieldSelector.matchExpressions[0].key: Unsupported value: "city": supported values: "provider", "region", "zone"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			requireFindings(t, "ClusterTaintPolicy\nspec: "+c.spec+"\n", c.karmada, c.leeward)
		})
	}
	s := leeward()
	s.AllowNoExecuteTaintPolicy = true
	require.Empty(t, findings(read(t, "ClusterTaintPolicy\nspec: {taints: [{key: k, effect: NoExecute}]}\n"), nil, s))
}

func TestPreferNoScheduleNeedsItsSetting(t *testing.T) {
	s := leeward()
	s.PreferNoSchedule = true
	for _, text := range []string{
		"ClusterTaintPolicy\nspec: {taints: [{key: k, effect: PreferNoSchedule}]}\n",
		"Cluster\nmetadata: {name: m}\nspec: {syncMode: Push, taints: [{key: k, effect: PreferNoSchedule}]}\n",
	} {
		require.NotEmpty(t, findings(read(t, text), nil, leeward()))
		require.Empty(t, findings(read(t, text), nil, s))
	}
}

func TestTolerationsOfAPolicy(t *testing.T) {
	const at = "spec.placement.clusterTolerations[0]"
	for name, c := range map[string]struct{ toleration, karmada, leeward string }{
		"everything":                {"{operator: Exists}", "", ""},
		"equal by default":          {"{key: k, value: v, effect: NoExecute, tolerationSeconds: 300}", "", ""},
		"zero and negative seconds": {"{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: -5}", "", ""},
		"an empty key without Exists": {
			"{value: v}",
			"",
			at + `.operator: Invalid value: "": must be Exists when key is empty, which means all keys`,
		},
		"a malformed key": {"{key: a b, operator: Exists}", "", at + `.key: Invalid value: "a b": ` + labelKeyRule},
		"Exists with a value": {
			"{key: k, operator: Exists, value: v}",
			"",
			at + `.operator: Invalid value: "Exists": value must be empty when operator is Exists`,
		},
		"a malformed value": {
			"{key: k, operator: Equal, value: a b}",
			"",
			at + `.value: Invalid value: "a b": ` + labelValueRule,
		},
		"seconds on NoSchedule": {
			"{key: k, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}",
			"",
			at + `.effect: Invalid value: "NoSchedule": must be NoExecute when tolerationSeconds is set`,
		},
		"seconds on every effect": {
			"{key: k, operator: Exists, tolerationSeconds: 5}",
			"",
			at + `.effect: Invalid value: "": must be NoExecute when tolerationSeconds is set`,
		},
		"an unknown effect": {
			"{key: k, operator: Exists, effect: NoRun}",
			"",
			at + `.effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		},
		"an effect that no cluster has": {"{key: k, operator: Exists, effect: PreferNoSchedule}", "", ""},
		"an unknown operator": {
			"{key: k, operator: Like}",
			"",
			at + `.operator: Unsupported value: "Like": supported values: "Equal", "Exists"`,
		},
		"Lt without its setting": {
			"{key: k, operator: Lt, value: '5'}",
			at + `.operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`,
			at + `.operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`,
		},
		"Gt without its setting": {
			"{key: k, operator: Gt, value: x}",
			at + `.operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`,
			at + `.operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`,
		},
		"the same toleration a second time": {"{key: k, operator: Exists}, {key: k, operator: Exists}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := policy("placement: {clusterTolerations: [" + c.toleration + "]}")
			requireFindings(t, text, c.karmada, c.leeward)
		})
	}
}

func TestNumericTolerations(t *testing.T) {
	s := leeward()
	s.NumericTolerations = true
	for value, ok := range map[string]bool{
		"0": true, "-1": true, "9223372036854775807": true, "-9223372036854775808": true,
		"": false, "+1": false, "-0": false, "01": false, "1.0": false, " 1": false, "9223372036854775808": false,
	} {
		text := policy("placement: {clusterTolerations: [{key: k, operator: Lt, value: '" + value + "'}]}")
		want := `spec.placement.clusterTolerations[0].value: Invalid value: "` + value + `": must be an integer of 64 bits without leading zeros when operator is Lt or Gt`
		if ok {
			want = ""
		}
		require.Equal(t, want, findings(read(t, text), nil, s), "%q", value)
	}
	s.ValidateTolerations = false
	require.Empty(t, findings(read(t, policy("placement: {clusterTolerations: [{key: k, operator: Gt, value: x}]}")), nil, s))
}

func TestNodesAndPodsAreValidatedAsInKubernetes(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a node has soft taints": {"Node\nspec: {taints: [{key: k, effect: PreferNoSchedule}]}\n", ""},
		"a node's taint is unique": {
			"Node\nspec: {taints: [{key: k, effect: NoExecute}, {key: k, value: w, effect: NoExecute}]}\n",
			`metadata.taints[1]: Duplicate value: {"Key":"k","Value":"w","Effect":"NoExecute","TimeAdded":null}: taints must be unique by key and effect pair`,
		},
		"a node's key has effects": {"Node\nspec: {taints: [{key: k, effect: NoExecute}, {key: k, effect: NoSchedule}]}\n", ""},
		"a node's value": {
			"Node\nspec: {taints: [{key: k, value: '-v', effect: NoSchedule}]}\n",
			`metadata.taints[0].value: Invalid value: "-v": ` + labelValueRule,
		},
		"a node's taint has an effect": {"Node\nspec: {taints: [{key: k, effect: ''}]}\n", "metadata.taints[0].effect: Required value"},
		"a node's taint has a key": {
			"Node\nspec: {taints: [{key: '', effect: NoSchedule}]}\n",
			`metadata.taints[0].key: Invalid value: "": name part must be non-empty` + "\n" + `metadata.taints[0].key: Invalid value: "": ` + labelKeyRule,
		},
		"a node's key has no sign": {
			"Node\nspec: {taints: [{key: a=b, effect: NoSchedule}]}\n", `metadata.taints[0].key: Invalid value: "a=b": ` + labelKeyRule,
		},
		"a node's effect is known": {
			"Node\nspec: {taints: [{key: k, effect: NoRun}]}\n",
			`metadata.taints[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		},
		"a pod's toleration": {
			"Pod\nspec: {containers: [], tolerations: [{value: v}]}\n",
			`spec.tolerations[0].operator: Invalid value: "": operator must be Exists when ` + "`key`" + ` is empty, which means "match all values and all keys"`,
		},
		"a long key needs a prefix": {
			"Node\nspec: {taints: [{key: " + strings.Repeat("k", 64) + ", effect: NoExecute}]}\n",
			`metadata.taints[0].key: Invalid value: "` + strings.Repeat("k", 64) + `": name part must be no more than 63 bytes`,
		},
		"a long prefix makes no key": {
			"Node\nspec: {taints: [{key: " + strings.Repeat("p", 60) + "." + strings.Repeat("q", 60) + "/" + strings.Repeat("k", 63) + ", effect: NoExecute}]}\n",
			"",
		},
		"a pod's key has no sign, either": {
			"Pod\nspec: {containers: [], tolerations: [{key: a=b, operator: Exists}]}\n", `spec.tolerations[0].key: Invalid value: "a=b": ` + labelKeyRule,
		},
		"special hardware, with seconds": {
			"Pod\nspec: {containers: [], tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule, tolerationSeconds: 3600}]}\n",
			`spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be 'NoExecute' when ` + "`tolerationSeconds` is set",
		},
		"seconds for every effect": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Exists, tolerationSeconds: 5}]}\n",
			`spec.tolerations[0].effect: Invalid value: "": effect must be 'NoExecute' when ` + "`tolerationSeconds` is set",
		},
		"seconds below zero, twice": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: -5}, {key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]}\n", "",
		},
		"a value is a fault of the operator": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, value: a b}]}\n", `spec.tolerations[0].operator: Invalid value: "a b": ` + labelValueRule,
		},
		"Exists with a value": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Exists, value: v}]}\n",
			`spec.tolerations[0].operator: Invalid value: "v": value must be empty when ` + "`operator` is 'Exists'",
		},
		"an operator whose gate is off": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Gt, value: '5'}]}\n",
			`spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`,
		},
		"an operator that there is not": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Like}]}\n",
			`spec.tolerations[0].operator: Unsupported value: "Like": supported values: "Equal", "Exists"`,
		},
		"an effect that there is not": {
			"Pod\nspec: {containers: [], tolerations: [{key: k, operator: Exists, effect: NoRun}]}\n",
			`spec.tolerations[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
		},
		"a pod template": {
			"Deployment\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [], tolerations: [{value: v, operator: Exists}]}}}\n",
			`spec.template.spec.tolerations[0].operator: Invalid value: "v": value must be empty when ` + "`operator` is 'Exists'",
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestNumericTolerationsOfAPodAreValidatedAsInKubernetes(t *testing.T) {
	const decimal, parse = "must be a valid decimal integer in canonical form", "strconv.ParseInt: parsing "
	s := karmada()
	s.NumericTolerations = true
	for value, faults := range map[string][]string{
		"700": nil, "0": nil, "-20": nil, "9223372036854775807": nil, "-9223372036854775808": nil,
		"":                    {"must be non-empty", parse + `"": invalid syntax`},
		"much":                {decimal, parse + `"much": invalid syntax`},
		"7.5":                 {decimal, parse + `"7.5": invalid syntax`},
		"-":                   {decimal, parse + `"-": invalid syntax`},
		"7 0":                 {decimal, parse + `"7 0": invalid syntax`},
		"+7":                  {decimal},
		"070":                 {decimal},
		"-0":                  {decimal},
		"9223372036854775808": {parse + `"9223372036854775808": value out of range`},
	} {
		want := make([]string, len(faults))
		for i, fault := range faults {
			want[i] = `spec.tolerations[0].value: Invalid value: "` + value + `": ` + fault
		}
		for _, operator := range []string{"Gt", "Lt"} {
			p := pod(t, "tolerations: [{key: sla, operator: "+operator+", value: '"+value+"', effect: NoSchedule}]")
			require.Equal(t, strings.Join(want, "\n"), findings(p, nil, s), "%s %q", operator, value)
		}
	}
}

// The example of the documentation is admitted, and no field of Leeward's own is omitted.
func TestTheDocumentedPolicyIsAdmitted(t *testing.T) {
	page, err := os.ReadFile("../../docs/taint-policies.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	_, example, _ = strings.Cut(example, "kind: ")
	require.Empty(t, findings(read(t, example), nil, leeward()))
	for _, field := range []string{"for", "defaultStatus", "cleanup", "reportOnly"} {
		require.Contains(t, string(page), "| `"+field+"` |")
	}
}
