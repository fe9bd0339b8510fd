package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func TestABindingThatAPolicyMakesHasAUID(t *testing.T) {
	uid := func(seed uint64, b messages.BindingName) string {
		s := store.New(seed)
		s.Apply(start, &messages.BindingCreated{Binding: b, Spec: &api.BindingSpec{}, UID: "of-the-workload"})
		o := s.Get(store.BindingKey(b))
		require.Equal(t, s.Get(store.BindingKey(b)).GetUID(), o.GetUID())
		return string(o.GetUID())
	}
	require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", uid(1, "default/web"))
	require.Equal(t, uid(1, "default/web"), uid(1, "default/web"))
	require.NotEqual(t, uid(1, "default/web"), uid(2, "default/web"))
	require.NotEqual(t, uid(1, "default/web"), uid(1, "default/shop"))
	require.NotEmpty(t, uid(1, "cluster-wide"))
}
