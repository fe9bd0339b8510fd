package simulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

// Objects are compared in memory and, where that tells them apart, in writing, which alone counts.
func TestEndingsDifferWhereTheirObjectsReadOtherwise(t *testing.T) {
	configMap := func(change func(*corev1.ConfigMap)) *replay.Run {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", ResourceVersion: "1"}, Data: map[string]string{"a": "1"}}
		change(m)
		return &replay.Run{Objects: []api.Object{m}}
	}
	first := configMap(func(*corev1.ConfigMap) {})
	for name, change := range map[string]func(*corev1.ConfigMap){
		"nothing":                   func(*corev1.ConfigMap) {},
		"when it was written":       func(m *corev1.ConfigMap) { m.ResourceVersion = "7" },
		"what is nowhere written":   func(m *corev1.ConfigMap) { m.Labels = map[string]string{} },
		"what reads as it did then": func(m *corev1.ConfigMap) { m.Finalizers = []string{} },
	} {
		other := configMap(change)
		was := other.Objects[0].GetResourceVersion()
		require.Empty(t, endings(first, other), name)
		require.Equal(t, was, other.Objects[0].GetResourceVersion(), "%s: to compare changes nothing", name)
	}
	require.Contains(t, endings(first, configMap(func(m *corev1.ConfigMap) { m.Data["a"] = "2" })), `"a":"2"`)
	require.Contains(t, endings(first, &replay.Run{}), "one less")
	require.Contains(t, endings(&replay.Run{}, first), "one more")
}

func TestFactsAreEqualWithInstantActorAndAllFields(t *testing.T) {
	at := time.Unix(0, 0).UTC()
	actor := messages.Address{Kind: messages.KindBinding, Name: "default/web"}
	fact := func() messages.Fact { return &messages.CopyStarted{Binding: "default/web", Cluster: "m1", Replicas: 2} }
	one := journal.Entry{Seq: 1, At: at, Actor: actor, Fact: fact()}
	require.True(t, equal(one, journal.Entry{Seq: 1, At: at, Actor: actor, Fact: fact()}))
	for name, other := range map[string]journal.Entry{
		"instant": {At: at.Add(1), Actor: actor, Fact: fact()},
		"actor":   {At: at, Fact: fact()},
		"field":   {At: at, Actor: actor, Fact: &messages.CopyStarted{Binding: "default/web", Cluster: "m1", Replicas: 3}},
		"fact":    {At: at, Actor: actor, Fact: &messages.Restarted{}},
	} {
		require.False(t, equal(one, other), name)
	}
}
