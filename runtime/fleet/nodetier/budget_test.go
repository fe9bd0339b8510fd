package nodetier_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/nodetier"
	"leeward/runtime/fleet/world"
)

func TestATierHoldsSoManyBudgetsAndNoMore(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
	defer w.Close()
	budget := func(i int) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{
			TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: fmt.Sprintf("b%d", i)},
		}
	}
	for i := range nodetier.MostBudgets {
		require.NoError(t, w.Nodes().Apply(budget(i)))
	}
	require.NoError(t, w.Settle(w.Now()))
	require.Len(t, w.Nodes().Budgets(), nodetier.MostBudgets)
	require.ErrorContains(t, w.Apply(budget(nodetier.MostBudgets)), "metadata.name: Forbidden: there are 10000 PodDisruptionBudgets already")
	require.NoError(t, w.Apply(budget(0)), "one that is there may be edited")

	require.True(t, w.Delete(api.KeyOf(budget(0))))
	require.NoError(t, w.Apply(budget(nodetier.MostBudgets)), "there is room again")
	require.NoError(t, w.Settle(w.Now()))
	require.Len(t, w.Nodes().Budgets(), nodetier.MostBudgets)
}
