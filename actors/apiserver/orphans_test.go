package apiserver_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors"
	"leeward/actors/apiserver"
	"leeward/messages"
)

// Pods that are bound to a node which does not exist belong to it as soon as it does: its kubelet hears of them.
func TestPodsFindTheirNodeWhenItComes(t *testing.T) {
	s, now := apiserver.New(apiserver.Rules{}), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	told := func(requests ...messages.ToAPIServer) (pods []messages.PodName) {
		out := &actors.Outbox{}
		for _, m := range append(requests, &messages.Woken{}) {
			s.Receive(now, m, out)
		}
		for _, mail := range out.Mail() {
			if m, is := mail.Message.(*messages.KubeletPod); is {
				require.Equal(t, "n1", mail.To.Name)
				pods = append(pods, m.Pod)
			}
		}
		return pods
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "early"}, Spec: corev1.PodSpec{NodeName: "n1"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	early := []messages.PodName{"default/early"}
	require.Empty(t, told(&messages.PutPod{Object: pod}))
	require.Equal(t, early, s.PodsOn("n1"))
	require.Equal(t, early, told(&messages.PutNode{Object: node}))
	require.Equal(t, early, s.PodsOn("n1"))
	require.Empty(t, told(&messages.DeleteNode{Node: "n1"}))
	require.Equal(t, early, s.PodsOn("n1"), "a node takes no pods with it")
	require.Equal(t, early, told(&messages.PutNode{Object: node}), "nor does it lose them when it comes back")
	grace := int64(0)
	told(&messages.DeleteNode{Node: "n1"})
	told(&messages.DeletePod{Pod: "default/early", GracePeriodSeconds: &grace})
	require.Empty(t, s.PodsOn("n1"))
	require.Empty(t, told(&messages.PutNode{Object: node}))
}
