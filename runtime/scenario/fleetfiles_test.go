package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

const (
	oneCluster  = "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: a}}\n"
	oneScenario = "{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {fleet: [{name: 'm{1..3}', startup: 5s}]}}\n"
)

func TestAFleetIsReadFromManifestsOrFromAScenario(t *testing.T) {
	source := files{"a.yaml": oneCluster, "b.yaml": "---\n" + oneScenario}.source()
	fleet, problems := source.Fleet([]string{"a.yaml"})
	require.Empty(t, problems)
	require.Len(t, fleet.Objects, 1)
	require.NotEmpty(t, fleet.Objects[0].Object.(*api.Cluster).Status.Conditions, "it starts Ready")
	fleet, problems = source.Fleet([]string{"b.yaml"})
	require.Empty(t, problems)
	require.Len(t, fleet.Objects, 3)
	require.Len(t, fleet.Members, 3)
}

func TestWhatIsNoFleet(t *testing.T) {
	source := files{
		"a.yaml": oneCluster, "b.yaml": oneScenario, "bad.yaml": "{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: a}, spec: {regio: eu}}", "empty.yaml": "# nothing\n",
		"worse.yaml": "{kind: Scenario, apiVersion: leeward.dev/v1alpha1, spec: {fleet: [{name: x, color: red}]}}",
	}.source()
	for want, names := range map[string][]string{
		"b.yaml: holds a Scenario, which can only be named alone": {"a.yaml", "b.yaml"},
		"c.yaml: open c.yaml: no such file":                       {"c.yaml"},
		"d.yaml: open d.yaml: no such file":                       {"a.yaml", "d.yaml"},
		"empty.yaml: holds no manifest":                           {"empty.yaml"},
		"bad.yaml:1":                                              {"bad.yaml", "a.yaml"},
		"worse.yaml:1":                                            {"worse.yaml"},
	} {
		_, problems := source.Fleet(names)
		require.NotEmpty(t, problems, want)
		require.ErrorContains(t, problems[0], want)
	}
}
