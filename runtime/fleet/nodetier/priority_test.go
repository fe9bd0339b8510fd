package nodetier_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
)

func TestAPodHasThePriorityOfItsClass(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	w := world.New(world.Config{Settings: settings, Seed: 1, Nodes: true})
	defer w.Close()
	class := func(name string, value int32, global bool) *schedulingv1.PriorityClass {
		never := corev1.PreemptNever
		return &schedulingv1.PriorityClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: global, PreemptionPolicy: &never,
		}
	}
	pod := func(name, class string, own *int32) *corev1.Pod {
		p := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name}}
		p.Spec.PriorityClassName, p.Spec.Priority = class, own
		require.NoError(t, w.Apply(p))
		require.NoError(t, w.Settle(w.Now()))
		return w.Nodes().Pod(messages.NamePod("d", name))
	}
	require.Nil(t, pod("a", "", nil).Spec.Priority, "there is no default")
	require.Nil(t, pod("b", "high", nil).Spec.Priority, "there is no such class yet")
	require.NoError(t, w.Apply(class("high", 7, false)))
	require.NoError(t, w.Apply(class("usual", 5, true)))
	require.NoError(t, w.Apply(class("lower", 3, true)))
	high := pod("c", "high", nil)
	require.Equal(t, int32(7), *high.Spec.Priority)
	require.Equal(t, corev1.PreemptNever, *high.Spec.PreemptionPolicy)
	require.Equal(t, "lower", pod("d", "", nil).Spec.PriorityClassName)
	own := int32(9)
	require.Equal(t, own, *pod("e", "high", &own).Spec.Priority)
	require.Equal(t, int32(2_000_001_000), *pod("f", "system-node-critical", nil).Spec.Priority)
	require.True(t, w.Delete(api.KeyOf(class("high", 7, false))))
	require.False(t, w.Delete(api.KeyOf(class("high", 7, false))))
	require.Nil(t, pod("g", "high", nil).Spec.Priority)
}
