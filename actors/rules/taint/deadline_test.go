package taint_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

var now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)

// aged returns a NoExecute taint that was added that many seconds ago.
func aged(key string, seconds int) corev1.Taint {
	return corev1.Taint{Key: key, Effect: noExecute, TimeAdded: &metav1.Time{Time: now.Add(-time.Duration(seconds) * time.Second)}}
}

// exists returns a toleration of a key, "*" for any, for good or for some seconds.
func exists(key string, seconds ...int64) corev1.Toleration {
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists}
	if key == "*" {
		t.Key = ""
	}
	if len(seconds) > 0 {
		t.TolerationSeconds = &seconds[0]
	}
	return t
}

type (
	taints      = []corev1.Taint
	tolerations = []corev1.Toleration
)

// karmada are the vectors of the behaviour sheet, §19.2, executed on Karmada; want is its answer:
// the seconds left, evict for 0, forever for -1.
var karmada = []struct {
	name    string
	taints  taints
	tols    tolerations
	want    taint.Stay
	left    int
	minimum bool // the answer under MatchMinimum differs and is told in its own table
}{
	{name: "19.2/1 a(10), none: untolerated", taints: taints{aged("a", 10)}, want: taint.Untolerated},
	{name: "19.2/2 a(10), a 300: 290 s", taints: taints{aged("a", 10)}, tols: tolerations{exists("a", 300)}, want: taint.Until, left: 290},
	{name: "19.2/3 a(10), a 0: now", taints: taints{aged("a", 10)}, tols: tolerations{exists("a", 0)}, want: taint.Until, left: -10},
	{name: "19.2/3 a(0), a 0: now", taints: taints{aged("a", 0)}, tols: tolerations{exists("a", 0)}, want: taint.Until, left: 0},
	{name: "19.2/4 a(0), a -1: now", taints: taints{aged("a", 0)}, tols: tolerations{exists("a", -1)}, want: taint.Until, left: -1},
	{name: "19.2/5 a(-100), a -50: 50 s", taints: taints{aged("a", -100)}, tols: tolerations{exists("a", -50)}, want: taint.Until, left: 50},
	{name: "19.2/6 a(10), a: forever", taints: taints{aged("a", 10)}, tols: tolerations{exists("a")}, want: taint.Forever},
	{name: "19.2/7 a without timeAdded, a 5: forever", taints: taints{{Key: "a", Effect: noExecute}}, tols: tolerations{exists("a", 5)}, want: taint.Forever},
	{name: "19.2/8 a(10) b(20), a 300 b 100: 80 s", taints: taints{aged("a", 10), aged("b", 20)}, tols: tolerations{exists("a", 300), exists("b", 100)}, want: taint.Until, left: 80},
	{name: "19.2/9 a(10) b(20), a 300: untolerated", taints: taints{aged("a", 10), aged("b", 20)}, tols: tolerations{exists("a", 300)}, want: taint.Untolerated},
	{name: "19.2/10 a(10), a then a 60: forever", taints: taints{aged("a", 10)}, tols: tolerations{exists("a"), exists("a", 60)}, want: taint.Forever, minimum: true},
	{name: "19.2/11 a(10), a 60 then a: 50 s", taints: taints{aged("a", 10)}, tols: tolerations{exists("a", 60), exists("a")}, want: taint.Until, left: 50},
	{name: "19.2/12 a(50) b(5), a then * 60: 10 s, the cross product", taints: taints{aged("a", 50), aged("b", 5)}, tols: tolerations{exists("a"), exists("*", 60)}, want: taint.Until, left: 10},
	{name: "19.2/13 a=v, no operator and value v: forever", taints: taints{{Key: "a", Value: "v", Effect: noExecute}}, tols: tolerations{{Key: "a", Value: "v"}}, want: taint.Forever},
	{name: "19.2/13 a=v, no operator and no value: untolerated", taints: taints{{Key: "a", Value: "v", Effect: noExecute}}, tols: tolerations{{Key: "a"}}, want: taint.Untolerated},
	{name: "19.2/14 a=v, Exists with value x: forever", taints: taints{{Key: "a", Value: "v", Effect: noExecute}}, tols: tolerations{{Key: "a", Operator: "Exists", Value: "x"}}, want: taint.Forever},
	{name: "19.2/15 a without value, Equal without key: forever", taints: taints{{Key: "a", Effect: noExecute}}, tols: tolerations{{Operator: "Equal"}}, want: taint.Forever},
	{name: "19.2/16 a, Exists for NoSchedule: untolerated", taints: taints{aged("a", 0)}, tols: tolerations{{Key: "a", Operator: "Exists", Effect: noSchedule}}, want: taint.Untolerated},
	{name: "19.2/17 a, operator Bogus: untolerated", taints: taints{aged("a", 0)}, tols: tolerations{{Key: "a", Operator: "Bogus"}}, want: taint.Untolerated},
	{name: "19.2/17 a, operator Lt: untolerated", taints: taints{aged("a", 0)}, tols: tolerations{{Key: "a", Operator: "Lt"}}, want: taint.Untolerated},
	{name: "measured c03: 8 then 2 lasts 8 s", taints: taints{aged("a", 0)}, tols: tolerations{exists("a", 8), exists("a", 2)}, want: taint.Until, left: 8, minimum: true},
	{name: "measured c03: 2 then 8 lasts 2 s", taints: taints{aged("a", 0)}, tols: tolerations{exists("a", 2), exists("a", 8)}, want: taint.Until, left: 2},
	{name: "measured c04: f 9 and * 3, f alone lasts 9 s", taints: taints{aged("f", 0)}, tols: tolerations{exists("f", 9), exists("*", 3)}, want: taint.Until, left: 9, minimum: true},
	{name: "measured c04: f 9 and * 3, g comes 4 s later: f is 1 s over", taints: taints{aged("f", 4), aged("g", 0)}, tols: tolerations{exists("f", 9), exists("*", 3)}, want: taint.Until, left: -1},
	{name: "NoSchedule sets no deadline", taints: taints{{Key: "a", Effect: noSchedule, TimeAdded: &metav1.Time{Time: now}}}, want: taint.Forever},
	{name: "no taints", tols: tolerations{exists("*", 1)}, want: taint.Forever},
	{name: "a toleration that covers only NoSchedule does not count", taints: taints{{Key: "b", Effect: noSchedule}, aged("a", 0)}, tols: tolerations{exists("a"), exists("*", 5)}, want: taint.Forever, minimum: true},
}

func TestDeadlineOfTheFirstMatch(t *testing.T) {
	for _, c := range karmada {
		t.Run(c.name, func(t *testing.T) {
			v := taint.Deadline(c.taints, c.tols, taint.Rule{Match: messages.MatchFirst})
			require.Equal(t, c.want, v.Outcome)
			if c.want == taint.Until {
				require.Equal(t, time.Duration(c.left)*time.Second, v.At.Sub(now))
			}
		})
	}
}

func TestDeadlineOfTheMinimumAgreesWhereOrderDoesNotMatter(t *testing.T) {
	for _, c := range karmada {
		if c.minimum {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			v := taint.Deadline(c.taints, c.tols, taint.Rule{Match: messages.MatchMinimum})
			require.Equal(t, c.want, v.Outcome)
			if c.want == taint.Until {
				require.Equal(t, time.Duration(c.left)*time.Second, v.At.Sub(now))
			}
		})
	}
}

func TestDeadlineOfTheMinimum(t *testing.T) {
	for _, c := range []struct {
		name   string
		taints taints
		tols   tolerations
		left   int
		taint  int
		tol    int
	}{
		{"19.2/10 a(10), a then a 60: 50 s", taints{aged("a", 10)}, tolerations{exists("a"), exists("a", 60)}, 50, 0, 1},
		{"19.2/11 a(10), a 60 then a: 50 s", taints{aged("a", 10)}, tolerations{exists("a", 60), exists("a")}, 50, 0, 0},
		{"c03: 8 then 2 lasts 2 s", taints{aged("a", 0)}, tolerations{exists("a", 8), exists("a", 2)}, 2, 0, 1},
		{"c04: f 9 and * 3, f alone lasts 3 s", taints{aged("f", 0)}, tolerations{exists("f", 9), exists("*", 3)}, 3, 0, 1},
		{"a wildcard counts though it is first for no NoExecute taint", taints{{Key: "b", Effect: noSchedule}, aged("a", 0)}, tolerations{exists("a"), exists("*", 5)}, 5, 1, 1},
		{"two that are equally short: the first is named", taints{aged("a", 0)}, tolerations{exists("a", 7), exists("*", 7)}, 7, 0, 0},
		{"two taints equally old: the first is named", taints{aged("a", 0), aged("b", 0)}, tolerations{exists("*", 7)}, 7, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := taint.Deadline(c.taints, c.tols, taint.Rule{Match: messages.MatchMinimum})
			want := taint.Tolerance{Outcome: taint.Until, At: now.Add(time.Duration(c.left) * time.Second), Taint: c.taint, Toleration: c.tol}
			require.Equal(t, want, v)
		})
	}
}

func TestVerdictNamesThePairThatDecided(t *testing.T) {
	none := taint.Tolerance{Outcome: taint.Forever, Taint: -1, Toleration: -1}
	require.Equal(t, none, taint.Deadline(nil, nil, taint.Rule{}))
	require.Equal(t, none, taint.Deadline(taints{aged("a", 1)}, tolerations{exists("a")}, taint.Rule{}))
	require.Equal(t, taint.Tolerance{Outcome: taint.Untolerated, Taint: 1, Toleration: -1},
		taint.Deadline(taints{aged("a", 1), aged("b", 1)}, tolerations{exists("a", 3)}, taint.Rule{}))
	require.Equal(t, taint.Tolerance{Outcome: taint.Until, At: now.Add(10 * time.Second), Taint: 0, Toleration: 1},
		taint.Deadline(taints{aged("a", 50), aged("b", 5)}, tolerations{exists("a"), exists("*", 60)}, taint.Rule{}))
	require.Equal(t, "forever until untolerated", taint.Forever.String()+" "+taint.Until.String()+" "+taint.Untolerated.String())
}

func TestNumericTolerationsBoundTheDeadline(t *testing.T) {
	load := corev1.Taint{Key: "load", Value: "95", Effect: noExecute, TimeAdded: &metav1.Time{Time: now}}
	minute := int64(60)
	above := tolerations{{Key: "load", Operator: "Gt", Value: "90", TolerationSeconds: &minute}}
	v := taint.Deadline(taints{load}, above, taint.Rule{Numeric: true})
	require.Equal(t, taint.Until, v.Outcome)
	require.Equal(t, now.Add(time.Minute), v.At)
	require.Equal(t, taint.Untolerated, taint.Deadline(taints{load}, above, taint.Rule{}).Outcome)
}

func TestEnormousSecondsDoNotWrap(t *testing.T) {
	v := taint.Deadline(taints{aged("a", 0)}, tolerations{exists("a", math.MaxInt64)}, taint.Rule{})
	require.True(t, v.At.After(now.AddDate(290, 0, 0)), v.At)
	v = taint.Deadline(taints{aged("a", 0)}, tolerations{exists("a", math.MinInt64)}, taint.Rule{})
	require.True(t, v.At.Before(now.AddDate(-290, 0, 0)), v.At)
}

// TestDeadlineIsItsDefinition compares both modes with a plain reading of their definition on random
// lists, and checks that the order of tolerations never matters to the minimum.
func TestDeadlineIsItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		ts, tols := someTaints(r), someTolerations(r)
		for _, match := range []string{messages.MatchFirst, messages.MatchMinimum} {
			v := taint.Deadline(ts, tols, taint.Rule{Match: match})
			outcome, at := definition(ts, tols, match == messages.MatchMinimum)
			require.Equal(t, outcome, v.Outcome, "%v %v", ts, tols)
			require.True(t, at.Equal(v.At), "%v %v: %v, not %v", ts, tols, v.At, at)
		}
		before := taint.Deadline(ts, tols, taint.Rule{Match: messages.MatchMinimum})
		r.Shuffle(len(tols), func(i, j int) { tols[i], tols[j] = tols[j], tols[i] })
		after := taint.Deadline(ts, tols, taint.Rule{Match: messages.MatchMinimum})
		require.Equal(t, before.Outcome, after.Outcome)
		require.Equal(t, before.At, after.At)
	}
}

// definition collects the tolerations that count, then takes the earliest of all pairs.
func definition(ts taints, tols tolerations, all bool) (taint.Stay, time.Time) {
	counts := map[int]bool{}
	for i := range ts {
		matched := false
		for j := range tols {
			if ts[i].Effect == noExecute && taint.Tolerates(&tols[j], &ts[i], false) && (all || !matched) {
				counts[j], matched = true, true
			}
		}
		if ts[i].Effect == noExecute && !matched {
			return taint.Untolerated, time.Time{}
		}
	}
	outcome, earliest := taint.Forever, time.Time{}
	for i := range ts {
		for j := range tols {
			s := tols[j].TolerationSeconds
			if !counts[j] || s == nil || ts[i].TimeAdded == nil || ts[i].Effect != noExecute || !taint.Tolerates(&tols[j], &ts[i], false) {
				continue
			}
			at := ts[i].TimeAdded.Time.Add(time.Duration(*s) * time.Second)
			if outcome == taint.Forever || at.Before(earliest) {
				outcome, earliest = taint.Until, at
			}
		}
	}
	return outcome, earliest
}

func someTaints(r *rand.Rand) taints {
	var ts taints
	for _, key := range []string{"a", "b", "c"}[:r.IntN(4)] {
		tn := aged(key, r.IntN(100))
		tn.TimeAdded.Time = tn.TimeAdded.Add(time.Duration(r.IntN(4)) * 250 * time.Millisecond)
		if r.IntN(5) == 0 {
			tn.TimeAdded = nil
		}
		if r.IntN(5) == 0 {
			tn.Effect = noSchedule
		}
		ts = append(ts, tn)
	}
	return ts
}

func someTolerations(r *rand.Rand) tolerations {
	var tols tolerations
	for range r.IntN(5) {
		tol := exists([]string{"a", "b", "c", "*"}[r.IntN(4)])
		if r.IntN(3) > 0 {
			s := r.Int64N(120) - 10
			tol.TolerationSeconds = &s
		}
		if r.IntN(4) == 0 {
			tol.Effect = noSchedule
		}
		tols = append(tols, tol)
	}
	return tols
}

// fourByFour is the case that the hot path is measured on: the fourth toleration covers the fourth taint.
func fourByFour() (taints, tolerations) {
	var ts taints
	var tols tolerations
	for _, key := range []string{"cluster.karmada.io/not-ready", "cluster.karmada.io/unreachable", "zone-a-failed", "kube-components-unhealthy"} {
		ts = append(ts, aged(key, len(key)))
		tols = append(tols, exists(key, 300))
	}
	return ts, tols
}

func TestDeadlineAllocatesNothing(t *testing.T) {
	ts, tols := fourByFour()
	for _, match := range []string{messages.MatchFirst, messages.MatchMinimum} {
		require.Zero(t, testing.AllocsPerRun(100, func() { sink = taint.Deadline(ts, tols, taint.Rule{Match: match, Numeric: true}) }))
	}
	garbage := corev1.Taint{Key: "n", Value: "high", Effect: noExecute}
	above := corev1.Toleration{Key: "n", Operator: "Gt", Value: "99999999999999999999"}
	require.Zero(t, testing.AllocsPerRun(100, func() { taint.Tolerates(&above, &garbage, true) }))
}

var sink taint.Tolerance

func BenchmarkDeadline(b *testing.B) {
	ts, tols := fourByFour()
	for _, match := range []string{messages.MatchFirst, messages.MatchMinimum} {
		b.Run("match="+match+"/4x4", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink = taint.Deadline(ts, tols, taint.Rule{Match: match})
			}
		})
	}
	b.Run("baseline=k8s.io/4x4", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sink = plain(ts, tols)
		}
	})
}

// plain is the loop that k8s.io/api's matcher invites: collect what is used, then take the earliest.
func plain(ts taints, tols tolerations) taint.Tolerance {
	var used []*corev1.Toleration
	for i := range ts {
		for j := range tols {
			if tols[j].ToleratesTaint(klog.Logger{}, &ts[i], false) {
				used = append(used, &tols[j])
				break
			}
		}
	}
	v := taint.Tolerance{Outcome: taint.Forever}
	for _, tol := range used {
		for i := range ts {
			if tol.TolerationSeconds != nil && tol.ToleratesTaint(klog.Logger{}, &ts[i], false) {
				at := ts[i].TimeAdded.Add(time.Duration(*tol.TolerationSeconds) * time.Second)
				if v.Outcome == taint.Forever || at.Before(v.At) {
					v = taint.Tolerance{Outcome: taint.Until, At: at}
				}
			}
		}
	}
	return v
}
