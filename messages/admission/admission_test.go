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
		"OverridePolicy":           api.PolicyGroupVersion,
		"ClusterOverridePolicy":    api.PolicyGroupVersion,
		"FederatedResourceQuota":   api.PolicyGroupVersion,
		"Governor":                 api.LeewardGroupVersion,
		"ResourceBinding":          api.WorkGroupVersion,
		"ClusterResourceBinding":   api.WorkGroupVersion,
		"WorkloadRebalancer":       api.AppsGroupVersion,
		"EvictionBudget":           api.LeewardGroupVersion,
		"ClusterEvictionBudget":    api.LeewardGroupVersion,
		"Node":                     "v1",
		"Pod":                      "v1",
		"ConfigMap":                "v1",
		"Namespace":                "v1",
		"Job":                      "batch/v1",
		"PodDisruptionBudget":      "policy/v1",
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
