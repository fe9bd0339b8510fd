package picture

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

func TestWorkloadsAreFoundWhateverTheirState(t *testing.T) {
	e := open(t, 0)
	calm := bindingOf("web-calm", "m1", "m2")
	calm.Labels = map[string]string{"tier": "Gold"}
	put(t, e, catalog.Bindings, calm)
	put(t, e, catalog.Bindings, evicting(bindingOf("web-evicted", "m1"), "m1", api.EvictionBlocked, time.Minute))
	lost := bindingOf("db", "m1")
	lost.Status.Conditions = []metav1.Condition{{Type: api.ConditionScheduled, Status: metav1.ConditionFalse}}
	put(t, e, catalog.Bindings, lost)
	put(t, e, catalog.ClusterBindings, &api.ClusterResourceBinding{ObjectMeta: metav1.ObjectMeta{Name: "web-of-all"}, Spec: calm.Spec, Status: calm.Status})
	h := New(e, clock.New())
	names := func(query string) (all []string) {
		found, err := h.Search(t.Context(), query)
		require.NoError(t, err)
		require.Len(t, found.Workloads, found.All)
		for _, w := range found.Workloads {
			all = append(all, w.Name+" "+w.State)
		}
		return all
	}
	require.Equal(t, []string{"db unschedulable", "web-evicted blocked", "web-calm settled", "web-of-all settled"}, names(""), "the worst first")
	require.Equal(t, []string{"web-evicted blocked", "web-calm settled"}, names("SHOP/ web"))
	require.Equal(t, []string{"web-calm settled"}, names("tier=gold"))
	require.Empty(t, names("web tier=silver"))
	found, err := h.Search(t.Context(), "calm")
	require.NoError(t, err)
	require.Equal(t, Workload{Namespace: "shop", Name: "web-calm", State: "settled", ClusterCount: 2, Clusters: []Target{{"m1", 2, 2}, {"m2", 2, 2}}}, found.Workloads[0])
}

func TestASearchHasABound(t *testing.T) {
	e := open(t, 0)
	var clusters []string
	for i := range 3 * mostTargets {
		clusters = append(clusters, fmt.Sprint(strings.Repeat("m", 2*mostLetters), i))
	}
	for i := range 2100 {
		b := bindingOf(fmt.Sprint("web-", i))
		if i%40 == 0 {
			b = bindingOf(b.Name, clusters...)
		}
		put(t, e, catalog.Bindings, b)
	}
	h := New(e, clock.New())
	found, err := h.Search(t.Context(), "web")
	require.NoError(t, err)
	require.Equal(t, 2100, found.All, "what is not named is counted")
	require.Len(t, found.Workloads, MostFound)
	require.Less(t, len(encode(found)), 1<<20)
	_, err = h.Search(t.Context(), strings.Repeat("w", mostAsked+1))
	require.EqualError(t, err, "q: it has 201 bytes, and may have 200")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Search(ended, "web")
	require.ErrorIs(t, err, context.Canceled)
}
