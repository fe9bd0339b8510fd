package taint_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// tolerating returns a toleration of a key with NoExecute; seconds may be omitted.
func tolerating(key string, seconds ...int64) corev1.Toleration {
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	if len(seconds) > 0 {
		t.TolerationSeconds = &seconds[0]
	}
	return t
}

func executing(keys ...string) []corev1.Taint {
	taints := make([]corev1.Taint, len(keys))
	for i, k := range keys {
		taints[i] = corev1.Taint{Key: k, Effect: corev1.TaintEffectNoExecute}
	}
	return taints
}

func TestAllowance(t *testing.T) {
	forever := taint.Allowance{Outcome: taint.Forever, Taint: -1, Toleration: -1}
	until := func(seconds int64, tn, tol int) taint.Allowance {
		return taint.Allowance{Outcome: taint.Until, Seconds: seconds, Taint: tn, Toleration: tol}
	}
	for name, c := range map[string]struct {
		taints         []corev1.Taint
		tolerations    []corev1.Toleration
		first, minimum taint.Allowance
	}{
		"no taint, no countdown": {nil, []corev1.Toleration{tolerating("a", 1)}, forever, forever},
		"taints that only keep new pods away": {
			[]corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "b", Effect: corev1.TaintEffectPreferNoSchedule}}, nil, forever, forever,
		},
		"nothing tolerates the taint": {
			executing("a"), nil,
			taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1}, taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1},
		},
		"the first untolerated taint of the node is named": {
			executing("a", "b", "c"), []corev1.Toleration{tolerating("a", 0)},
			taint.Allowance{Outcome: taint.Untolerated, Taint: 1, Toleration: -1}, taint.Allowance{Outcome: taint.Untolerated, Taint: 1, Toleration: -1},
		},
		"a toleration of another effect does not count": {
			executing("a"), []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1}, taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1},
		},
		"tolerated forever":           {executing("a"), []corev1.Toleration{tolerating("a")}, forever, forever},
		"tolerated for a minute":      {executing("a"), []corev1.Toleration{tolerating("a", 60)}, until(60, 0, 0), until(60, 0, 0)},
		"zero seconds":                {executing("a"), []corev1.Toleration{tolerating("a", 0)}, until(0, 0, 0), until(0, 0, 0)},
		"negative seconds are zero":   {executing("a"), []corev1.Toleration{tolerating("a", -5)}, until(0, 0, 0), until(0, 0, 0)},
		"forever contributes nothing": {executing("a", "b"), []corev1.Toleration{tolerating("a"), tolerating("b", 60)}, until(60, 1, 1), until(60, 1, 1)},
		"the least of two taints":     {executing("a", "b"), []corev1.Toleration{tolerating("a", 6), tolerating("b", 1)}, until(1, 1, 1), until(1, 1, 1)},
		"equal seconds: the taint first on the node": {
			executing("a", "b"), []corev1.Toleration{tolerating("b", 6), tolerating("a", 6)}, until(6, 0, 1), until(6, 0, 1),
		},
		"everything forever first, then this taint for 2 s": {
			executing("t1"), []corev1.Toleration{tolerating(""), tolerating("t1", 2)}, forever, until(2, 0, 1),
		},
		"this taint for 2 s first, then everything forever": {
			executing("t1"), []corev1.Toleration{tolerating("t1", 2), tolerating("")}, until(2, 0, 0), until(2, 0, 0),
		},
		"the same toleration twice with other seconds": {
			executing("a"), []corev1.Toleration{tolerating("a", 9), tolerating("a", 3)}, until(9, 0, 0), until(3, 0, 1),
		},
		"timeAdded does not matter": {
			[]corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: time.Unix(0, 0)}}},
			[]corev1.Toleration{tolerating("a", 3)}, until(3, 0, 0), until(3, 0, 0),
		},
		"another value is not tolerated": {
			[]corev1.Taint{{Key: "a", Value: "x", Effect: corev1.TaintEffectNoExecute}},
			[]corev1.Toleration{{Key: "a", Value: "y", Effect: corev1.TaintEffectNoExecute}},
			taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1}, taint.Allowance{Outcome: taint.Untolerated, Taint: 0, Toleration: -1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.first, taint.AllowanceOf(c.taints, c.tolerations, taint.Rule{Match: messages.MatchFirst}), "first match")
			require.Equal(t, c.minimum, taint.AllowanceOf(c.taints, c.tolerations, taint.Rule{Match: messages.MatchMinimum}), "shortest match")
		})
	}
}

func TestNumericTolerationsOfAPodNeedTheirGate(t *testing.T) {
	seconds := int64(30)
	slow := []corev1.Taint{{Key: "sla", Value: "950", Effect: corev1.TaintEffectNoExecute}}
	above := []corev1.Toleration{{Key: "sla", Operator: corev1.TolerationOpGt, Value: "900", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}}
	require.Equal(t, taint.Untolerated, taint.AllowanceOf(slow, above, taint.Rule{}).Outcome)
	require.Equal(t, taint.Allowance{Outcome: taint.Until, Seconds: 30}, taint.AllowanceOf(slow, above, taint.Rule{Numeric: true}))
	slow[0].Value = "800"
	require.Equal(t, taint.Untolerated, taint.AllowanceOf(slow, above, taint.Rule{Numeric: true}).Outcome)
}

func TestACountdownEndsItsSecondsAfterItsBegin(t *testing.T) {
	begun := time.Unix(1000, 5).UTC()
	require.Equal(t, begun.Add(time.Minute), taint.Allowance{Outcome: taint.Until, Seconds: 60}.After(begun))
	require.True(t, taint.Allowance{Outcome: taint.Until, Seconds: math.MaxInt64}.After(begun).After(begun), "it does not wrap")
}

func TestOnlyOtherNoExecuteTaintsAreAChange(t *testing.T) {
	at := func(seconds int64) *metav1.Time { return &metav1.Time{Time: time.Unix(seconds, 0)} }
	a, b := executing("a", "b"), executing("a", "b")
	require.True(t, taint.SameNoExecute(nil, nil, true))
	require.True(t, taint.SameNoExecute(a, append(b[:1:1], corev1.Taint{Key: "x", Effect: corev1.TaintEffectNoSchedule}, b[1]), true))
	require.False(t, taint.SameNoExecute(a, b[:1], true))
	require.False(t, taint.SameNoExecute(nil, b, true))
	b[1].Value = "v"
	require.False(t, taint.SameNoExecute(a, b, false), "another value is another set")
	b[1].Value, b[0].TimeAdded = "", at(1)
	require.True(t, taint.SameNoExecute(a, b, false))
	require.False(t, taint.SameNoExecute(a, b, true))
	a[0].TimeAdded = at(1)
	require.True(t, taint.SameNoExecute(a, b, true))
}

// FuzzAllowanceAsKubernetesDoes holds the verdict to what k8s.io's own primitives say of the same lists.
func FuzzAllowanceAsKubernetesDoes(f *testing.F) {
	f.Add([]byte{0x10, 0x21, 0x32}, []byte{0x01, 0x12, 0x23, 0x44}, true)
	f.Add([]byte{0x00, 0x55, 0xaa}, []byte{0xff, 0x80, 0x0f, 0xf0, 0x37, 0x91}, false)
	f.Fuzz(func(t *testing.T, some, others []byte, numeric bool) {
		taints, tolerations := drawTaints(some), drawTolerations(others)
		untolerated, bad := helpers.FindMatchingUntoleratedTaint(klog.Logger{}, taints, tolerations,
			func(t *corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute }, numeric)
		for _, match := range []string{messages.MatchFirst, messages.MatchMinimum} {
			a := taint.AllowanceOf(taints, tolerations, taint.Rule{Match: match, Numeric: numeric})
			require.Equal(t, bad, a.Outcome == taint.Untolerated)
			if bad {
				require.Equal(t, untolerated, taints[a.Taint])
				continue
			}
			want, timed := leastSeconds(taints, tolerations, numeric, match == messages.MatchFirst)
			require.Equal(t, timed, a.Outcome == taint.Until)
			require.Equal(t, want, a.Seconds)
			if timed {
				require.True(t, tolerations[a.Toleration].ToleratesTaint(klog.Logger{}, &taints[a.Taint], numeric))
				require.Equal(t, want, max(*tolerations[a.Toleration].TolerationSeconds, 0))
			}
		}
	})
}

// leastSeconds is the rule once more, by Kubernetes' matcher and without a thought for speed.
func leastSeconds(taints []corev1.Taint, tolerations []corev1.Toleration, numeric, first bool) (least int64, timed bool) {
	for i := range taints {
		if taints[i].Effect != corev1.TaintEffectNoExecute {
			continue
		}
		for _, tol := range tolerations {
			if !tol.ToleratesTaint(klog.Logger{}, &taints[i], numeric) {
				continue
			}
			if s := tol.TolerationSeconds; s != nil && (!timed || max(*s, 0) < least) {
				least, timed = max(*s, 0), true
			}
			if first {
				break
			}
		}
	}
	return least, timed
}

var (
	drawnKeys    = []string{"a", "b", "", "c"}
	drawnValues  = []string{"", "5", "-3", "x"}
	drawnEffects = []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, "", corev1.TaintEffectPreferNoSchedule}
)

func drawTaints(from []byte) (taints []corev1.Taint) {
	for _, b := range from {
		taints = append(taints, corev1.Taint{Key: drawnKeys[b&3], Value: drawnValues[b>>2&3], Effect: drawnEffects[b>>4&3]})
	}
	return taints
}

func drawTolerations(from []byte) (tolerations []corev1.Toleration) {
	operators := []corev1.TolerationOperator{"", "Exists", "Lt", "Gt"}
	for i := 0; i+1 < len(from); i += 2 {
		b, c := from[i], from[i+1]
		t := corev1.Toleration{Key: drawnKeys[b&3], Value: drawnValues[b>>2&3], Effect: drawnEffects[b>>4&3], Operator: operators[b>>6]}
		if c > 0 {
			seconds := int64(c) - 20
			t.TolerationSeconds = &seconds
		}
		tolerations = append(tolerations, t)
	}
	return tolerations
}
