package expect

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v))
	return v
}

func TestPartialMatch(t *testing.T) {
	const object = `
metadata: {name: m1, labels: {tier: gold}, creationTimestamp: "2026-01-01T00:00:00Z"}
spec: {taints: [{key: a, effect: NoExecute}, {key: b, value: "1"}], suspend: false, replicas: 3}
status: {capacity: {cpu: "2", memory: 4Gi}}
`
	for want, reason := range map[string]string{
		`{}`:                                                           "",
		`{metadata: {name: m1}}`:                                       "",
		`{metadata: {name: m2}}`:                                       `metadata.name is "m1"`,
		`{metadata: {labels: {}}}`:                                     "",
		`{metadata: {labels: {tier: gold}}}`:                           "",
		`{metadata: {labels: {team: x}}}`:                              `metadata.labels.team is not set`,
		`{metadata: {annotations: null}}`:                              "",
		`{metadata: {annotations: {}}}`:                                "",
		`{metadata: {annotations: {a: b}}}`:                            `metadata.annotations is not set`,
		`{metadata: {labels: null}}`:                                   `metadata.labels is {"tier":"gold"}`,
		`{spec: {taints: [{key: b}]}}`:                                 "",
		`{spec: {taints: [{key: b}, {key: a}]}}`:                       "",
		`{spec: {taints: [{key: c}]}}`:                                 `spec.taints is [{"effect":"NoExecute","key":"a"},{"key":"b","value":"1"}], without {"key":"c"}`,
		`{spec: {taints: [{key: a, value: x}]}}`:                       `spec.taints is [{"effect":"NoExecute","key":"a"},{"key":"b","value":"1"}], without {"key":"a","value":"x"}`,
		`{spec: {taints: []}}`:                                         `spec.taints is [{"effect":"NoExecute","key":"a"},{"key":"b","value":"1"}]`,
		`{spec: {zones: []}}`:                                          "",
		`{spec: {zones: [a]}}`:                                         `spec.zones is not set, without "a"`,
		`{spec: {taints: {key: a}}}`:                                   `spec.taints is [{"effect":"NoExecute","key":"a"},{"key":"b","value":"1"}]`,
		`{spec: {replicas: 3}}`:                                        "",
		`{spec: {replicas: "3"}}`:                                      "",
		`{spec: {replicas: [3]}}`:                                      `spec.replicas is 3`,
		`{spec: {replicas: {min: 1}}}`:                                 `spec.replicas is 3`,
		`{spec: {suspend: false}}`:                                     "",
		`{spec: {suspend: "false"}}`:                                   `spec.suspend is false`,
		`{spec: {suspend: true}}`:                                      `spec.suspend is false`,
		`{status: {capacity: {cpu: 2}}}`:                               "",
		`{status: {capacity: {cpu: 2000m}}}`:                           "",
		`{status: {capacity: {memory: 4096Mi}}}`:                       "",
		`{status: {capacity: {memory: 4G}}}`:                           `status.capacity.memory is "4Gi"`,
		`{metadata: {creationTimestamp: "2026-01-01T01:00:00+01:00"}}`: "",
		`{metadata: {creationTimestamp: "2026-01-01T01:00:00Z"}}`:      `metadata.creationTimestamp is "2026-01-01T00:00:00Z"`,
	} {
		require.Equal(t, reason, mismatch("", parse(t, want), parse(t, object)), want)
	}
}

func TestQuantitiesThatTakeForEverAreText(t *testing.T) {
	require.False(t, sameScalar("1e999999999", "2e999999999"))
	require.True(t, sameScalar("1Ei", "1024Pi"))
	require.True(t, sameScalar("1E", "1000P"))
	require.False(t, sameScalar("", "0"))
	require.True(t, sameScalar(int64(1), 1.0))
	require.True(t, sameScalar(uint64(1), 1))
}

// Whatever a tree is, it matches itself; and no pair of trees makes the match fail or hang.
func FuzzPartial(f *testing.F) {
	for _, s := range []string{`{"a":[1,"2",{"b":null}]}`, `[]`, `"1Ki"`, `1e308`, `{"a":{}}`} {
		f.Add(s, `{"a":[{}]}`)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		var a, b any
		if json.Unmarshal([]byte(one), &a) != nil || json.Unmarshal([]byte(other), &b) != nil {
			return
		}
		require.Empty(t, mismatch("", a, a))
		mismatch("", a, b)
	})
}
