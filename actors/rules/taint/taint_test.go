package taint_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"leeward/actors/rules/taint"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	prefer     = corev1.TaintEffectPreferNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
)

// read returns the taints that specs add, in kubectl's grammar.
func read(t *testing.T, specs ...string) []corev1.Taint {
	t.Helper()
	if len(specs) == 0 {
		return nil
	}
	c, err := taint.Parse(specs)
	require.NoError(t, err)
	require.Empty(t, c.Remove)
	return c.Add
}

func TestOneTolerationCoversOneTaint(t *testing.T) {
	for _, c := range []struct {
		name string
		tol  corev1.Toleration
		spec string
		want bool
	}{
		{"no operator means Equal", corev1.Toleration{Key: "a", Value: "v"}, "a=v:NoExecute", true},
		{"Equal, and the value is the same", corev1.Toleration{Key: "a", Operator: "Equal", Value: "v", Effect: noSchedule}, "a=v:NoSchedule", true},
		{"Equal asks for the same value", corev1.Toleration{Key: "a", Operator: "Equal"}, "a=v:NoExecute", false},
		{"Exists asks for no value", corev1.Toleration{Key: "a", Operator: "Exists"}, "a=v:NoExecute", true},
		{"Exists ignores a value of its own", corev1.Toleration{Key: "a", Operator: "Exists", Value: "x"}, "a=v:NoExecute", true},
		{"Exists without a key covers everything", corev1.Toleration{Operator: "Exists"}, "a=v:NoSchedule", true},
		{"Equal without a key compares values only", corev1.Toleration{Operator: "Equal"}, "a:NoExecute", true},
		{"another key", corev1.Toleration{Key: "b", Operator: "Exists"}, "a:NoExecute", false},
		{"another key of the same length and end", corev1.Toleration{Key: "example.com/ba", Operator: "Exists"}, "example.com/aa:NoExecute", false},
		{"a key that is the end of another", corev1.Toleration{Key: "a", Operator: "Exists"}, "example.com/a:NoExecute", false},
		{"another effect", corev1.Toleration{Key: "a", Operator: "Exists", Effect: noSchedule}, "a:NoExecute", false},
		{"the same effect", corev1.Toleration{Key: "a", Operator: "Exists", Effect: prefer}, "a:PreferNoSchedule", true},
		{"Exists for one effect covers every key of it", corev1.Toleration{Operator: "Exists", Effect: noExecute}, "a:NoExecute", true},
		{"an unknown operator", corev1.Toleration{Key: "a", Operator: "Bogus"}, "a:NoExecute", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, taint.Tolerates(&c.tol, &read(t, c.spec)[0], false))
		})
	}
}

func TestNumbersCompareOnlyWhereBothAreNumbers(t *testing.T) {
	for _, c := range []struct {
		name, taint, op, tol string
		want                 bool
	}{
		{"Gt: the taint is above", "950", "Gt", "900", true},
		{"Gt: the taint is below", "800", "Gt", "900", false},
		{"Gt: equal is not above", "900", "Gt", "900", false},
		{"Lt: the taint is below", "800", "Lt", "900", true},
		{"Lt: the taint is above", "950", "Lt", "900", false},
		{"Lt: equal is not below", "900", "Lt", "900", false},
		{"zero is a number", "0", "Gt", "-1", true},
		{"a toleration may be negative", "5", "Lt", "-5", false},
		{"minus zero is none", "5", "Gt", "-0", false},
		{"both may be negative", "-50", "Gt", "-100", true},
		{"leading zeros are none", "0899", "Lt", "900", false},
		{"nothing is none", "", "Lt", "900", false},
		{"nothing to compare with is none", "5", "Lt", "", false},
		{"a lone minus is none", "5", "Gt", "-", false},
		{"a plus is none", "5", "Gt", "+1", false},
		{"nor is a plus before the taint's", "+1", "Lt", "900", false},
		{"spaces are none", " 200 ", "Lt", "900", false},
		{"a decimal point is none", "1.5", "Lt", "900", false},
		{"a word is none", "high", "Gt", "1", false},
		{"a word to compare with is none", "5", "Gt", "low", false},
		{"the largest number", "9223372036854775807", "Gt", "9223372036854775806", true},
		{"one above the largest", "9223372036854775808", "Gt", "0", false},
		{"the smallest number of a taint", "-9223372036854775808", "Lt", "0", true},
		{"the smallest number", "0", "Gt", "-9223372036854775808", true},
		{"one below the smallest", "0", "Gt", "-9223372036854775809", false},
		{"far beyond", "99999999999999999999999", "Gt", "0", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tol := corev1.Toleration{Key: "n", Operator: corev1.TolerationOperator(c.op), Value: c.tol}
			tn := corev1.Taint{Key: "n", Value: c.taint, Effect: noExecute}
			require.Equal(t, c.want, taint.Tolerates(&tol, &tn, true))
			require.False(t, taint.Tolerates(&tol, &tn, false), "off, they cover nothing")
		})
	}
}

func TestTheFirstUntoleratedTaintIsNamed(t *testing.T) {
	soon := int64(1)
	for _, c := range []struct {
		name  string
		specs []string
		tols  []corev1.Toleration
		want  int
	}{
		{"no taints", nil, nil, -1},
		{"a toleration of nothing that is there", nil, []corev1.Toleration{{Key: "a", Operator: "Exists"}}, -1},
		{"no tolerations", []string{"a:NoSchedule"}, nil, 0},
		{"PreferNoSchedule repels nobody", []string{"a:PreferNoSchedule"}, nil, -1},
		{"the second is not tolerated", []string{"a:NoSchedule", "b:NoExecute"}, []corev1.Toleration{{Key: "a", Operator: "Exists"}}, 1},
		{"seconds do not matter", []string{"a:NoExecute"}, []corev1.Toleration{{Key: "a", Operator: "Exists", TolerationSeconds: &soon}}, -1},
		{"seed 001: two of three effects tolerated", []string{"key1=value1:NoSchedule", "key1=value1:NoExecute", "key2=value2:NoSchedule"},
			[]corev1.Toleration{{Key: "key1", Value: "value1", Effect: noSchedule}, {Key: "key1", Value: "value1", Effect: noExecute}}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, taint.FirstUntolerated(read(t, c.specs...), c.tols, false))
		})
	}
	above := []corev1.Toleration{{Key: "n", Operator: "Gt", Value: "1"}}
	require.Equal(t, 0, taint.FirstUntolerated(read(t, "n=5:NoSchedule"), above, false), "numbers are off unless asked for")
	require.Equal(t, 3, taint.FirstUntolerated(read(t, "n=5:NoSchedule", "n=2:NoExecute", "n=high:PreferNoSchedule", "m=0:NoSchedule"), above, true))
}

// FuzzToleratesAsKubernetesDoes holds the rule to the one of k8s.io/api.
func FuzzToleratesAsKubernetesDoes(f *testing.F) {
	for _, op := range []string{"", "Equal", "Exists", "Lt", "Gt", "Bogus"} {
		f.Add("a", op, "10", "", "a", "9", "NoExecute", true)
		f.Add("", op, "-10", "NoExecute", "a", "-0", "NoExecute", true)
		f.Add("a", op, "9223372036854775808", "NoSchedule", "a", "-9223372036854775808", "NoSchedule", true)
	}
	f.Fuzz(func(t *testing.T, key, op, value, effect, tKey, tValue, tEffect string, numeric bool) {
		tol := corev1.Toleration{Key: key, Operator: corev1.TolerationOperator(op), Value: value, Effect: corev1.TaintEffect(effect)}
		tn := corev1.Taint{Key: tKey, Value: tValue, Effect: corev1.TaintEffect(tEffect)}
		require.Equal(t, tol.ToleratesTaint(klog.Logger{}, &tn, numeric), taint.Tolerates(&tol, &tn, numeric),
			"%+v against %+v", tol, tn)
	})
}
