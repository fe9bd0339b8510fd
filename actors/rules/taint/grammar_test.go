package taint_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name   string
		specs  []string
		add    []corev1.Taint
		remove []corev1.Taint
	}{
		{"key, value and effect", []string{"key1=value1:NoExecute"}, taints{{Key: "key1", Value: "value1", Effect: noExecute}}, nil},
		{"no value", []string{"failed:NoExecute"}, taints{{Key: "failed", Effect: noExecute}}, nil},
		{"an empty value", []string{"failed=:NoSchedule"}, taints{{Key: "failed", Effect: noSchedule}}, nil},
		{"a prefixed key", []string{"cluster.karmada.io/not-ready:NoExecute"}, taints{{Key: "cluster.karmada.io/not-ready", Effect: noExecute}}, nil},
		{"the soft effect is grammar", []string{"spot:PreferNoSchedule"}, taints{{Key: "spot", Effect: prefer}}, nil},
		{"one key, two effects", []string{"a:NoSchedule", "a:NoExecute"}, taints{{Key: "a", Effect: noSchedule}, {Key: "a", Effect: noExecute}}, nil},
		{"a removal", []string{"key1:NoExecute-"}, nil, taints{{Key: "key1", Effect: noExecute}}},
		{"a removal of every effect", []string{"key1-"}, nil, taints{{Key: "key1"}}},
		{"a removal ignores the value", []string{"key1=value1:NoExecute-"}, nil, taints{{Key: "key1", Effect: noExecute}}},
		{"seed 002: its third example is a removal", []string{"key2:NoExecute-"}, nil, taints{{Key: "key2", Effect: noExecute}}},
		{"several of each, in their order", []string{"a=1:NoSchedule", "b:NoExecute", "c=:NoSchedule-", "d-"},
			taints{{Key: "a", Value: "1", Effect: noSchedule}, {Key: "b", Effect: noExecute}}, taints{{Key: "c", Effect: noSchedule}, {Key: "d"}}},
		{"one effect comes, the other goes", []string{"a:NoSchedule", "a:NoExecute-"}, taints{{Key: "a", Effect: noSchedule}}, taints{{Key: "a", Effect: noExecute}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := taint.Parse(c.specs)
			require.NoError(t, err)
			require.Equal(t, taint.Changes{Add: c.add, Remove: c.remove}, got)
		})
	}
}

func TestParseRefusesAsKubectlDoes(t *testing.T) {
	for _, c := range []struct {
		name  string
		specs []string
		want  string // the whole error, or its beginning where it ends in "…"
	}{
		{"nothing", nil, "at least one taint update is required"},
		{"an empty spec", []string{""}, "invalid taint spec: …"},
		{"an unknown effect", []string{"k1=v1:Bogus"}, "invalid taint effect: Bogus, unsupported taint effect"},
		{"an unknown effect to remove", []string{"k1:Bogus-"}, "invalid taint effect: Bogus, unsupported taint effect"},
		{"an empty effect", []string{"k1:"}, "invalid taint effect: , unsupported taint effect"},
		{"no effect", []string{"k1"}, "invalid taint spec: k1"},
		{"a value without effect", []string{"k1=v1"}, "invalid taint spec: k1=v1…"},
		{"two effects", []string{"k1:NoSchedule:NoExecute"}, "invalid taint spec: k1:NoSchedule:NoExecute"},
		{"two values", []string{"k1=a=b:NoSchedule"}, "invalid taint spec: k1=a=b:NoSchedule…"},
		{"no key", []string{"=v:NoSchedule"}, "invalid taint spec: =v:NoSchedule…"},
		{"a lone minus", []string{"-"}, "invalid taint spec: …"},
		{"a key with a space", []string{"a b:NoSchedule"}, "invalid taint spec: a b:NoSchedule…"},
		{"a key beyond 63 without a prefix", []string{strings.Repeat("k", 64) + ":NoSchedule"}, "invalid taint spec: kk…"},
		{"a value beyond 63", []string{"k=" + strings.Repeat("v", 64) + ":NoSchedule"}, "invalid taint spec: k=vv…"},
		{"a value with a sign", []string{"k=50%:NoSchedule"}, "invalid taint spec: k=50%:NoSchedule…"},
		{"a value beyond ASCII", []string{"k=grün:NoSchedule"}, "invalid taint spec: k=grün:NoSchedule…"},
		{"a value with a backslash", []string{`k=a\b:NoSchedule`}, `invalid taint spec: k=a\b:NoSchedule…`},
		{"a value that begins with a dot", []string{"k=.v:NoSchedule"}, "invalid taint spec: k=.v:NoSchedule…"},
		{"a value that ends in a minus", []string{"k=v-:NoSchedule"}, "invalid taint spec: k=v-:NoSchedule…"},
		{"a negative number is no label value", []string{"k=-5:NoSchedule"}, "invalid taint spec: k=-5:NoSchedule…"},
		{"the same key and effect twice", []string{"k6=a:NoSchedule", "k6=b:NoSchedule"}, "duplicated taints with the same key and effect: {k6 b NoSchedule <nil>}"},
		{"added and removed", []string{"k6:NoSchedule", "k6-"}, "can not both modify and remove the following taint(s) in the same command: k6="},
		{"added and removed, two of them", []string{"a:NoExecute", "b:NoExecute", "a-", "c-", "b:NoExecute-"}, "can not both modify and remove the following taint(s) in the same command: a=, b=NoExecute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := taint.Parse(c.specs)
			require.Zero(t, got)
			if start, open := strings.CutSuffix(c.want, "…"); open {
				require.ErrorContains(t, err, start)
			} else {
				require.EqualError(t, err, c.want)
			}
		})
	}
}

func TestAppliedTaintsComeFirst(t *testing.T) {
	since := metav1.Now()
	has := taints{{Key: "a", Value: "1", Effect: "NoExecute", TimeAdded: &since}, {Key: "b", Effect: "NoSchedule"}, {Key: "b", Effect: "NoExecute"}, {Key: "c", Value: "1", Effect: "NoExecute", TimeAdded: &since}}
	c := taint.Changes{
		Add:    taints{{Key: "d", Effect: "NoSchedule"}, {Key: "c", Value: "2", Effect: "NoExecute"}, {Key: "a", Value: "1", Effect: "NoExecute"}},
		Remove: taints{{Key: "b", Effect: "NoExecute"}, {Key: "b"}, {Key: "b"}, {Key: "x"}},
	}
	after, missing := c.Apply(has)
	require.Equal(t, taints{c.Add[0], c.Add[1], has[0]}, after)
	require.Equal(t, taints{{Key: "b"}, {Key: "x"}}, missing)
	require.Nil(t, c.Add[2].TimeAdded, "what is asked for is not changed")
}

func TestStringIsTheGrammar(t *testing.T) {
	for want, tn := range map[string]corev1.Taint{
		"k=v:NoExecute": {Key: "k", Value: "v", Effect: noExecute},
		"k:NoSchedule":  {Key: "k", Effect: noSchedule},
		"k":             {Key: "k"},
	} {
		require.Equal(t, want, taint.String(&tn))
	}
}

// FuzzParse holds that whatever is accepted is written back as what it means.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"k=v:NoExecute", "k:NoSchedule-", "k-", "a.b/c=d:PreferNoSchedule", "k=:NoSchedule", "k::", "=-", "k=v-", "--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		c, err := taint.Parse([]string{spec})
		if err != nil {
			require.Zero(t, c)
			return
		}
		require.Equal(t, 1, len(c.Add)+len(c.Remove))
		var written string
		for i := range c.Add {
			written = taint.String(&c.Add[i])
		}
		for i := range c.Remove {
			written = taint.String(&c.Remove[i]) + "-"
		}
		again, err := taint.Parse([]string{written})
		require.NoError(t, err)
		require.Equal(t, c, again)
	})
}
