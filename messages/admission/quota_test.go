package admission_test

import (
	"strings"
	"testing"
)

func TestQuotas(t *testing.T) {
	quota := func(spec string) string { return "FederatedResourceQuota\nspec: {" + spec + "}\n" }
	const hard = "spec.staticAssignments[0].hard"
	for name, c := range map[string]struct{ text, want string }{
		"limits of any kind": {quota("overall: {cpu: '4', memory: 8Gi, pods: '9', requests.cpu: 500m, hugepages-2Mi: '1', example.com/gpu: '2'}"), ""},
		"nothing at all":     {quota("overall: {}"), ""},
		"assignments within": {quota("overall: {cpu: '4'}, staticAssignments: [{clusterName: a, hard: {cpu: '3'}}, {clusterName: b, hard: {cpu: '1'}}]"), ""},
		"a slip in a name": {
			quota("overall: {cpus: '4'}"),
			`spec.overall[cpus]: Unsupported value: "cpus": supported values: "cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"`,
		},
		"no name of a resource": {
			quota("overall: {'a b/c': '4'}"),
			`spec.overall[a b/c]: Invalid value: "a b/c": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		},
		"less than nothing":  {quota("overall: {cpu: -1}"), `spec.overall[cpu]: Invalid value: "-1": must be 0 or more`},
		"half of a pod":      {quota("overall: {pods: 1500m}"), `spec.overall[pods]: Invalid value: "1500m": must be a whole number`},
		"assigned too much":  {quota("overall: {cpu: '4'}, staticAssignments: [{clusterName: a, hard: {cpu: '3'}}, {clusterName: a, hard: {cpu: '2'}}]"), `spec.overall[cpu]: Invalid value: "4": must be no less than the sum of staticAssignments, 5`},
		"assigned unlimited": {quota("overall: {cpu: '4'}, staticAssignments: [{clusterName: a, hard: {memory: -1}}]"), hard + `[memory]: Invalid value: "-1": must be 0 or more` + "\n" + hard + `[memory]: Invalid value: "memory": must be in overall, too`},
		"assigned to no namespace": {
			quota("overall: {}, staticAssignments: [{clusterName: A, hard: {}}]"),
			`spec.staticAssignments[0].clusterName: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')`,
		},
		"a name too long for a label": {
			"FederatedResourceQuota\nspec: {overall: {}}\nmetadata: {name: " + strings.Repeat("q", 64) + "}\n",
			`metadata.name: Invalid value: "` + strings.Repeat("q", 64) + `": must be no more than 63 characters`,
		},
	} {
		t.Run(name, func(t *testing.T) { requireFindings(t, c.text, c.want, c.want) })
	}
}
