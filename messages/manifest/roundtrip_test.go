package manifest

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
	sigsyaml "sigs.k8s.io/yaml"

	"leeward/messages/api"
)

// awkward are strings that mean something else when they are not quoted ("<<" is not among them: the
// writer forgets to quote it as a key).
var awkward = []string{"", "yes", "n", "~", "null", "true", "0x1f", "1e3", "1_0", "012", ".inf", "*a", "&a", "!t", "- a",
	"a: b", "a #b", " a ", "2026-01-02", "2026-01-02T15:04:05Z", "é", "日本", "two\nlines\n", "tab\t", "'", "\"", "\\", "---", "...", "{", "[", "%a"}

// filler fills objects at random, by seed, with what their JSON can hold.
func filler(seed int64) *randfill.Filler {
	text := func(s *string, c randfill.Continue) { *s = awkward[c.Intn(len(awkward))] }
	raw := func(c randfill.Continue) []byte {
		return fmt.Appendf(nil, `{"f:a":{"x":[1,"y",null,%d]}}`, c.Intn(10))
	}
	return randfill.NewWithSeed(seed).NilChance(.4).NumElements(1, 2).MaxDepth(25).Funcs(
		text,
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1e9), resource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(c.Int63n(4e9), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.NewMicroTime(time.UnixMicro(c.Int63n(4e15)))
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.SetRawBytes(raw(c)) },
		func(e *runtime.RawExtension, c randfill.Continue) { e.Raw = raw(c) },
		func(j *api.JSON, c randfill.Continue) { j.Raw = raw(c) },
		func(i *intstr.IntOrString, c randfill.Continue) {
			*i = intstr.FromInt32(c.Int31())
			if c.Bool() {
				*i = intstr.FromString("25%")
			}
		},
	)
}

func TestEveryKindSurvivesWritingAndReading(t *testing.T) {
	for kind, make := range FleetKinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			for seed := range int64(6) {
				want := make()
				filler(seed).Fill(want)
				want.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
				want.SetName("name")
				text, err := json.Marshal(want)
				require.NoError(t, err)
				inYAML, err := sigsyaml.JSONToYAML(text)
				require.NoError(t, err)

				for form, data := range map[string][]byte{"JSON": text, "YAML": inYAML} {
					documents, problems := Decode("f.yaml", data)
					require.Empty(t, problems, "seed %d, %s:\n%s", seed, form, data)
					got, err := json.Marshal(documents[0].Object)
					require.NoError(t, err)
					require.Equal(t, string(text), string(got), "seed %d, %s", seed, form)
				}
			}
		})
	}
}

func TestAnUntypedObjectHoldsWhatKubectlWouldSend(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 200 {
		value := randomValue(random, 4)
		object := map[string]any{"apiVersion": "x/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": value}
		data, err := sigsyaml.Marshal(object)
		require.NoError(t, err)
		documents, problems := Decode("f.yaml", data)
		require.Empty(t, problems, string(data))
		require.Equal(t, object, documents[0].Object.(*unstructured.Unstructured).Object, string(data))
	}
}

func randomValue(r *rand.Rand, depth int) any {
	switch n := r.Intn(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.Intn(2) == 0
	case n == 2:
		return r.Int63() - r.Int63()
	case n == 3:
		return r.NormFloat64()
	case n == 4 && depth > 0:
		list := []any{}
		for range r.Intn(4) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	case n > 4 && depth > 0:
		made := map[string]any{}
		for range r.Intn(4) {
			made[awkward[r.Intn(len(awkward))]] = randomValue(r, depth-1)
		}
		return made
	}
	return awkward[r.Intn(len(awkward))]
}
