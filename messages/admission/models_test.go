package admission_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages/admission"
	"leeward/messages/api"
)

func TestAClusterThatNamesNoGradesHasNine(t *testing.T) {
	s := karmada()
	s.CustomizedClusterResourceModeling = true
	c := &api.Cluster{}
	c.Name = "m1"
	admission.Default(c, s, now)
	require.Empty(t, admission.Validate(c, nil, s))
	begins := make([]string, 0, 18)
	for i, model := range c.Spec.ResourceModels {
		require.Equal(t, uint(i), model.Grade)
		for _, r := range model.Ranges {
			begins = append(begins, string(r.Name)+" "+r.Min.String())
		}
	}
	require.Equal(t, []string{
		"cpu 0", "memory 0", "cpu 1", "memory 4Gi", "cpu 2", "memory 16Gi", "cpu 4", "memory 32Gi", "cpu 8", "memory 64Gi",
		"cpu 16", "memory 128Gi", "cpu 32", "memory 256Gi", "cpu 64", "memory 512Gi", "cpu 128", "memory 1Ti",
	}, begins)
}

func TestGradesAreNotChanged(t *testing.T) {
	s := karmada()
	s.CustomizedClusterResourceModeling = true
	c := &api.Cluster{Spec: api.ClusterSpec{ResourceModels: []api.ResourceModel{{Grade: 7}}}}
	admission.Default(c, s, now)
	require.Equal(t, []api.ResourceModel{{Grade: 7}}, c.Spec.ResourceModels)

	s.CustomizedClusterResourceModeling = false
	c = &api.Cluster{}
	admission.Default(c, s, now)
	require.Empty(t, c.Spec.ResourceModels, "the gate is off")
}
