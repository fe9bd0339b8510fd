package admission_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/admission"
	"leeward/messages/api"
	"leeward/messages/manifest"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 250_000_000, time.UTC)

// karmada admits what Karmada admits; leeward is strict.
func karmada() *messages.Settings {
	return &messages.Settings{
		DefaultNotReadyTolerationSeconds: -1, DefaultUnreachableTolerationSeconds: -1, WholeSecondTaintTimes: true,
	}
}

func leeward() *messages.Settings {
	s := karmada()
	s.ValidateTolerations, s.WholeSecondTaintTimes = true, false
	return s
}

// read decodes one manifest, given without its apiVersion.
func read(t testing.TB, text string) api.Object {
	t.Helper()
	kind, _, _ := strings.Cut(text, "\n")
	version := map[string]string{
		"Cluster":                  api.ClusterGroupVersion,
		"ClusterTaintPolicy":       api.PolicyGroupVersion,
		"PropagationPolicy":        api.PolicyGroupVersion,
		"ClusterPropagationPolicy": api.PolicyGroupVersion,
		"ResourceBinding":          api.WorkGroupVersion,
		"ClusterResourceBinding":   api.WorkGroupVersion,
		"WorkloadRebalancer":       api.AppsGroupVersion,
		"Node":                     "v1",
		"Pod":                      "v1",
		"ConfigMap":                "v1",
		"Namespace":                "v1",
		"Job":                      "batch/v1",
		"ClusterRole":              "rbac.authorization.k8s.io/v1",
	}[kind]
	if version == "" {
		version = "apps/v1"
	}
	if !strings.Contains(text, "\nmetadata:") {
		text += "metadata: {name: a}\n"
	}
	documents, problems := manifest.Decode("f.yaml", []byte("apiVersion: "+version+"\nkind: "+text))
	require.Empty(t, problems, text)
	return documents[0].Object
}

// findings admits an object and returns what was found, one finding a line.
func findings(o, old api.Object, s *messages.Settings) string {
	admission.Default(o, s, now)
	var lines []string
	for _, e := range admission.Validate(o, old, s) {
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

func requireFindings(t *testing.T, text, karmadas, leewards string) {
	t.Helper()
	require.Equal(t, karmadas, findings(read(t, text), nil, karmada()), "karmada")
	require.Equal(t, leewards, findings(read(t, text), nil, leeward()), "leeward")
}

const (
	labelValueRule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	labelKeyRule   = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
	dnsLabelRule   = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`
)

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 49)
	for name, c := range map[string]struct{ text, want string }{
		"a cluster's name is a DNS label":         {"Cluster\nmetadata: {name: a.b}\n", `metadata.name: Invalid value: "a.b": must not contain dots`},
		"a cluster's name has 48 characters":      {"Cluster\nmetadata: {name: " + long[1:] + "}\n", ""},
		"and not 49":                              {"Cluster\nmetadata: {name: " + long + "}\n", `metadata.name: Invalid value: "` + long + `": must be no more than 48 characters`},
		"a policy's name may have dots":           {"ClusterTaintPolicy\nmetadata: {name: a.b}\nspec: {taints: [{key: k, effect: NoSchedule}]}\n", ""},
		"a role's name may have colons":           {"ClusterRole\nmetadata: {name: 'system:a'}\n", ""},
		"but no slash":                            {"ClusterRole\nmetadata: {name: a/b}\n", `metadata.name: Invalid value: "a/b": may not contain '/'`},
		"a label's value is one":                  {"ConfigMap\nmetadata: {name: a, labels: {x: a b}}\n", `metadata.labels: Invalid value: "a b": ` + labelValueRule},
		"a namespace is cleared where none is":    {"Cluster\nmetadata: {name: a, namespace: b}\n", ""},
		"a namespace is named as DNS wants":       {"ConfigMap\nmetadata: {name: a, namespace: B}\n", `metadata.namespace: Invalid value: "B": ` + dnsLabelRule},
		"an object without a namespace gets one":  {"ConfigMap\nmetadata: {name: a}\n", ""},
		"the kind Namespace is in none":           {"Namespace\nmetadata: {name: a}\n", ""},
		"generations do not count below nothing":  {"ConfigMap\nmetadata: {name: a, generation: -1}\n", `metadata.generation: Invalid value: -1: must be greater than or equal to 0`},
		"an owner has apiVersion, kind and a uid": {"ConfigMap\nmetadata: {name: a, ownerReferences: [{apiVersion: v1, kind: K, name: b, uid: ''}]}\n", `metadata.ownerReferences[0].uid: Required value: must not be empty`},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestClusters(t *testing.T) {
	for name, c := range map[string]struct{ spec, want string }{
		"nothing is required":             {"{}", ""},
		"a sync mode is one of two":       {"{syncMode: Sync}", `spec.syncMode: Unsupported value: "Sync": supported values: "Push", "Pull"`},
		"a secret has a namespace":        {"{secretRef: {name: a}}", `spec.secretRef.namespace: Required value`},
		"a secret has a name":             {"{impersonatorSecretRef: {namespace: a}}", `spec.impersonatorSecretRef.name: Required value`},
		"a proxy speaks HTTP or SOCKS":    {"{proxyURL: 'ftp://a'}", `spec.proxyURL: Unsupported value: "ftp": supported values: "http", "https", "socks5"`},
		"a proxy is a URL":                {"{proxyURL: 'http://[a'}", `spec.proxyURL: Invalid value: "http://[a": must be a URL`},
		"a proxy may be SOCKS":            {"{proxyURL: 'socks5://a:1'}", ""},
		"a provider is a label value":     {"{provider: a b}", `spec.provider: Invalid value: "a b": ` + labelValueRule},
		"a region is a label value":       {"{region: a b}", `spec.region: Invalid value: "a b": ` + labelValueRule},
		"a zone is a label value":         {"{zones: [a, a b]}", `spec.zones[1]: Invalid value: "a b": ` + labelValueRule},
		"zone and zones exclude another":  {"{zone: a, zones: [b]}", `spec.zone: Invalid value: "a": zone and zones are mutually exclusive`},
		"zone alone becomes zones":        {"{zone: a}", ""},
		"a taint has a key":               {"{taints: [{key: '', effect: NoExecute}]}", "spec.taints[0].key: Invalid value: \"\": name part must be non-empty\nspec.taints[0].key: Invalid value: \"\": " + labelKeyRule},
		"a taint's value is a label's":    {"{taints: [{key: k, value: a b, effect: NoExecute}]}", `spec.taints[0].value: Invalid value: "a b": ` + labelValueRule},
		"a taint has an effect":           {"{taints: [{key: k, effect: ''}]}", `spec.taints[0].effect: Required value`},
		"a cluster has no soft taints":    {"{taints: [{key: k, effect: PreferNoSchedule}]}", `spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`},
		"a key may have both effects":     {"{taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoExecute}]}", ""},
		"a key has an effect once":        {"{taints: [{key: k, effect: NoSchedule}, {key: k, value: v, effect: NoSchedule}]}", `spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`},
		"a grade has ranges":              {"{resourceModels: [{grade: 0, ranges: []}]}", `spec.resourceModels[0].ranges: Required value`},
		"two grades that meet, unordered": {"{resourceModels: [{grade: 1, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}, {grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}]}", ""},
		"a grade comes once":              {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 0, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}]}", `spec.resourceModels[1].grade: Duplicate value: 0`},
		"the lowest grade begins at 0":    {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 1, max: 9223372036854775807}]}]}", `spec.resourceModels[0].ranges[0].min: Invalid value: "1": must be 0 in the lowest grade`},
		"the highest grade has no end":    {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 5}]}]}", `spec.resourceModels[0].ranges[0].max: Invalid value: "5": must be 9223372036854775807 in the highest grade`},
		"no quantity is between grades":   {"{resourceModels: [{grade: 0, ranges: [{name: cpu, min: 0, max: 1}]}, {grade: 1, ranges: [{name: cpu, min: 2, max: 9223372036854775807}]}]}", `spec.resourceModels[1].ranges[0].min: Invalid value: "2": must be where the grade below ends`},
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

func TestTaintPolicies(t *testing.T) {
	const allowed = "set allowNoExecuteTaintPolicy (Karmada's --allow-no-execute-taint-policy) to allow it in policies"
	const noExecute = "spec.taints[0]: Forbidden: a NoExecute taint evicts every workload that does not tolerate it; " + allowed
	for name, c := range map[string]struct{ spec, karmada, leeward string }{
		"a policy has taints":                {"{}", "spec.taints: Required value: at least one taint", "spec.taints: Required value: at least one taint"},
		"NoExecute needs its setting":        {"{taints: [{key: k, effect: NoExecute}]}", noExecute, noExecute},
		"a key has an effect once":           {"{taints: [{key: k, effect: NoSchedule}, {key: k, effect: NoSchedule}]}", `spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`, `spec.taints[1]: Duplicate value: "k:NoSchedule": taints must be unique by key and effect pair`},
		"a taint has a key and an effect":    {"{taints: [{key: '', effect: ''}]}", "spec.taints[0].key: Required value\nspec.taints[0].effect: Required value", "spec.taints[0].key: Invalid value: \"\": name part must be non-empty\nspec.taints[0].key: Invalid value: \"\": " + labelKeyRule + "\nspec.taints[0].effect: Required value"},
		"a taint that no cluster takes":      {"{taints: [{key: k, effect: PreferNoSchedule}]}", "", `spec.taints[0].effect: Unsupported value: "PreferNoSchedule": supported values: "NoSchedule", "NoExecute"`},
		"a value that no cluster takes":      {"{taints: [{key: k, value: a b, effect: NoSchedule}]}", "", `spec.taints[0].value: Invalid value: "a b": ` + labelValueRule},
		"a condition has a type":             {"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: '', operator: In, statusValues: []}]}", "spec.addOnConditions[0].conditionType: Required value", "spec.addOnConditions[0].conditionType: Required value"},
		"a condition has an operator":        {"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: '', statusValues: []}]}", "spec.addOnConditions[0].operator: Required value", "spec.addOnConditions[0].operator: Required value"},
		"a condition has a list of statuses": {"{taints: [{key: k, effect: NoSchedule}], removeOnConditions: [{conditionType: c, operator: In}]}", "spec.removeOnConditions[0].statusValues: Required value", "spec.removeOnConditions[0].statusValues: Required value"},
		"an operator that never matches":     {"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: Is, statusValues: []}]}", "", `spec.addOnConditions[0].operator: Unsupported value: "Is": supported values: "In", "NotIn"`},
		"a status that no condition has":     {"{taints: [{key: k, effect: NoSchedule}], addOnConditions: [{conditionType: c, operator: In, statusValues: ['true']}]}", "", `spec.addOnConditions[0].statusValues[0]: Unsupported value: "true": supported values: "True", "False", "Unknown"`},
		"a selector that matches no cluster": {"{taints: [{key: k, effect: NoSchedule}], targetClusters: {fieldSelector: {matchExpressions: [{key: city, operator: In, values: [a]}]}}}", "", `spec.targetClusters.fieldSelector.matchExpressions[0].key: Unsupported value: "city": supported values: "provider", "region", "zone"`},
	} {
		t.Run(name, func(t *testing.T) {
			requireFindings(t, "ClusterTaintPolicy\nspec: "+c.spec+"\n", c.karmada, c.leeward)
		})
	}
	s := leeward()
	s.AllowNoExecuteTaintPolicy = true
	require.Empty(t, findings(read(t, "ClusterTaintPolicy\nspec: {taints: [{key: k, effect: NoExecute}]}\n"), nil, s))
}

func TestTolerationsOfAPolicy(t *testing.T) {
	const at = "spec.placement.clusterTolerations[0]"
	for name, c := range map[string]struct{ toleration, karmada, leeward string }{
		"everything":                        {"{operator: Exists}", "", ""},
		"equal by default":                  {"{key: k, value: v, effect: NoExecute, tolerationSeconds: 300}", "", ""},
		"zero and negative seconds":         {"{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: -5}", "", ""},
		"an empty key without Exists":       {"{value: v}", "", at + `.operator: Invalid value: "": must be Exists when key is empty, which means all keys`},
		"a malformed key":                   {"{key: a b, operator: Exists}", "", at + `.key: Invalid value: "a b": ` + labelKeyRule},
		"Exists with a value":               {"{key: k, operator: Exists, value: v}", "", at + `.operator: Invalid value: "Exists": value must be empty when operator is Exists`},
		"a malformed value":                 {"{key: k, operator: Equal, value: a b}", "", at + `.value: Invalid value: "a b": ` + labelValueRule},
		"seconds on NoSchedule":             {"{key: k, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}", "", at + `.effect: Invalid value: "NoSchedule": must be NoExecute when tolerationSeconds is set`},
		"seconds on every effect":           {"{key: k, operator: Exists, tolerationSeconds: 5}", "", at + `.effect: Invalid value: "": must be NoExecute when tolerationSeconds is set`},
		"an unknown effect":                 {"{key: k, operator: Exists, effect: NoRun}", "", at + `.effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		"an effect that no cluster has":     {"{key: k, operator: Exists, effect: PreferNoSchedule}", "", ""},
		"an unknown operator":               {"{key: k, operator: Like}", "", at + `.operator: Unsupported value: "Like": supported values: "Equal", "Exists"`},
		"Lt without its setting":            {"{key: k, operator: Lt, value: '5'}", at + `.operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`, at + `.operator: Unsupported value: "Lt": supported values: "Equal", "Exists"`},
		"Gt without its setting":            {"{key: k, operator: Gt, value: x}", at + `.operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`, at + `.operator: Unsupported value: "Gt": supported values: "Equal", "Exists"`},
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
		"a node has soft taints":         {"Node\nspec: {taints: [{key: k, effect: PreferNoSchedule}]}\n", ""},
		"a node's taint is unique":       {"Node\nspec: {taints: [{key: k, effect: NoExecute}, {key: k, effect: NoExecute}]}\n", `spec.taints[1]: Duplicate value: "k:NoExecute": taints must be unique by key and effect pair`},
		"a node's effect is known":       {"Node\nspec: {taints: [{key: k, effect: NoRun}]}\n", `spec.taints[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`},
		"a pod's toleration":             {"Pod\nspec: {containers: [], tolerations: [{value: v}]}\n", `spec.tolerations[0].operator: Invalid value: "": must be Exists when key is empty, which means all keys`},
		"a long key needs a prefix":      {"Node\nspec: {taints: [{key: " + strings.Repeat("k", 64) + ", effect: NoExecute}]}\n", `spec.taints[0].key: Invalid value: "` + strings.Repeat("k", 64) + `": name part must be no more than 63 bytes`},
		"a long prefix makes no key":     {"Node\nspec: {taints: [{key: " + strings.Repeat("p", 60) + "." + strings.Repeat("q", 60) + "/" + strings.Repeat("k", 63) + ", effect: NoExecute}]}\n", ""},
		"special hardware, with seconds": {"Pod\nspec: {containers: [], tolerations: [{key: dedicated, operator: Equal, value: gpu, effect: NoSchedule, tolerationSeconds: 3600}]}\n", `spec.tolerations[0].effect: Invalid value: "NoSchedule": must be NoExecute when tolerationSeconds is set`},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

// policy returns a PropagationPolicy with one good selector.
func policy(rest string) string {
	return "PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: d}], " + rest + "}\n"
}

func TestPolicies(t *testing.T) {
	const on = "spec.placement"
	for name, c := range map[string]struct{ text, want string }{
		"selectors are required":         {"PropagationPolicy\nspec: {}\n", "spec.resourceSelectors: Required value: at least one selector"},
		"a selector has a kind":          {"ClusterPropagationPolicy\nspec: {resourceSelectors: [{}]}\n", "spec.resourceSelectors[0].apiVersion: Required value\nspec.resourceSelectors[0].kind: Required value"},
		"a selector in the same place":   {"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: default}]}\n", ""},
		"a selector in another place":    {"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: b}]}\n", `spec.resourceSelectors[0].namespace: Invalid value: "b": must be the policy's own namespace`},
		"a cluster policy anywhere":      {"ClusterPropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, namespace: b}]}\n", ""},
		"a malformed label selector":     {"PropagationPolicy\nspec: {resourceSelectors: [{apiVersion: v1, kind: K, labelSelector: {matchExpressions: [{key: a, operator: In}]}}]}\n", "spec.resourceSelectors[0].labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		"preemption names its resources": {"PropagationPolicy\nspec: {preemption: Always, resourceSelectors: [{apiVersion: v1, kind: K}]}\n", "spec.resourceSelectors[0].name: Required value: every selector must name its resource when preemption is Always"},
		"preemption is one of two":       {policy("preemption: Sometimes"), `spec.preemption: Unsupported value: "Sometimes": supported values: "Always", "Never"`},
		"a conflict is resolved":         {policy("conflictResolution: Ask"), `spec.conflictResolution: Unsupported value: "Ask": supported values: "Abort", "Overwrite"`},
		"activation is lazy or not":      {policy("activationPreference: Eager"), `spec.activationPreference: Unsupported value: "Eager": supported values: "Lazy"`},
		"a priority has a source":        {policy("schedulePriority: {priorityClassName: high}"), `spec.schedulePriority.priorityClassSource: Required value`},
		"a priority has a class":         {policy("schedulePriority: {priorityClassSource: KubePriorityClass}"), `spec.schedulePriority.priorityClassName: Required value`},
		"suspended twice":                {policy("suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [a]}}"), `spec.suspension: Invalid value: "dispatching: true": dispatching and dispatchingOnClusters are mutually exclusive`},
		"suspended on some clusters":     {policy("suspension: {dispatching: false, dispatchingOnClusters: {clusterNames: [a]}}"), ""},

		"affinity and affinities":             {policy("placement: {clusterAffinity: {}, clusterAffinities: [{affinityName: a}]}"), on + ".clusterAffinities: Forbidden: clusterAffinity and clusterAffinities are mutually exclusive"},
		"a field selector's key":              {policy("placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: city, operator: In, values: [a]}]}}}"), on + `.clusterAffinity.fieldSelector.matchExpressions[0].key: Unsupported value: "city": supported values: "provider", "region", "zone"`},
		"a field selector's operator":         {policy("placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: zone, operator: Exists}]}}}"), on + `.clusterAffinity.fieldSelector.matchExpressions[0].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`},
		"a cluster selector's label":          {policy("placement: {clusterAffinity: {labelSelector: {matchLabels: {a: b c}}}}"), on + `.clusterAffinity.labelSelector.matchLabels: Invalid value: "b c": ` + labelValueRule},
		"a group has a name":                  {policy("placement: {clusterAffinities: [{affinityName: ''}]}"), on + ".clusterAffinities[0].affinityName: Required value"},
		"a group has a short name":            {policy("placement: {clusterAffinities: [{affinityName: " + strings.Repeat("a", 33) + "}]}"), on + `.clusterAffinities[0].affinityName: Invalid value: "` + strings.Repeat("a", 33) + `": must be no more than 32 characters`},
		"a group has a label's name":          {policy("placement: {clusterAffinities: [{affinityName: a b}]}"), on + `.clusterAffinities[0].affinityName: Invalid value: "a b": ` + labelKeyRule},
		"a group has a name of its own":       {policy("placement: {clusterAffinities: [{affinityName: a}, {affinityName: a}]}"), on + `.clusterAffinities[1].affinityName: Duplicate value: "a"`},
		"a group's own selector":              {policy("placement: {clusterAffinities: [{affinityName: a, fieldSelector: {matchExpressions: [{key: zone, operator: Gt}]}}]}"), on + `.clusterAffinities[0].fieldSelector.matchExpressions[0].operator: Unsupported value: "Gt": supported values: "In", "NotIn"`},
		"overflow of divided replicas":        {policy("placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"), ""},
		"overflow by dynamic weight":          {policy("placement: {replicaScheduling: {weightPreference: {dynamicWeight: AvailableReplicas}}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, exclude: [w]}]}]}"), ""},
		"overflow of duplicates":              {policy("placement: {clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"), on + ".clusterAffinities[0].overflowAffinities: Forbidden: replicas must be Divided, and Aggregated or weighted by AvailableReplicas"},
		"overflow by static weight":           {policy("placement: {replicaScheduling: {}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}]}]}"), on + ".clusterAffinities[0].overflowAffinities: Forbidden: replicas must be Divided, and Aggregated or weighted by AvailableReplicas"},
		"overflow of and into any cluster":    {policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, overflowAffinities: [{affinityName: b}]}]}"), on + ".clusterAffinities[0]: Required value: a group with overflow must select clusters\n" + on + ".clusterAffinities[0].overflowAffinities[0]: Required value: an overflow group must select clusters"},
		"overflow under the same name":        {policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: a, clusterNames: [w]}]}]}"), on + `.clusterAffinities[0].overflowAffinities[0].affinityName: Duplicate value: "a"`},
		"overflow twice under the same name":  {policy("placement: {replicaScheduling: {replicaDivisionPreference: Aggregated}, clusterAffinities: [{affinityName: a, clusterNames: [x], overflowAffinities: [{affinityName: b, clusterNames: [w]}, {affinityName: b, clusterNames: [z]}]}]}"), on + `.clusterAffinities[0].overflowAffinities[1].affinityName: Duplicate value: "b"`},
		"spread by field and label":           {policy("placement: {spreadConstraints: [{spreadByField: cluster, spreadByLabel: a}]}"), on + `.spreadConstraints[0].spreadByLabel: Invalid value: "a": spreadByField and spreadByLabel are mutually exclusive`},
		"spread by label alone":               {policy("placement: {spreadConstraints: [{spreadByLabel: a}]}"), ""},
		"spread by an unknown field":          {policy("placement: {spreadConstraints: [{}, {spreadByField: rack}]}"), on + `.spreadConstraints[1].spreadByField: Unsupported value: "rack": supported values: "cluster", "region", "zone", "provider"`},
		"spread over fewer than nothing":      {policy("placement: {spreadConstraints: [{minGroups: -1, maxGroups: -2}]}"), on + ".spreadConstraints[0].minGroups: Invalid value: -1: must be 0 or more\n" + on + ".spreadConstraints[0].maxGroups: Invalid value: -2: must be 0 or more"},
		"spread over too few":                 {policy("placement: {spreadConstraints: [{minGroups: 3, maxGroups: 2}]}"), on + ".spreadConstraints[0].maxGroups: Invalid value: 2: must not be less than minGroups; 0 sets no limit"},
		"spread without a limit":              {policy("placement: {spreadConstraints: [{minGroups: 3}]}"), ""},
		"spread twice by the same field":      {policy("placement: {spreadConstraints: [{}, {spreadByField: cluster}]}"), on + `.spreadConstraints[1].spreadByField: Duplicate value: "cluster"`},
		"spread by region alone":              {policy("placement: {spreadConstraints: [{spreadByField: region}]}"), on + `.spreadConstraints: Invalid value: ["region"]: who spreads by field must also spread by cluster`},
		"spread by region and cluster":        {policy("placement: {spreadConstraints: [{spreadByField: region}, {}]}"), ""},
		"an unknown scheduling type":          {policy("placement: {replicaScheduling: {replicaSchedulingType: Split}}"), on + `.replicaScheduling.replicaSchedulingType: Unsupported value: "Split": supported values: "Duplicated", "Divided"`},
		"an unknown division":                 {policy("placement: {replicaScheduling: {replicaDivisionPreference: Fair}}"), on + `.replicaScheduling.replicaDivisionPreference: Unsupported value: "Fair": supported values: "Aggregated", "Weighted"`},
		"an unknown weight":                   {policy("placement: {replicaScheduling: {weightPreference: {dynamicWeight: Load}}}"), on + `.replicaScheduling.weightPreference.dynamicWeight: Unsupported value: "Load": supported values: "AvailableReplicas"`},
		"a weight of nothing":                 {policy("placement: {replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {}, weight: 0}]}}}"), on + `.replicaScheduling.weightPreference.staticWeightList[0].weight: Invalid value: 0: must be 1 or more`},
		"a weight's own selector":             {policy("placement: {replicaScheduling: {weightPreference: {staticWeightList: [{targetCluster: {fieldSelector: {matchExpressions: [{key: '', operator: ''}]}}, weight: 1}]}}}"), on + ".replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].key: Required value\n" + on + ".replicaScheduling.weightPreference.staticWeightList[0].targetCluster.fieldSelector.matchExpressions[0].operator: Required value"},
		"workloads together and apart":        {policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: b}}}"), ""},
		"workloads together by a bad key":     {policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a b}}}"), on + `.workloadAffinity.affinity.groupByLabelKey: Invalid value: "a b": ` + labelKeyRule},
		"workloads apart by a bad key":        {policy("placement: {workloadAffinity: {antiAffinity: {groupByLabelKey: a b}}}"), on + `.workloadAffinity.antiAffinity.groupByLabelKey: Invalid value: "a b": ` + labelKeyRule},
		"workloads both together and apart":   {policy("placement: {workloadAffinity: {affinity: {groupByLabelKey: a}, antiAffinity: {groupByLabelKey: a}}}"), on + `.workloadAffinity.antiAffinity.groupByLabelKey: Invalid value: "a": must differ from that of affinity`},
		"failover takes dependencies along":   {policy("failover: {application: {decisionConditions: {}}}"), "spec.propagateDeps: Invalid value: false: must be true when failover.application is set"},
		"failover with defaults":              {policy("propagateDeps: true, failover: {application: {decisionConditions: {}}, cluster: {}}"), ""},
		"failover after less than nothing":    {policy("propagateDeps: true, failover: {application: {decisionConditions: {tolerationSeconds: -1}}}"), "spec.failover.application.decisionConditions.tolerationSeconds: Invalid value: -1: must be 0 or more"},
		"failover in an unknown way":          {policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Immediately}}"), `spec.failover.application.purgeMode: Unsupported value: "Immediately": supported values: "Directly", "Gracefully", "Never"`},
		"failover that never purges":          {policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Never}}"), ""},
		"grace without a graceful purge":      {policy("propagateDeps: true, failover: {application: {decisionConditions: {}, purgeMode: Directly, gracePeriodSeconds: 5}}"), "spec.failover.application.gracePeriodSeconds: Invalid value: 5: only with purgeMode Gracefully"},
		"grace of nothing":                    {policy("propagateDeps: true, failover: {application: {decisionConditions: {}, gracePeriodSeconds: 0}}"), "spec.failover.application.gracePeriodSeconds: Invalid value: 0: must be more than 0"},
		"a failed cluster is always purged":   {policy("failover: {cluster: {purgeMode: Never}}"), `spec.failover.cluster.purgeMode: Unsupported value: "Never": supported values: "Directly", "Gracefully"`},
		"preserved state has a label":         {policy("failover: {cluster: {statePreservation: {rules: [{aliasLabelName: a b, jsonPath: .x}]}}}"), `spec.failover.cluster.statePreservation.rules[0].aliasLabelName: Invalid value: "a b": ` + labelKeyRule},
		"preserved state has a path":          {policy("propagateDeps: true, failover: {application: {decisionConditions: {}, statePreservation: {rules: [{aliasLabelName: a, jsonPath: ''}]}}}"), `spec.failover.application.statePreservation.rules[0].jsonPath: Required value`},
		"everything wrong is found in one go": {policy("preemption: Now, conflictResolution: Later"), "spec.preemption: Unsupported value: \"Now\": supported values: \"Always\", \"Never\"\nspec.conflictResolution: Unsupported value: \"Later\": supported values: \"Abort\", \"Overwrite\""},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestBindingsAndRebalancers(t *testing.T) {
	binding := func(rest string) string {
		return "ResourceBinding\nspec: {resource: {apiVersion: apps/v1, kind: Deployment, name: d}, " + rest + "}\n"
	}
	const task = "spec.gracefulEvictionTasks[0]"
	for name, c := range map[string]struct{ text, want string }{
		"a binding is for a resource":        {"ClusterResourceBinding\nspec: {resource: {}}\n", "spec.resource.apiVersion: Required value\nspec.resource.kind: Required value\nspec.resource.name: Required value"},
		"replicas are counted from 0":        {binding("replicas: -1"), "spec.replicas: Invalid value: -1: must be 0 or more"},
		"a conflict is resolved":             {binding("conflictResolution: Ask"), `spec.conflictResolution: Unsupported value: "Ask": supported values: "Abort", "Overwrite"`},
		"one component needs no name":        {binding("components: [{name: '', replicas: 1}]"), ""},
		"several components have names":      {binding("components: [{name: a, replicas: 1}, {name: '', replicas: 1}]"), "spec.components[1].name: Required value: each of several components needs one"},
		"and each its own":                   {binding("components: [{name: a, replicas: 1}, {name: a, replicas: -1}]"), "spec.components[1].replicas: Invalid value: -1: must be 0 or more\nspec.components[1].name: Duplicate value: \"a\""},
		"a target has a name":                {binding("clusters: [{name: '', replicas: -1}]"), "spec.clusters[0].name: Required value\nspec.clusters[0].replicas: Invalid value: -1: must be 0 or more"},
		"a target comes once":                {binding("clusters: [{name: a}, {name: a}]"), `spec.clusters[1].name: Duplicate value: "a"`},
		"an eviction says where, who, why":   {binding("gracefulEvictionTasks: [{fromCluster: '', reason: '', producer: ''}]"), task + ".fromCluster: Required value\n" + task + ".producer: Required value\n" + task + ".reason: Required value"},
		"an eviction's reason is one word":   {binding("gracefulEvictionTasks: [{fromCluster: a, reason: because of it, producer: p}]"), task + `.reason: Invalid value: "because of it": must be one word, as TaintUntolerated`},
		"a short word":                       {binding("gracefulEvictionTasks: [{fromCluster: a, reason: " + strings.Repeat("a", 33) + ", producer: p}]"), task + `.reason: Invalid value: "` + strings.Repeat("a", 33) + `": must be no more than 32 characters`},
		"an eviction's message is bounded":   {binding("gracefulEvictionTasks: [{fromCluster: a, reason: R, producer: p, message: " + strings.Repeat("a", 1025) + "}]"), task + `.message: Too long: may not be more than 1024 bytes`},
		"an eviction purges in a known way":  {binding("gracefulEvictionTasks: [{fromCluster: a, reason: R, producer: p, purgeMode: Now}]"), task + `.purgeMode: Unsupported value: "Now": supported values: "Directly", "Gracefully", "Never"`},
		"suspended twice":                    {binding("suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [a]}}"), `spec.suspension: Invalid value: "dispatching: true": dispatching and dispatchingOnClusters are mutually exclusive`},
		"a rebalancer has workloads":         {"WorkloadRebalancer\nspec: {workloads: []}\n", "spec.workloads: Required value: at least one workload"},
		"a rebalancer's workload has a name": {"WorkloadRebalancer\nspec: {workloads: [{}], ttlSecondsAfterFinished: -1}\n", "spec.workloads[0].apiVersion: Required value\nspec.workloads[0].kind: Required value\nspec.workloads[0].name: Required value\nspec.ttlSecondsAfterFinished: Invalid value: -1: must be 0 or more"},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}

func TestWorkloads(t *testing.T) {
	const mismatch = `spec.template.metadata.labels: Invalid value: {"a":"x"}: must match selector`
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet"} {
		requireFindings(t, kind+"\nspec: {}\n", "", "")
		requireFindings(t, kind+"\nspec: {replicas: -1}\n", "spec.replicas: Invalid value: -1: must be 0 or more", "spec.replicas: Invalid value: -1: must be 0 or more")
	}
	for _, kind := range []string{"Deployment", "StatefulSet", "ReplicaSet", "DaemonSet", "Job"} {
		text := kind + "\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: x}}}}\n"
		requireFindings(t, text, mismatch, mismatch)
		requireFindings(t, strings.Replace(text, "a: b", "a: x", 1), "", "")
	}
	const job = "spec.parallelism: Invalid value: -1: must be 0 or more\nspec.completions: Invalid value: -2: must be 0 or more"
	requireFindings(t, "Job\nspec: {parallelism: -1, completions: -2}\n", job, job)
	const selector = "spec.selector.matchExpressions[0].operator: Invalid value: \"Like\": not a valid selector operator"
	requireFindings(t, "Deployment\nspec: {selector: {matchExpressions: [{key: a, operator: Like}]}}\n", selector, selector)
	const request = `spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be 0 or more`
	requireFindings(t, "Deployment\nspec: {template: {spec: {containers: [{name: c, resources: {requests: {memory: 1Gi, cpu: -1}}}]}}}\n", request, request)
}

func TestWhatMayNotChange(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"a policy's scheduler":                   {policy(""), policy("schedulerName: other"), `spec.schedulerName: Invalid value: "other": field is immutable`},
		"the default scheduler may be spelt":     {policy(""), policy("schedulerName: default-scheduler"), ""},
		"the rest of a policy may change":        {policy(""), policy("priority: 5"), ""},
		"a cluster policy's scheduler":           {"Cluster" + policy(""), "Cluster" + policy("schedulerName: other"), `spec.schedulerName: Invalid value: "other": field is immutable`},
		"a deployment's selector":                {"Deployment\nspec: {}\n", "Deployment\nspec: {selector: {}}\n", `spec.selector: Invalid value: {}: field is immutable`},
		"a stateful set's selector":              {"StatefulSet\nspec: {}\n", "StatefulSet\nspec: {selector: {}}\n", `spec.selector: Invalid value: {}: field is immutable`},
		"a replica set's selector":               {"ReplicaSet\nspec: {}\n", "ReplicaSet\nspec: {selector: {}}\n", `spec.selector: Invalid value: {}: field is immutable`},
		"a daemon set's selector":                {"DaemonSet\nspec: {}\n", "DaemonSet\nspec: {selector: {}}\n", `spec.selector: Invalid value: {}: field is immutable`},
		"a cluster may change whatever it wants": {"Cluster\nspec: {region: a}\n", "Cluster\nspec: {region: b}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			old := read(t, c.before)
			admission.Default(old, karmada(), now)
			require.Equal(t, c.want, findings(read(t, c.after), old, karmada()))
		})
	}
}
