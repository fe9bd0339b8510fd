package kubeapi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/storage"
)

func TestTheLongestWordThatIsSelectedByIsLookedFor(t *testing.T) {
	cases := map[string]struct{ field, label, word string }{
		"nothing is selected":              {},
		"a field":                          {field: "metadata.name=web", word: "web"},
		"the longest of some":              {field: "involvedObject.kind=Cluster,involvedObject.uid=3f-9b-1c", label: "app=web", word: "3f-9b-1c"},
		"a label":                          {label: "tier==gold", word: "gold"},
		"one value of a set":               {label: "tier in (gold)", word: "gold"},
		"any of several values":            {label: "tier in (gold,silver)"},
		"a value that there must not be":   {field: "metadata.name!=web", label: "tier!=gold"},
		"a label that must be there":       {label: "tier"},
		"a number that must be larger":     {label: "tier>5"},
		"an empty value":                   {field: "reason=", label: "tier="},
		"what JSON writes in another way":  {field: `reason=a"b`},
		"what JSON writes as it is beside": {field: `reason=a<longer>,type=Warning`, word: "Warning"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			field, err := fields.ParseSelector(c.field)
			require.NoError(t, err)
			label, err := labels.Parse(c.label)
			require.NoError(t, err)
			require.Equal(t, c.word, wordIn(storage.SelectionPredicate{Field: field, Label: label}))
		})
	}
}
