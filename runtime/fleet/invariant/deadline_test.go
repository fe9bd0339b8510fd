package invariant

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// The invariant works deadlines out by itself. It agrees with the rule that machines go by, of whatever taints and tolerations.
func TestTheDeadlineOfTheInvariantIsThatOfTheRule(t *testing.T) {
	dice, start := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	seen := map[taint.Stay]int{}
	for range 20_000 {
		taints := make([]corev1.Taint, dice.IntN(4))
		for i := range taints {
			taints[i] = corev1.Taint{Key: []string{"a", "b", "c"}[dice.IntN(3)], Effect: []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule}[dice.IntN(5)/4]}
			if dice.IntN(8) > 0 {
				taints[i].TimeAdded = &metav1.Time{Time: start.Add(time.Duration(dice.IntN(600)) * time.Second)}
			}
		}
		tolerations := make([]corev1.Toleration, dice.IntN(5))
		for i := range tolerations {
			tolerations[i] = corev1.Toleration{Key: []string{"a", "b", "c", ""}[dice.IntN(4)], Operator: corev1.TolerationOpExists}
			if dice.IntN(3) > 0 {
				tolerations[i].TolerationSeconds = new(int64(dice.IntN(900) - 100))
			}
		}
		rule := taint.Rule{Match: []string{messages.MatchFirst, messages.MatchMinimum}[dice.IntN(2)]}
		at, leaves := deadline(taints, tolerations, rule)
		want := taint.Deadline(taints, tolerations, rule)
		seen[want.Outcome]++
		require.Equal(t, want.Outcome != taint.Forever, leaves, "%v %v", taints, tolerations)
		require.True(t, at.Equal(want.At), "%v, not %v: %v %v", at, want.At, taints, tolerations)
	}
	require.Len(t, seen, 3)
}
