package binding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

func TestAWorkloadsLabelsSayToWhichGroupsItBelongs(t *testing.T) {
	policy := duplicated()
	policy.Placement.WorkloadAffinity = &api.WorkloadAffinity{
		Affinity: &api.WorkloadAffinityTerm{GroupByLabelKey: "app"}, AntiAffinity: &api.WorkloadAffinityTerm{GroupByLabelKey: "rival"},
	}
	b := drive(t, settings())
	applied := workload(2)
	b.tell(applied, claim("default/p", policy))
	require.Nil(t, b.asked.Groups, "no label, no group")

	for _, test := range []struct {
		labels map[string]string
		want   *api.WorkloadAffinityGroups
	}{
		{map[string]string{"app": "shop"}, &api.WorkloadAffinityGroups{AffinityGroup: "app=shop"}},
		{map[string]string{"rival": "x", "other": "y"}, &api.WorkloadAffinityGroups{AntiAffinityGroup: "rival=x"}},
		{map[string]string{"app": ""}, nil},
	} {
		w := *applied.Workload
		w.Labels = test.labels
		next := *applied
		next.Workload = &w
		b.tell(&next)
		require.Equal(t, test.want, b.asked.Groups)
	}
}
