package observed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/observed"
)

var (
	failed = corev1.Taint{Key: "failed", Effect: corev1.TaintEffectNoExecute}
	spot   = corev1.Taint{Key: "spot", Effect: corev1.TaintEffectNoSchedule}
)

func valued(t corev1.Taint, value string) corev1.Taint {
	t.Value = value
	return t
}

func dated(t corev1.Taint) corev1.Taint {
	t.TimeAdded = &metav1.Time{Time: time.Unix(1, 0)}
	return t
}

func having(taints []corev1.Taint) *api.Cluster {
	return &api.Cluster{Spec: api.ClusterSpec{Taints: taints}}
}

func TestAnEditSaysWhoSetTheTaint(t *testing.T) {
	alice := api.TaintCause{Key: "failed", Effect: "NoExecute", By: api.TaintCauseUser, User: "alice", At: metav1.Unix(9, 0)}
	now := having([]corev1.Taint{failed, spot})
	now.Status.TaintCauses = []api.TaintCause{alice, {Key: "spot", Effect: "NoSchedule", By: "policy", Policy: "p"}}
	require.Equal(t, []messages.TaintEdit{{Taint: failed, Cause: alice}, {Taint: spot}}, observed.TaintEdits(having(nil), now))
}

func TestOneListOfTaintsIsMadeOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		before, now []corev1.Taint
		want        []messages.TaintEdit
	}{
		"nothing changed":             {[]corev1.Taint{spot}, []corev1.Taint{spot}, nil},
		"one came and one went":       {[]corev1.Taint{spot}, []corev1.Taint{failed}, []messages.TaintEdit{{Taint: spot, Remove: true}, {Taint: failed}}},
		"one has another value":       {[]corev1.Taint{spot}, []corev1.Taint{valued(spot, "yes")}, []messages.TaintEdit{{Taint: valued(spot, "yes")}}},
		"one has another time":        {[]corev1.Taint{failed}, []corev1.Taint{dated(failed)}, []messages.TaintEdit{{Taint: dated(failed)}}},
		"another effect is another":   {[]corev1.Taint{{Key: "spot", Effect: "NoExecute"}}, []corev1.Taint{spot}, []messages.TaintEdit{{Taint: corev1.Taint{Key: "spot", Effect: "NoExecute"}, Remove: true}, {Taint: spot}}},
		"their order is of no matter": {[]corev1.Taint{spot, failed}, []corev1.Taint{failed, spot}, nil},
	} {
		require.Equal(t, c.want, observed.TaintEdits(having(c.before), having(c.now)), name)
	}
}

func TestConditionsAreToldThatAreNewOrOtherOrGone(t *testing.T) {
	before := &api.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True"}, {Type: "Disk", Status: "True"}, {Type: "Old", Status: "True"}}}
	now := &api.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "False", Reason: "Lost", Message: "no route"}, {Type: "Disk", Status: "True"}}}
	require.Equal(t, []*messages.ConditionReported{
		{Type: "Ready", Status: "False", Reason: "Lost", Message: "no route"}, {Type: "Old"},
	}, observed.Conditions(before, now))
}

func TestADrainIsReadFromTheAnnotation(t *testing.T) {
	at := time.Date(2026, 1, 31, 18, 0, 0, 0, time.UTC)
	for value, want := range map[string]messages.ToCluster{
		"":                     &messages.DrainRequested{},
		"2026-01-31T18:00:00Z": &messages.DrainRequested{Deadline: at},
	} {
		c := &api.Cluster{}
		c.Annotations = map[string]string{api.AnnotationDrain: value}
		require.Equal(t, want, observed.DrainOf(c).Message(), value)
	}
	require.Equal(t, &messages.DrainCancelled{}, observed.DrainOf(&api.Cluster{}).Message())
}
