package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/policy"
	"leeward/messages/api"
)

func TestPreviews(t *testing.T) {
	k := api.PolicyTaint{Key: "k", Effect: noExecute}
	earlier := now.Add(-time.Minute)
	mine, other := since(earlier, "k", "", noExecute), since(earlier, "other", "", noSchedule)
	would := policy.Preview{Add: []corev1.Taint{mine}}
	wouldNot := policy.Preview{Remove: []corev1.Taint{mine}}
	for _, c := range []struct {
		name   string
		before policy.Preview
		taints []corev1.Taint
		ruling policy.Ruling
		want   policy.Preview
		cause  string
	}{
		{"a taint that would come", policy.Preview{}, []corev1.Taint{other}, asks("add", "p", k),
			policy.Preview{Add: []corev1.Taint{since(now, "k", "", noExecute)}}, "p adds"},
		{"one that would have come keeps its time", would, []corev1.Taint{other}, asks("add", "p", k), would, ""},
		{"one that is there would not come", policy.Preview{}, []corev1.Taint{mine}, asks("add", "p", k), policy.Preview{}, ""},
		{"it stays until the policy would take it away", would, nil, policy.Ruling{}, would, ""},
		{"and then the preview is empty", would, nil, asks("remove", "p", k), policy.Preview{}, "p removes"},
		{"a taint that would go, whoever put it there", policy.Preview{}, []corev1.Taint{mine, other}, asks("remove", "p", k), wouldNot, "p removes"},
		{"one that would have gone would come back", wouldNot, []corev1.Taint{mine, other}, asks("add", "p", k), policy.Preview{}, "p adds"},
		{"somebody adds what the policy would have added", would, []corev1.Taint{mine}, policy.Ruling{}, policy.Preview{}, ""},
		{"somebody removes what the policy would have removed", wouldNot, []corev1.Taint{other}, policy.Ruling{}, policy.Preview{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, cause := c.before.Next(c.taints, nil, &c.ruling, now)
			require.Equal(t, c.want, got)
			require.Equal(t, c.want.Empty(), got.Empty())
			require.Equal(t, c.cause, cause)
		})
	}
	asked := asks("remove", "p", k)
	barred := []corev1.Taint{mine}
	spares, cause := policy.Preview{}.Next(barred, barred, &asked, now)
	require.Equal(t, policy.Preview{Spared: barred}, spares, "what is barred would stay")
	require.Equal(t, "p removes", cause)
	require.False(t, spares.Empty())
	kept, _ := spares.Next([]corev1.Taint{mine, other}, []corev1.Taint{other, mine}, &policy.Ruling{}, now)
	require.Equal(t, spares, kept, "until the policy rules otherwise")
	gone, _ := spares.Next([]corev1.Taint{other}, []corev1.Taint{other}, &policy.Ruling{}, now)
	require.True(t, gone.Empty(), "or somebody takes it away")
	ruled, _ := spares.Next(barred, barred, &policy.Ruling{Policy: "p"}, now)
	require.True(t, ruled.Empty(), "it asks for nothing any more")
	require.Equal(t, []corev1.Taint{other, mine}, would.Imagine([]corev1.Taint{other}))
	require.Equal(t, []corev1.Taint{other}, wouldNot.Imagine([]corev1.Taint{mine, other}))
}
