package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/admission"
)

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

func TestHowADeploymentRollsOut(t *testing.T) {
	const at = "spec.strategy.rollingUpdate."
	for strategy, want := range map[string]string{
		"{}":             "",
		"type: Recreate": "",
		"rollingUpdate: {maxSurge: 50%, maxUnavailable: 0}": "",
		"rollingUpdate: {maxSurge: 0, maxUnavailable: 0}":   at + "maxUnavailable: Invalid value: 0: may not be 0 when maxSurge is 0",
		"rollingUpdate: {maxUnavailable: 101%}":             at + `maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
		"rollingUpdate: {maxSurge: many}":                   at + `maxSurge: Invalid value: "many": must be a whole number of 0 or more, or a percentage such as 25%`,
		"rollingUpdate: {maxSurge: -1}":                     at + `maxSurge: Invalid value: "-1": must be a whole number of 0 or more, or a percentage such as 25%`,
		"{type: Recreate, rollingUpdate: {maxSurge: 1}}":    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy type is 'Recreate'",
		"type: Canary": `spec.strategy.type: Unsupported value: "Canary": supported values: "Recreate", "RollingUpdate"`,
	} {
		if !strings.HasPrefix(strategy, "{") {
			strategy = "{" + strategy + "}"
		}
		requireFindings(t, "Deployment\nspec: {strategy: "+strategy+"}\n", want, want)
	}
	const seconds = "spec.minReadySeconds: Invalid value: -1: must be 0 or more"
	requireFindings(t, "Deployment\nspec: {minReadySeconds: -1}\n", seconds, seconds)
	requireFindings(t, "StatefulSet\nspec: {minReadySeconds: -1}\n", seconds, seconds)
	for strategy, want := range map[string]string{
		"{type: OnDelete}":                                "",
		"{rollingUpdate: {partition: -1}}":                "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be 0 or more",
		"{type: OnDelete, rollingUpdate: {partition: 1}}": "spec.updateStrategy.rollingUpdate: Forbidden: may not be specified when strategy type is 'OnDelete'",
		"{type: Canary}":                                  `spec.updateStrategy.type: Unsupported value: "Canary": supported values: "OnDelete", "RollingUpdate"`,
	} {
		requireFindings(t, "StatefulSet\nspec: {updateStrategy: "+strategy+"}\n", want, want)
	}
	requireFindings(t, "DaemonSet\nspec: {minReadySeconds: -1}\n", seconds, seconds)
	const many = `spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "many": must be a whole number of 0 or more, or a percentage such as 25%`
	requireFindings(t, "DaemonSet\nspec: {updateStrategy: {rollingUpdate: {maxUnavailable: many}}}\n", many, many)
}

func TestWhatMayNotChange(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"a policy's scheduler": {
			policy(""),
			policy("schedulerName: other"),
			`spec.schedulerName: Invalid value: "other": field is immutable`,
		},
		"the default scheduler may be spelt": {policy(""), policy("schedulerName: default-scheduler"), ""},
		"the rest of a policy may change":    {policy(""), policy("priority: 5"), ""},
		"a cluster policy's scheduler": {
			"Cluster" + policy(""),
			"Cluster" + policy("schedulerName: other"),
			`spec.schedulerName: Invalid value: "other": field is immutable`,
		},
		"a deployment's selector": {
			"Deployment\nspec: {}\n",
			"Deployment\nspec: {selector: {}}\n",
			`spec.selector: Invalid value: {}: field is immutable`,
		},
		"a stateful set's selector": {
			"StatefulSet\nspec: {}\n",
			"StatefulSet\nspec: {selector: {}}\n",
			`spec.selector: Invalid value: {}: field is immutable`,
		},
		"a replica set's selector": {
			"ReplicaSet\nspec: {}\n",
			"ReplicaSet\nspec: {selector: {}}\n",
			`spec.selector: Invalid value: {}: field is immutable`,
		},
		"a daemon set's selector": {
			"DaemonSet\nspec: {}\n",
			"DaemonSet\nspec: {selector: {}}\n",
			`spec.selector: Invalid value: {}: field is immutable`,
		},
		"a cluster may change whatever it wants": {"Cluster\nspec: {region: a}\n", "Cluster\nspec: {region: b}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			old := read(t, c.before)
			admission.Default(old, karmada(), now)
			require.Equal(t, c.want, findings(read(t, c.after), old, karmada()))
		})
	}
}

func TestTheTextOfASecretIsData(t *testing.T) {
	for name, c := range map[string]struct {
		given corev1.Secret
		kind  corev1.SecretType
		data  map[string][]byte
	}{
		"data stays":          {corev1.Secret{Data: map[string][]byte{"a": []byte("a")}}, "Opaque", map[string][]byte{"a": []byte("a")}},
		"text is data":        {corev1.Secret{StringData: map[string]string{"a": "b"}}, "Opaque", map[string][]byte{"a": []byte("b")}},
		"text overrides data": {corev1.Secret{Data: map[string][]byte{"a": []byte("a"), "c": []byte("c")}, StringData: map[string]string{"a": "b"}}, "Opaque", map[string][]byte{"a": []byte("b"), "c": []byte("c")}},
		"a type stays":        {corev1.Secret{Type: corev1.SecretTypeTLS}, "kubernetes.io/tls", nil},
	} {
		t.Run(name, func(t *testing.T) {
			admission.Default(&c.given, &messages.Settings{}, now)
			require.Equal(t, c.kind, c.given.Type)
			require.Equal(t, c.data, c.given.Data)
			require.Empty(t, c.given.StringData)
		})
	}
}
