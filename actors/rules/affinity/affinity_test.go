package affinity_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/affinity"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	frankfurt = &messages.ClusterView{
		Name: "frankfurt", Provider: "p1", Region: "eu", Zones: []string{"a", "b"},
		Labels: map[string]string{"tier": "gold", "rank": "7"},
	}
	bare = &messages.ClusterView{Name: "bare"}
)

func fields(expressions ...corev1.NodeSelectorRequirement) *api.ClusterAffinity {
	return &api.ClusterAffinity{FieldSelector: &api.FieldSelector{MatchExpressions: expressions}}
}

func expression(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func TestMatches(t *testing.T) {
	const (
		in     = corev1.NodeSelectorOpIn
		notIn  = corev1.NodeSelectorOpNotIn
		exists = corev1.NodeSelectorOpExists
		absent = corev1.NodeSelectorOpDoesNotExist
	)
	tests := []struct {
		name     string
		affinity *api.ClusterAffinity
		cluster  *messages.ClusterView
		want     string // the explanation; "" matches
	}{
		{"nothing asked selects every cluster", nil, bare, ""},
		{"an empty affinity selects every cluster", &api.ClusterAffinity{}, bare, ""},
		{"an empty label selector selects every cluster", &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{}}, bare, ""},
		{"an empty field selector selects every cluster", fields(), bare, ""},
		{"a listed name is selected", &api.ClusterAffinity{ClusterNames: []string{"z", "frankfurt", "a"}}, frankfurt, ""},
		{"an unlisted name is not", &api.ClusterAffinity{ClusterNames: []string{"z", "a"}}, frankfurt, "not among the names"},
		{
			"exclusion beats the list of names",
			&api.ClusterAffinity{ClusterNames: []string{"frankfurt"}, ExcludeClusters: []string{"x", "frankfurt"}},
			frankfurt, "excluded by name",
		},
		{"labels match", &api.ClusterAffinity{LabelSelector: labelled("tier", "gold")}, frankfurt, ""},
		{"a label differs", &api.ClusterAffinity{LabelSelector: labelled("tier", "iron")}, frankfurt, `labels do not match "tier=iron"`},
		{"a label is missing", &api.ClusterAffinity{LabelSelector: labelled("tier", "gold")}, bare, `labels do not match "tier=gold"`},
		{
			"names and labels must both match",
			&api.ClusterAffinity{ClusterNames: []string{"frankfurt"}, LabelSelector: labelled("tier", "iron")},
			frankfurt, `labels do not match "tier=iron"`,
		},

		{"the region is listed", fields(expression("region", in, "us", "eu")), frankfurt, ""},
		{"the region is not listed", fields(expression("region", in, "us")), frankfurt, "region In (us) does not hold"},
		{"a cluster without a region is in none", fields(expression("region", in, "eu", "")), bare, "region In (eu, ) does not hold"},
		{"a cluster without a region is outside all", fields(expression("region", notIn, "eu")), bare, ""},
		{"the region is forbidden", fields(expression("region", notIn, "eu")), frankfurt, "region NotIn (eu) does not hold"},
		{"the provider is listed", fields(expression("provider", in, "p1")), frankfurt, ""},
		{"a provider is asked for", fields(expression("provider", exists)), bare, "provider Exists does not hold"},
		{"no provider is asked for", fields(expression("provider", absent)), bare, ""},

		{"one of several zones is enough", fields(expression("zone", in, "b", "c")), frankfurt, ""},
		{"no zone is listed", fields(expression("zone", in, "c")), frankfurt, "zone In (c) does not hold"},
		{"a cluster without zones is in none", fields(expression("zone", in, "a")), bare, "zone In (a) does not hold"},
		{"one forbidden zone is too many", fields(expression("zone", notIn, "b", "c")), frankfurt, "zone NotIn (b, c) does not hold"},
		{"no zone is forbidden", fields(expression("zone", notIn, "c")), frankfurt, ""},
		{"a cluster without zones is outside all", fields(expression("zone", notIn, "a")), bare, ""},
		{"zones exist", fields(expression("zone", exists)), frankfurt, ""},
		{"a cluster without zones has none", fields(expression("zone", exists)), bare, "zone Exists does not hold"},
		{"no zones are asked for", fields(expression("zone", absent)), bare, ""},
		{"zones must not exist", fields(expression("zone", absent)), frankfurt, "zone DoesNotExist does not hold"},
		{
			"every expression must hold",
			fields(expression("zone", in, "a"), expression("region", in, "us")),
			frankfurt, "region In (us) does not hold",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want == "", affinity.Matches(test.affinity, test.cluster))
			m, err := affinity.Compile(test.affinity)
			require.NoError(t, err)
			require.Equal(t, test.want == "", m.Matches(test.cluster))
			require.Equal(t, test.want, m.Explain(test.cluster))
		})
	}
}

func TestInvalidAffinitiesAreRefusedAndMatchNothing(t *testing.T) {
	tests := []struct {
		name     string
		affinity *api.ClusterAffinity
		want     string
	}{
		{
			"label operator unknown",
			&api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Near"}},
			}},
			`compile label selector: "Near" is not a valid label selector operator`,
		},
		{"field unknown", fields(expression("country", "In", "de")), `compile field selector: key "country": want provider, region or zone`},
		{"field operator unknown", fields(expression("zone", "Gt", "1")), `compile field selector: zone: operator "Gt": want In, NotIn, Exists or DoesNotExist`},
		{"In without values", fields(expression("zone", "In")), "compile field selector: zone In: no values"},
		{"Exists with values", fields(expression("region", "Exists", "eu")), "compile field selector: region Exists: takes no values"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := affinity.Compile(test.affinity)
			require.EqualError(t, err, test.want)
			require.False(t, affinity.Matches(test.affinity, frankfurt))
		})
	}
}

func TestMatchingDoesNotAllocate(t *testing.T) {
	m, err := affinity.Compile(everything())
	require.NoError(t, err)
	require.True(t, m.Matches(frankfurt))
	require.Zero(t, testing.AllocsPerRun(100, func() { m.Matches(frankfurt) }))
}

func TestACompiledAffinityDoesNotSeeLaterChangesOfItsNames(t *testing.T) {
	a := &api.ClusterAffinity{ClusterNames: []string{"z", "frankfurt"}}
	m, err := affinity.Compile(a)
	require.NoError(t, err)
	require.Equal(t, []string{"z", "frankfurt"}, a.ClusterNames, "the order of the affinity's own list is left alone")
	a.ClusterNames[1] = "elsewhere"
	require.True(t, m.Matches(frankfurt))
}

func everything() *api.ClusterAffinity {
	a := fields(expression("zone", "In", "b"), expression("region", "NotIn", "us"), expression("provider", "Exists"))
	a.LabelSelector = labelled("tier", "gold")
	a.ExcludeClusters = []string{"paris"}
	a.ClusterNames = []string{"frankfurt", "berlin"}
	return a
}

func FuzzExplainAgreesWithMatches(f *testing.F) {
	f.Add("tier", "gold", "zone", "In", "a", "frankfurt")
	f.Add("", "", "region", "NotIn", "eu", "")
	f.Add("rank", "7", "provider", "Exists", "", "bare")
	f.Fuzz(func(t *testing.T, label, value, key, operator, operand, name string) {
		a := fields(expression(key, corev1.NodeSelectorOperator(operator), operand))
		a.LabelSelector = labelled(label, value)
		a.ClusterNames, a.ExcludeClusters = []string{name}, []string{operand}
		m, err := affinity.Compile(a)
		for _, v := range []*messages.ClusterView{frankfurt, bare} {
			if err != nil {
				require.False(t, affinity.Matches(a, v))
				continue
			}
			require.Equal(t, m.Matches(v), m.Explain(v) == "", "%s", m.Explain(v))
		}
	})
}

func BenchmarkMatches(b *testing.B) {
	m, err := affinity.Compile(everything())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		m.Matches(frankfurt)
	}
}

func ExampleMatcher_Explain() {
	m, _ := affinity.Compile(&api.ClusterAffinity{ClusterNames: []string{"paris"}})
	fmt.Println(m.Explain(frankfurt))
	// Output: not among the names
}
