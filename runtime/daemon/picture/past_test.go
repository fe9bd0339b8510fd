package picture

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// replayed is what one has who heard all of the past.
func (h *held) replayed() (all shown, at []time.Time) {
	h.t.Helper()
	for _, m := range h.Past() {
		all.hear(h.t, encode(&m))
		at = append(at, m.At)
	}
	return all, at
}

func TestThePastIsRememberedThoughNoOneLooks(t *testing.T) {
	h := hold(t)
	h.session.fleet = nil
	put(t, h.store, catalog.Clusters, clusterOf("m1", metav1.ConditionTrue))
	h.later(settles - time.Second)
	require.Empty(t, h.Past(), "a daemon that starts reads what is more urgent")
	h.later(time.Second)
	put(t, h.store, catalog.Clusters, clusterOf("m1", metav1.ConditionFalse))
	put(t, h.store, catalog.Bindings, evicting(bindingOf("web", "m1"), "m1", api.EvictionBlocked, time.Minute))
	h.later(beat)
	require.Len(t, h.Past(), 1, "in steps of ten seconds")
	h.later(looksEvery)
	h.later(looksEvery)
	past := h.Past()
	require.Len(t, past, 2, "and only where something has changed")
	require.Equal(t, Format, past[0].Format)
	require.Contains(t, string(past[0].Clusters["m1"]), `"ready":"True"`)
	require.Empty(t, past[1].Format)
	require.Contains(t, string(past[1].Clusters["m1"]), `"ready":"False"`)
	require.Contains(t, string(past[1].Totals), `"blocked":1`)
	require.Nil(t, past[1].Evictions, "an eviction tells itself when it began")
}

func TestThePastGoesBackAnHour(t *testing.T) {
	h := hold(t)
	for i := range 500 {
		put(t, h.store, catalog.Clusters, clusterOf("m1", []metav1.ConditionStatus{"True", "False"}[i%2]))
		h.later(looksEvery)
	}
	all, at := h.replayed()
	require.Len(t, at, 1+int(remembers/looksEvery))
	require.Equal(t, remembers, h.clock.Now().Sub(at[0]))
	require.Contains(t, string(all.Clusters["m1"]), `"ready":"False"`)
	for range 500 {
		h.later(looksEvery)
	}
	past := h.Past()
	require.Len(t, past, 1, "nothing has changed since")
	require.Equal(t, remembers, h.clock.Now().Sub(past[0].At))
}

// TestThePastOfALargeFleetIsToldInLargerStepsTheOlderItIs has all rows of a large fleet change in each step, and some come and go.
func TestThePastOfALargeFleetIsToldInLargerStepsTheOlderItIs(t *testing.T) {
	h := hold(t)
	var now *frame
	for i := range int(remembers / looksEvery) {
		now = &frame{totals: encode(i), governor: encode(i / 100), clusters: map[string]json.RawMessage{}}
		for n := range 100 {
			if n%10 != i%10 {
				now.clusters[fmt.Sprint("m", n)] = encode(strings.Repeat("x", 200) + fmt.Sprint(i))
			}
		}
		h.clock.Add(looksEvery)
		h.past.note(now, h.clock.Now().UTC())
		require.LessOrEqual(t, h.past.bytes, mostPast)
	}
	require.LessOrEqual(t, len(encode(h.Past())), mostPast)
	all, at := h.replayed()
	require.Equal(t, asTexts(now.clusters), asTexts(all.Clusters), "all of it together is the present")
	require.JSONEq(t, string(now.totals), string(all.Totals))
	require.JSONEq(t, string(now.governor), string(all.Governor))
	var steps []time.Duration
	for i, next := range at[1:] {
		steps = append(steps, next.Sub(at[i]))
	}
	require.Equal(t, looksEvery, steps[len(steps)-1])
	require.Greater(t, slices.Max(steps[:len(steps)/2]), 4*looksEvery)
	require.Less(t, slices.Max(steps), remembers/4)
}

func asTexts(rows map[string]json.RawMessage) map[string]string {
	texts := map[string]string{}
	for key, row := range rows {
		texts[key] = string(row)
	}
	return texts
}
