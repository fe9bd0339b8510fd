package manifest

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages/api"
)

// script is a kind that another package might add.
type script struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Seed    uint64
		Pace    pace               `json:"pace,omitempty"`
		Mood    mood               `json:"mood,omitempty"`
		Load    float32            `json:"load,omitempty"`
		Key     []byte             `json:"key,omitempty"`
		Expect  map[string]any     `json:"expect,omitempty"`
		Node    yaml.Node          `json:"node"`
		Steps   []*script          `json:"steps,omitempty"`
		Limits  map[string]float64 `json:"limits,omitempty"`
		Skipped string             `json:"-"`
	} `json:"spec"`
}

func (s *script) DeepCopyObject() runtime.Object { return s }

// pace reads a duration, by encoding.TextUnmarshaler.
type pace time.Duration

func (p *pace) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*p = pace(d)
	return err
}

// mood is one of two words, by json.Unmarshaler.
type mood string

func (m *mood) UnmarshalJSON(data []byte) error {
	var word string
	if err := json.Unmarshal(data, &word); err != nil || word != "calm" && word != "stormy" {
		return errors.New("want calm or stormy")
	}
	*m = mood(word)
	return nil
}

func scripts() Kinds {
	kinds := FleetKinds()
	kinds[metav1.TypeMeta{APIVersion: "example.org/v1", Kind: "Script"}] = func() api.Object { return new(script) }
	return kinds
}

const oneScript = `apiVersion: example.org/v1
kind: Script
metadata: {name: s, annotations: &any {a: b}}
spec:
  Seed: 7
  pace: 90s
  mood: calm
  load: 0.5
  key: aGk=
  expect: {x: [1, {z: null}]}
  limits: {a: 1, b: 1.5}
  node: {when: 5m, then: [a]}
`

func TestAKindThatIsAddedIsReadByTheSameWalker(t *testing.T) {
	documents, problems := NewDecoder(scripts()).Decode("s.yaml", []byte(oneScript))
	require.Empty(t, problems)
	spec := documents[0].Object.(*script).Spec
	require.Equal(t, uint64(7), spec.Seed)
	require.Equal(t, pace(90*time.Second), spec.Pace)
	require.Equal(t, mood("calm"), spec.Mood)
	require.Equal(t, float32(0.5), spec.Load)
	require.Equal(t, "hi", string(spec.Key))
	require.Equal(t, map[string]any{"x": []any{int64(1), map[string]any{"z": nil}}}, spec.Expect)
	require.Equal(t, map[string]float64{"a": 1, "b": 1.5}, spec.Limits)
	require.Equal(t, 12, spec.Node.Line)

	var within struct {
		When metav1.Duration `json:"when"`
		Then []int           `json:"then"`
	}
	problems = DecodeNode(Place{File: "s.yaml", Object: "Script s", Field: "spec.node"}, &spec.Node, &within)
	require.EqualError(t, problems, `s.yaml:12: Script s: spec.node.then[0]: "a": want an integer`)
	require.Equal(t, 5*time.Minute, within.When.Duration)
}

func TestProblemsOfAKindThatIsAdded(t *testing.T) {
	_, problems := NewDecoder(scripts()).Decode("s.yaml", []byte(`apiVersion: example.org/v1
kind: Script
metadata: {name: s}
spec:
  Seed: -1
  pace: soon
  mood: angry
  load: heavy
  key: "?"
  steps:
  - spec: {mood: {a: b}, pace: 5}
  - null
  limits: {a: ~}
  expect: {a: .nan}
  Skipped: x
`))
	require.EqualError(t, problems, `s.yaml:5: Script s: spec.Seed: -1: want an integer, 0 or more
s.yaml:6: Script s: spec.pace: "soon": time: invalid duration "soon"
s.yaml:7: Script s: spec.mood: "angry": want calm or stormy
s.yaml:8: Script s: spec.load: "heavy": want a number
s.yaml:9: Script s: spec.key: "?": want base64
s.yaml:11: Script s: spec.steps[0].spec.mood: want calm or stormy
s.yaml:11: Script s: spec.steps[0].spec.pace: 5: want a string: quote it
s.yaml:12: Script s: spec.steps[1]: null: want a mapping
s.yaml:13: Script s: spec.limits[a]: null: want a number
s.yaml:14: Script s: spec.expect.a: .nan: want a number that JSON can hold
s.yaml:15: Script s: spec.Skipped: unknown field`)
}

func TestASlipInTheKindThatIsAdded(t *testing.T) {
	_, problems := NewDecoder(scripts()).Decode("s.yaml", []byte("apiVersion: example.org/v1\nkind: Scrpit\nmetadata: {name: s}\n"))
	require.EqualError(t, problems, "s.yaml:2: Scrpit s: kind: Scrpit is not known in example.org/v1; did you mean Script?")
}

func TestATypeThatJSONCannotHoldHasNoPlan(t *testing.T) {
	var into chan int
	require.PanicsWithValue(t, "manifest: no plan for chan int: JSON cannot hold it", func() {
		_ = DecodeNode(Place{}, &yaml.Node{Kind: yaml.ScalarNode, Tag: tagInt, Value: "1"}, &into)
	})
}
