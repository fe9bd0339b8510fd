// Package affinity decides which clusters a ClusterAffinity selects: those that it does not exclude
// by name and that satisfy its label selector, its field selector and its list of names, as far as
// it has them. Source: the Karmada documents on resource propagation, "Deploy with cluster affinity".
package affinity

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/messages"
	"leeward/messages/api"
)

// Matches reports whether the affinity selects the cluster. Nil selects every cluster, an invalid
// affinity none. A caller that asks more than once compiles the affinity.
func Matches(a *api.ClusterAffinity, v *messages.ClusterView) bool {
	m, err := Compile(a)
	return err == nil && m.Matches(v)
}

// Matcher is an affinity made ready: matching neither allocates nor fails. The zero value selects
// every cluster.
type Matcher struct {
	exclude []string // sorted
	labels  labels.Selector
	fields  []field
	names   []string // sorted; empty: any name
}

// Compile returns the matcher of an affinity, or says what is wrong with its selectors. Nil selects
// every cluster.
func Compile(a *api.ClusterAffinity) (*Matcher, error) {
	m := &Matcher{}
	if a == nil {
		return m, nil
	}
	m.exclude = slices.Sorted(slices.Values(a.ExcludeClusters))
	m.names = slices.Sorted(slices.Values(a.ClusterNames))
	if a.LabelSelector != nil {
		var err error
		if m.labels, err = metav1.LabelSelectorAsSelector(a.LabelSelector); err != nil {
			return nil, fmt.Errorf("compile label selector: %w", err)
		}
	}
	if a.FieldSelector == nil {
		return m, nil
	}
	for i := range a.FieldSelector.MatchExpressions {
		f, err := compileField(&a.FieldSelector.MatchExpressions[i])
		if err != nil {
			return nil, fmt.Errorf("compile field selector: %w", err)
		}
		m.fields = append(m.fields, f)
	}
	return m, nil
}

// Matches reports whether the affinity selects the cluster.
func (m *Matcher) Matches(v *messages.ClusterView) bool {
	if contains(m.exclude, string(v.Name)) {
		return false
	}
	if m.labels != nil && !m.labels.Matches(labels.Set(v.Labels)) {
		return false
	}
	for i := range m.fields {
		if !m.fields[i].matches(v) {
			return false
		}
	}
	return len(m.names) == 0 || contains(m.names, string(v.Name))
}

// Explain says in a few words why the affinity does not select the cluster; "" if it does.
func (m *Matcher) Explain(v *messages.ClusterView) string {
	if contains(m.exclude, string(v.Name)) {
		return "excluded by name"
	}
	if m.labels != nil && !m.labels.Matches(labels.Set(v.Labels)) {
		return fmt.Sprintf("labels do not match %q", m.labels)
	}
	for i := range m.fields {
		if !m.fields[i].matches(v) {
			return m.fields[i].String() + " does not hold"
		}
	}
	if len(m.names) > 0 && !contains(m.names, string(v.Name)) {
		return "not among the names"
	}
	return ""
}

func contains(sorted []string, name string) bool {
	_, found := slices.BinarySearch(sorted, name)
	return found
}

// The fields that a field selector may name.
const (
	fieldProvider = "provider"
	fieldRegion   = "region"
	fieldZone     = "zone"
)

// field is one expression of a field selector.
type field struct {
	key      string
	operator corev1.NodeSelectorOperator
	values   []string
}

func compileField(r *corev1.NodeSelectorRequirement) (field, error) {
	f := field{key: r.Key, operator: r.Operator, values: r.Values}
	switch r.Key {
	case fieldProvider, fieldRegion, fieldZone:
	default:
		return f, fmt.Errorf("key %q: want provider, region or zone", r.Key)
	}
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(r.Values) == 0 {
			return f, fmt.Errorf("%s %s: no values", r.Key, r.Operator)
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			return f, fmt.Errorf("%s %s: takes no values", r.Key, r.Operator)
		}
	default:
		return f, fmt.Errorf("%s: operator %q: want In, NotIn, Exists or DoesNotExist", r.Key, r.Operator)
	}
	return f, nil
}

// matches treats a field that the cluster lacks as absent, as label selectors treat labels: NotIn
// holds for it, In does not. Of several zones one is enough for In, and too many for NotIn.
func (f *field) matches(v *messages.ClusterView) bool {
	present, listed := f.look(v)
	switch f.operator {
	case corev1.NodeSelectorOpIn:
		return listed
	case corev1.NodeSelectorOpNotIn:
		return !listed
	case corev1.NodeSelectorOpExists:
		return present
	default:
		return !present
	}
}

// look reports whether the cluster has the field, and whether a value of it is listed.
func (f *field) look(v *messages.ClusterView) (present, listed bool) {
	value := v.Provider
	switch f.key {
	case fieldZone:
		return len(v.Zones) > 0, slices.ContainsFunc(v.Zones, f.lists)
	case fieldRegion:
		value = v.Region
	}
	return value != "", value != "" && f.lists(value)
}

func (f *field) lists(value string) bool { return slices.Contains(f.values, value) }

// String returns the expression as people write it: "zone In (a, b)".
func (f *field) String() string {
	if len(f.values) == 0 {
		return fmt.Sprintf("%s %s", f.key, f.operator)
	}
	return fmt.Sprintf("%s %s (%s)", f.key, f.operator, strings.Join(f.values, ", "))
}
