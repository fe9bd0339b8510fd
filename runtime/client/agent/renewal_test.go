package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"

	"leeward/runtime/client/clienttest"
)

func TestOfTwoReplicasOneHoldsALease(t *testing.T) {
	server := clienttest.New(t, nil)
	leases, err := clientOf(&rest.Config{Host: server.URL()}, coordinationv1.SchemeGroupVersion)
	require.NoError(t, err)
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	replica := func(identity string) *renewal {
		return &renewal{leases: leases, namespace: "system", name: "one", identity: identity, seconds: 15, takeover: 15 * time.Second}
	}
	a, b := replica("a"), replica("b")
	renew := func(h *renewal, after time.Duration) bool {
		t.Helper()
		held, err := h.renew(t.Context(), now.Add(after))
		require.NoError(t, err)
		return held
	}
	require.True(t, renew(a, 0), "it creates the Lease")
	require.False(t, renew(b, time.Second))
	require.True(t, renew(a, 10*time.Second))
	require.False(t, renew(b, 16*time.Second), "it was renewed meanwhile")
	require.True(t, renew(b, 31*time.Second), "and not since")
	_, err = a.renew(t.Context(), now.Add(32*time.Second))
	require.Error(t, err, "another wrote it")
	require.False(t, renew(a, 33*time.Second))
	a.release(t.Context())
	require.False(t, renew(a, 34*time.Second), "it gives up what it holds, and nothing else")
	b.release(t.Context())
	require.True(t, renew(a, 35*time.Second), "no one waits for one that was given up")
	l := server.Get("/apis/coordination.k8s.io/v1/namespaces/system/leases/one")
	require.Equal(t, "a", l.Object["spec"].(map[string]any)["holderIdentity"])
	require.EqualValues(t, 3, l.Object["spec"].(map[string]any)["leaseTransitions"])
}

func TestAnErrorIsNewsOnce(t *testing.T) {
	var n news
	for _, step := range []struct {
		err  error
		news bool
	}{{nil, false}, {errRefused, true}, {errRefused, false}, {errPending, true}, {nil, false}, {errPending, true}} {
		require.Equal(t, step.news, n.has(step.err), "%v", step.err)
	}
}
