package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const twoClusters = `# a fleet
apiVersion: v1
kind: List
items:
- apiVersion: cluster.karmada.io/v1alpha1
  kind: Cluster
  metadata:
    name: one
- apiVersion: cluster.karmada.io/v1alpha1
  kind: Cluster
  metadata:
    name: two
    labels:
      example.org/tier: gold
  spec:
    taints:
    - key: a
      effect: NoSchedule
    - key: b
      effect:
        NoExecute
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: &meta {name: three}
spec:
  region: *meta
`

func TestLinesOfFields(t *testing.T) {
	documents, problems := Decode("f.yaml", []byte(twoClusters))
	require.EqualError(t, problems, "f.yaml:25: Cluster three: spec.region: want a string, not a mapping")
	one, two := documents[0], documents[1]
	for path, want := range map[string]int{
		"":                                  9,
		"metadata":                          11,
		"metadata.labels":                   13,
		"metadata.labels[example.org/tier]": 14,
		"metadata.labels[other]":            13,
		"spec.taints":                       16,
		"spec.taints[0]":                    17,
		"spec.taints[1].effect":             21,
		"spec.taints[1].value":              19,
		"spec.taints[7].key":                16,
		"spec.taints[x]":                    16,
		"status.conditions[0].type":         9,
	} {
		require.Equal(t, want, two.Line(path), path)
	}
	require.Equal(t, 8, one.Line("metadata.name"))
}

func TestFindingsOfValidationHaveALine(t *testing.T) {
	documents, _ := Decode("f.yaml", []byte(twoClusters))
	taint := field.NewPath("spec", "taints").Index(1)
	problems := documents[1].Invalid(field.ErrorList{
		field.NotSupported(taint.Child("effect"), "NoExecute", []string{"NoSchedule"}),
		field.Required(field.NewPath("spec", "syncMode"), "is what it is"),
	})
	require.EqualError(t, problems, `f.yaml:21: Cluster two: items[1].spec.taints[1].effect: Unsupported value: "NoExecute": supported values: "NoSchedule"
f.yaml:15: Cluster two: items[1].spec.syncMode: Required value: is what it is`)
}
