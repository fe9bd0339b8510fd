package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/policy"
	"leeward/messages/api"
)

func TestForsaken(t *testing.T) {
	k, other := api.PolicyTaint{Key: "k", Effect: noSchedule, Value: "v"}, api.PolicyTaint{Key: "k", Effect: noExecute}
	const moved, edited = "it no longer selects the cluster", "it no longer has the taint"
	for _, c := range []struct {
		name    string
		mode    api.CleanupMode
		selects bool
		taints  []api.PolicyTaint
		want    string
	}{
		{"a taint that the policy has", api.CleanupOnChange, true, []api.PolicyTaint{other, k}, ""},
		{"the value does not count", api.CleanupOnChange, true, []api.PolicyTaint{{Key: "k", Effect: noSchedule}}, ""},
		{"another effect is another taint", api.CleanupOnChange, true, []api.PolicyTaint{other}, edited},
		{"a cluster that is not selected", api.CleanupOnChange, false, []api.PolicyTaint{k}, moved},
		{"a deletion is no change", api.CleanupOnDelete, false, nil, ""},
		{"never", api.CleanupNever, false, nil, ""},
		{"nothing said", "", false, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			taint := since(now, "k", "", noSchedule)
			require.Equal(t, c.want, policy.Forsaken(c.mode, c.selects, c.taints, &taint))
		})
	}
}
