package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func TestBudgetsShowHowTheyStand(t *testing.T) {
	f := newFleet(t)
	own := &api.EvictionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "gold"},
	}
	wide := &api.ClusterEvictionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget"},
		ObjectMeta: metav1.ObjectMeta{Name: "gold"},
	}
	f.Put(wide)
	f.Put(own)
	stored := api.EvictionBudgetStatus{ExpectedReplicas: 3, Moved: []api.BudgetMove{{Replicas: 1}}}
	before := f.Get(store.BudgetKey("gold"))
	for _, name := range []messages.BudgetName{"gold", "shop/gold", "shop/gone"} {
		f.apply(&messages.BudgetChanged{Budget: name, Status: stored})
	}
	require.Equal(t, stored, f.Get(store.BudgetKey("gold")).(*api.ClusterEvictionBudget).Status)
	require.Equal(t, stored, f.Get(store.BudgetKey("shop/gold")).(*api.EvictionBudget).Status)
	require.Zero(t, before.(*api.ClusterEvictionBudget).Status.ExpectedReplicas, "a snapshot stays as it is")
	require.Nil(t, f.Get(store.BudgetKey("shop/gone")))
	require.Equal(t, []messages.Budget{
		{Name: "gold", Spec: &wide.Spec, Moved: stored.Moved}, {Name: "shop/gold", Spec: &own.Spec, Moved: stored.Moved},
	}, f.Budgets())
}
