package scenario

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/runtime/scenario/expect"
)

// as reads JSON into a value of the language.
func as[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal([]byte(text), &v), text)
	return v
}

func TestValuesHaveMoreThanOneForm(t *testing.T) {
	one, two := 1, 2
	require.Equal(t, duration(36*time.Hour), as[duration](t, `"1.5d"`))
	require.Equal(t, duration(0), as[duration](t, `0`))

	require.Equal(t, startup{Min: duration(time.Second), Max: duration(time.Second)}, as[startup](t, `"1s"`))
	require.Equal(t, startup{Min: duration(time.Second), Max: duration(time.Minute)}, as[startup](t, `{"min": "1s", "max": "1m"}`))
	require.Equal(t, startup{Max: duration(time.Minute)}, as[startup](t, `{"max": "1m"}`))

	require.Equal(t, bounds{Min: &two, Max: &two}, as[bounds](t, `2`))
	require.Equal(t, bounds{Min: &one}, as[bounds](t, `{"min": 1}`))
	require.Equal(t, bounds{Min: &one, Max: &two}, as[bounds](t, `{"min": 1, "max": 2}`))

	plain := taintSpec{Key: "a", Value: "b", Effect: corev1.TaintEffectNoExecute}
	require.Equal(t, plain, as[taintSpec](t, `"a=b:NoExecute"`))
	require.Equal(t, plain, as[taintSpec](t, `{"key": "a", "value": "b", "effect": "NoExecute"}`))
	stamped := as[taintSpec](t, `{"key": "a", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}`)
	require.Equal(t, 2026, stamped.TimeAdded.Year())

	byType := conditions{{Type: "A", Status: "True"}, {Type: "B"}}
	require.Equal(t, byType, as[conditions](t, `{"B": "", "A": "True"}`))
	require.Equal(t, byType, as[conditions](t, `[{"type": "A", "status": "True"}, {"type": "B"}]`))
	require.Equal(t, []metav1.Condition{{Type: "A", Status: "True"}, {Type: "B"}}, byType.objects())

	require.Equal(t, shares{{Cluster: "m1", Replicas: 2}, {Cluster: "m2"}}, as[shares](t, `{"m2": 0, "m1": 2}`))
	require.Equal(t, shares{{Cluster: "m2", Replicas: -1}, {Cluster: "m1", Replicas: -1}}, as[shares](t, `["m2", "m1"]`))
	require.NotNil(t, as[shares](t, `{}`), "no cluster is something to expect")
	require.NotNil(t, as[tasks](t, `[]`), "no task is something to expect")
	require.Equal(t, tasks{expect.TaskFrom("m1"), {"reason": "R"}}, as[tasks](t, `["m1", {"reason": "R"}]`))

	require.Equal(t, clusterRef{reference{names: []string{"m1"}}}, as[clusterRef](t, `"m1"`))
	require.Equal(t, clusterRef{reference{names: []string{"m1", "eu-*"}}}, as[clusterRef](t, `["m1", "eu-*"]`))
	require.Equal(t, clusterRef{reference{by: &selector{Zone: "a"}}}, as[clusterRef](t, `{"zone": "a"}`))
}

func TestWrongJSONIsSaidInPlainWords(t *testing.T) {
	for text, want := range map[string]string{
		`{"min": "x"}`: `want a number in min, not string`,
		`{"min": 1.5}`: `want a number in min, not number 1.5`,
		`{"least": 1}`: `unknown field "least"`,
		`[1]`:          `want a mapping, not array`,
	} {
		type plain bounds
		require.EqualError(t, strictly([]byte(text), &plain{}), want)
	}
	require.EqualError(t, strictly([]byte(`{"a": 1}`), &map[string]string{}), "want a string, not number")
	require.EqualError(t, strictly([]byte(`{"a": 1}`), &[]string{}), "want a list, not object")
	require.EqualError(t, strictly([]byte(`{"toggle": 1}`), &struct {
		Toggle bool `json:"toggle"`
	}{}), "want true or false in toggle, not number")
}

func TestWhatNoValueCouldMatchIsFound(t *testing.T) {
	for text, want := range map[string]string{
		`{"task": {"fromCluster": "m1"}, "cluster": "m1"}`: "",
		`{"grounds": {"taint": {"key": "a"}}}`:             "",
		`{"grounds": {"deadline": {"any": 1}}}`:            "",
		`{"task": {"preservedLabelState": {"any": "x"}}}`:  "",
		`{"task": null}`:                             "",
		`{"task": ["x"]}`:                            "task is a mapping",
		`{"task": "x"}`:                              "task is a mapping",
		`{"grounds": {"reason": {}}}`:                "grounds reason is a single value",
		`{"task": {"clustersBeforeFailover": "m1"}}`: "task clustersBeforeFailover is a list",
		`{"grounds": {"taint": {"kee": "a"}}}`:       `grounds taint has no field "kee"; there are effect, key, timeAdded, value`,
		`{"kluster": "m1"}`:                          `has no field "kluster"; there are binding, cluster, grounds, task`,
	} {
		err := misfit(as[any](t, text), facts["EvictionStarted"])
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want)
	}
	err := misfit(as[any](t, `{"clusters": [{"name": "m1"}, {"nam": "m2"}]}`), facts["Scheduled"])
	require.EqualError(t, err, `clusters has no field "nam"; there are components, name, replicas`)
}
