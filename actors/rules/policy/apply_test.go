package policy_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/policy"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
)

var (
	now = time.Date(2026, 8, 21, 12, 0, 0, 0, time.UTC)
	t0  = now.Add(-time.Hour)
)

// since returns a taint that was added at an instant.
func since(at time.Time, key, value string, effect corev1.TaintEffect) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: &metav1.Time{Time: at}}
}

// asks returns a ruling: "add", "remove" or "both".
func asks(what, name string, about ...api.PolicyTaint) policy.Ruling {
	r := policy.Ruling{Policy: messages.PolicyName(name), Taints: about}
	if what != "remove" {
		r.Add, r.AddCause = true, name+" adds"
	}
	if what != "add" {
		r.Remove, r.RemoveCause = true, name+" removes"
	}
	return r
}

func TestApply(t *testing.T) {
	k := api.PolicyTaint{Key: "k", Effect: noSchedule}
	old := since(t0, "k", "old", noSchedule)
	other := since(t0, "other", "", noSchedule)
	came := since(now, "k", "", noSchedule)
	revalued := since(t0, "k", "", noSchedule)
	for _, c := range []struct {
		name    string
		before  []corev1.Taint
		rulings []policy.Ruling
		after   []corev1.Taint
		changes []policy.TaintChange
	}{
		{"nobody asks", []corev1.Taint{old}, []policy.Ruling{{Policy: "p", Taints: []api.PolicyTaint{k}}}, []corev1.Taint{old}, nil},
		{"19.1 add {k,new,NoSchedule} and {k,NoExecute} onto {k,old,NoSchedule}: the first stays as it is, the second comes now",
			[]corev1.Taint{old},
			[]policy.Ruling{asks("add", "p", api.PolicyTaint{Key: "k", Value: "new", Effect: noSchedule}, api.PolicyTaint{Key: "k", Effect: noExecute})},
			[]corev1.Taint{old, since(now, "k", "", noExecute)},
			[]policy.TaintChange{{Taint: since(now, "k", "", noExecute), Added: true, Policy: "p", Cause: "p adds"}}},
		{"19.1 remove {k,other,NoSchedule} takes {k,old,NoSchedule}",
			[]corev1.Taint{old, other},
			[]policy.Ruling{asks("remove", "p", api.PolicyTaint{Key: "k", Value: "other", Effect: noSchedule})},
			[]corev1.Taint{other},
			[]policy.TaintChange{{Taint: old, Policy: "p", Cause: "p removes"}}},
		{"a value comes with its taint", nil,
			[]policy.Ruling{asks("add", "p", api.PolicyTaint{Key: "k", Value: "v", Effect: noSchedule})},
			[]corev1.Taint{since(now, "k", "v", noSchedule)},
			[]policy.TaintChange{{Taint: since(now, "k", "v", noSchedule), Added: true, Policy: "p", Cause: "p adds"}}},
		{"measured a03: both at once, absent before: nothing was ever there", []corev1.Taint{other},
			[]policy.Ruling{asks("both", "p", k)}, []corev1.Taint{other}, nil},
		{"measured a03: both at once, present before: it goes", []corev1.Taint{old, other},
			[]policy.Ruling{asks("both", "p", k)}, []corev1.Taint{other},
			[]policy.TaintChange{{Taint: old, Policy: "p", Cause: "p removes"}}},
		{"measured a06: an adder, then a younger remover: none", nil,
			[]policy.Ruling{asks("add", "adder", k), asks("remove", "remover", k)}, nil, nil},
		{"measured a07: a remover, then a younger adder: tainted", nil,
			[]policy.Ruling{asks("remove", "remover", k), asks("add", "adder", k)},
			[]corev1.Taint{came}, []policy.TaintChange{{Taint: came, Added: true, Policy: "adder", Cause: "adder adds"}}},
		{"a remover, then a younger adder of what is there with another value: that counts, and the time stays", []corev1.Taint{old, other},
			[]policy.Ruling{asks("remove", "remover", k), asks("add", "adder", k)}, []corev1.Taint{other, revalued},
			[]policy.TaintChange{{Taint: old, Policy: "remover", Cause: "remover removes"}, {Taint: revalued, Added: true, Policy: "adder", Cause: "adder adds"}}},
		{"a remover, then a younger adder of what is there with the same value: it is the same", []corev1.Taint{revalued, other},
			[]policy.Ruling{asks("remove", "remover", k), asks("add", "adder", k)}, []corev1.Taint{revalued, other}, nil},
		{"two adders: the older one is named", nil,
			[]policy.Ruling{asks("add", "older", k), asks("add", "younger", k)},
			[]corev1.Taint{came}, []policy.TaintChange{{Taint: came, Added: true, Policy: "older", Cause: "older adds"}}},
		{"two removers: the older one is named", []corev1.Taint{old},
			[]policy.Ruling{asks("remove", "older", k), asks("remove", "younger", k)},
			nil, []policy.TaintChange{{Taint: old, Policy: "older", Cause: "older removes"}}},
		{"added, removed and added again: the last adder is named, and comes last", nil,
			[]policy.Ruling{asks("add", "one", k), asks("remove", "two", k), asks("add", "three", api.PolicyTaint{Key: "z", Effect: noSchedule}, k)},
			[]corev1.Taint{since(now, "z", "", noSchedule), came},
			[]policy.TaintChange{{Taint: since(now, "z", "", noSchedule), Added: true, Policy: "three", Cause: "three adds"},
				{Taint: came, Added: true, Policy: "three", Cause: "three adds"}}},
		{"what goes is told before what comes", []corev1.Taint{old, other},
			[]policy.Ruling{asks("add", "a", api.PolicyTaint{Key: "z", Effect: noExecute}), asks("remove", "b", k)},
			[]corev1.Taint{other, since(now, "z", "", noExecute)},
			[]policy.TaintChange{{Taint: old, Policy: "b", Cause: "b removes"},
				{Taint: since(now, "z", "", noExecute), Added: true, Policy: "a", Cause: "a adds"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			held := slices.Clone(c.before)
			after, changes, spared := policy.Apply(c.before, nil, c.rulings, now)
			require.Equal(t, c.after, after)
			require.Equal(t, c.changes, changes)
			require.Empty(t, spared)
			require.Equal(t, held, c.before, "what came in is never written to")
		})
	}
}

func TestWhatIsBarredIsSpared(t *testing.T) {
	k, l := api.PolicyTaint{Key: "k", Effect: noSchedule}, api.PolicyTaint{Key: "l", Effect: noSchedule}
	theirs, ours := since(t0, "k", "theirs", noSchedule), since(t0, "l", "", noSchedule)
	both := []corev1.Taint{theirs, ours}
	spared := policy.TaintChange{Taint: theirs, Policy: "p", Cause: "p removes"}
	for _, c := range []struct {
		name    string
		rulings []policy.Ruling
		after   []corev1.Taint
		spared  []policy.TaintChange
	}{
		{"a taint that is barred stays, one that is not goes", []policy.Ruling{asks("remove", "p", k, l)}, []corev1.Taint{theirs}, []policy.TaintChange{spared}},
		{"it stays for a policy that adds and removes it, too", []policy.Ruling{asks("both", "p", k)}, both, []policy.TaintChange{spared}},
		{"of two removers the older one is named", []policy.Ruling{asks("remove", "p", k), asks("remove", "q", k)}, both, []policy.TaintChange{spared}},
		{"who is overruled is not named", []policy.Ruling{asks("remove", "p", k), asks("add", "q", k)}, both, nil},
		{"another effect of the key is another taint", []policy.Ruling{asks("remove", "p", api.PolicyTaint{Key: "k", Effect: noExecute})}, both, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, _, spared := policy.Apply(both, []corev1.Taint{theirs}, c.rulings, now)
			require.Equal(t, c.after, after)
			require.Equal(t, c.spared, spared)
		})
	}
}

// TestApplyHolds checks random rulings: the presence of each taint is that of carrying them out one by
// one, changes are the whole difference, what stays is untouched, and a second time changes nothing.
func TestApplyHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		before, rulings := someTaints(r), someRulings(r)
		after, changes, _ := policy.Apply(before, nil, rulings, now)
		require.ElementsMatch(t, oneByOne(before, rulings), pairs(after))

		again := slices.Clone(before)
		for _, c := range changes {
			if c.Added {
				require.Equal(t, -1, taint.Find(again, c.Taint.Key, c.Taint.Effect), "what is there is removed first")
				again = append(again, c.Taint)
				continue
			}
			require.Contains(t, before, c.Taint)
			again, _ = taint.Remove(again, c.Taint.Key, c.Taint.Effect)
		}
		require.ElementsMatch(t, again, after)

		settled, more, _ := policy.Apply(after, nil, rulings, now.Add(time.Second))
		require.Empty(t, more)
		require.Equal(t, after, settled)
	}
}

// oneByOne carries rulings out step by step and returns the pairs that remain.
func oneByOne(before []corev1.Taint, rulings []policy.Ruling) []string {
	left := pairs(before)
	for _, r := range rulings {
		for _, t := range r.Taints {
			if p := t.Key + ":" + string(t.Effect); r.Add && !slices.Contains(left, p) {
				left = append(left, p)
			}
		}
		for _, t := range r.Taints {
			if i := slices.Index(left, t.Key+":"+string(t.Effect)); r.Remove && i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	return left
}

func pairs(ts []corev1.Taint) []string {
	var ps []string
	for _, t := range ts {
		ps = append(ps, t.Key+":"+string(t.Effect))
	}
	return ps
}

func someTaints(r *rand.Rand) []corev1.Taint {
	var ts []corev1.Taint
	for _, key := range []string{"a", "b", "c"} {
		if r.IntN(2) == 0 {
			ts = append(ts, since(t0, key, "old", noSchedule))
		}
	}
	return ts
}

func someRulings(r *rand.Rand) []policy.Ruling {
	var rs []policy.Ruling
	for range r.IntN(4) {
		var about []api.PolicyTaint
		for _, key := range []string{"a", "b", "c"}[r.IntN(3):] {
			about = append(about, api.PolicyTaint{Key: key, Effect: []corev1.TaintEffect{noSchedule, noExecute}[r.IntN(2)]})
		}
		rs = append(rs, asks([]string{"add", "remove", "both"}[r.IntN(3)], "p", about...))
	}
	return rs
}
