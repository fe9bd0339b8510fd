package taint_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
)

func TestIdentityIsKeyAndEffect(t *testing.T) {
	ts := read(t, "a=1:NoSchedule", "a=2:NoExecute", "b:NoSchedule")
	require.Equal(t, 1, taint.Find(ts, "a", noExecute))
	require.Equal(t, -1, taint.Find(ts, "b", noExecute))
	require.True(t, taint.Same(&ts[0], &corev1.Taint{Key: "a", Value: "other", Effect: noSchedule}))
	require.False(t, taint.Same(&ts[0], &ts[1]))
	require.False(t, taint.Same(&ts[0], &ts[2]))
}

func TestAdd(t *testing.T) {
	old, young := &metav1.Time{Time: now}, &metav1.Time{Time: now.Add(time.Hour)}
	before := taints{{Key: "a", Value: "1", Effect: noSchedule, TimeAdded: old}, {Key: "b", Effect: noExecute, TimeAdded: old}}
	for _, c := range []struct {
		name    string
		add     corev1.Taint
		at      int
		changed bool
	}{
		{"a new key goes to the end", corev1.Taint{Key: "c", Effect: noSchedule, TimeAdded: young}, 2, true},
		{"a new effect of a known key goes to the end", corev1.Taint{Key: "a", Value: "1", Effect: noExecute, TimeAdded: young}, 2, true},
		{"another value takes the place, and the new timeAdded", corev1.Taint{Key: "a", Value: "2", Effect: noSchedule, TimeAdded: young}, 0, true},
		{"the same value changes nothing, not even timeAdded", corev1.Taint{Key: "a", Value: "1", Effect: noSchedule, TimeAdded: young}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := slices.Clone(before)
			after, changed := taint.Add(before, c.add)
			require.Equal(t, c.changed, changed)
			require.Equal(t, held, before, "what came in is never written to")
			if changed {
				require.Equal(t, c.add, after[c.at])
			} else {
				require.Equal(t, before, after)
			}
		})
	}
}

func TestRemove(t *testing.T) {
	before := read(t, "a=1:NoSchedule", "a=2:NoExecute", "b:NoSchedule")
	for _, c := range []struct {
		name   string
		key    string
		effect corev1.TaintEffect
		want   []corev1.Taint
	}{
		{"one effect of a key, whatever its value", "a", noSchedule, before[1:]},
		{"every effect of a key", "a", "", before[2:]},
		{"an effect that is not there", "b", noExecute, before},
		{"a key that is not there", "c", "", before},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := slices.Clone(before)
			after, changed := taint.Remove(before, c.key, c.effect)
			require.Equal(t, c.want, after)
			require.Equal(t, len(c.want) < len(before), changed)
			require.Equal(t, held, before, "what came in is never written to")
		})
	}
}

func TestEditsOfNoTaints(t *testing.T) {
	one := corev1.Taint{Key: "a", Effect: noSchedule}
	after, changed := taint.Add(nil, one)
	require.Equal(t, taints{one}, after)
	require.True(t, changed)
	for _, effect := range []corev1.TaintEffect{noSchedule, ""} {
		after, changed = taint.Remove(nil, "a", effect)
		require.Empty(t, after)
		require.False(t, changed)
	}
}

func TestEditsNeverShareAnArrayWithSpareCapacity(t *testing.T) {
	roomy := make([]corev1.Taint, 1, 8)
	roomy[0] = corev1.Taint{Key: "a", Effect: noSchedule}
	one, _ := taint.Add(roomy, corev1.Taint{Key: "b", Effect: noSchedule})
	two, _ := taint.Add(roomy, corev1.Taint{Key: "c", Effect: noSchedule})
	require.Equal(t, "b", one[1].Key)
	require.Equal(t, "c", two[1].Key)
}
