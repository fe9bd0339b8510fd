package manifest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/messages/api"
)

// written puts a body under the head of an object.
func with(apiVersion, kind, body string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: a, namespace: b}\n" + body
}

func deploymentWith(body string) string { return with("apps/v1", "Deployment", body) }

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"an unknown field names the one that was meant": {
			deploymentWith("spec:\n  template: {spec: {contianers: []}}\n"),
			[]string{"f.yaml:5: Deployment b/a: spec.template.spec.contianers: unknown field; did you mean containers?"},
		},
		"a field in the wrong letter case is unknown": {
			deploymentWith("spec: {Replicas: 3}\n"),
			[]string{"f.yaml:4: Deployment b/a: spec.Replicas: unknown field; did you mean replicas?"},
		},
		"a field like no other is just unknown": {
			deploymentWith("spec: {zzz: 3}\n"),
			[]string{"f.yaml:4: Deployment b/a: spec.zzz: unknown field"},
		},
		"a field set twice names the first": {
			deploymentWith("spec:\n  replicas: 1\n  replicas: 2\n"),
			[]string{"f.yaml:6: Deployment b/a: spec.replicas: set twice, first on line 5"},
		},
		"a label set twice": {
			deploymentWith("spec: {template: {metadata: {labels: {x: a, x: b}}}}\n"),
			[]string{"f.yaml:4: Deployment b/a: spec.template.metadata.labels[x]: set twice, first on line 4"},
		},
		"a word for a number": {
			deploymentWith("spec:\n  replicas: many\n"),
			[]string{`f.yaml:5: Deployment b/a: spec.replicas: "many": want an integer`},
		},
		"a quoted number for a number": {
			deploymentWith("spec: {replicas: \"3\"}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: "3": want an integer`},
		},
		"a fraction for an integer": {
			deploymentWith("spec: {replicas: 1.5}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: 1.5: want an integer`},
		},
		"an integer too large": {
			deploymentWith("spec: {replicas: 3000000000}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: 3000000000: want an integer from -2147483648 to 2147483647`},
		},
		"an integer larger than any": {
			deploymentWith("spec: {replicas: 18446744073709551615}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: 18446744073709551615: want an integer`},
		},
		"a negative count": {
			with(api.ClusterGroupVersion, "Cluster", "spec: {resourceModels: [{grade: -1, ranges: []}]}\n"),
			[]string{`f.yaml:4: Cluster b/a: spec.resourceModels[0].grade: -1: want an integer, 0 or more`},
		},
		"a list for an integer": {
			deploymentWith("spec: {replicas: [1]}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: want an integer, not a list`},
		},
		"a mapping for a list": {
			deploymentWith("spec: {template: {spec: {containers: {name: x}}}}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.template.spec.containers: want a list, not a mapping`},
		},
		"a word for a mapping": {
			deploymentWith("spec: {template: {metadata: {labels: x}}}\nstatus: z\n"),
			[]string{
				`f.yaml:4: Deployment b/a: spec.template.metadata.labels: "x": want a mapping`,
				`f.yaml:5: Deployment b/a: status: "z": want a mapping`,
			},
		},
		"an unquoted boolean for text": {
			deploymentWith("spec: {template: {metadata: {labels: {x: yes, w: 'yes', z: True}}}}\n"),
			[]string{
				`f.yaml:4: Deployment b/a: spec.template.metadata.labels[x]: yes: want a string: quote it`,
				`f.yaml:4: Deployment b/a: spec.template.metadata.labels[z]: True: want a string: quote it`,
			},
		},
		"an unquoted number for text": {
			with(api.ClusterGroupVersion, "Cluster", "spec:\n  taints:\n  - {key: k, value: 1, effect: NoSchedule}\n"),
			[]string{`f.yaml:6: Cluster b/a: spec.taints[0].value: 1: want a string: quote it`},
		},
		"text for a boolean": {
			with(api.PolicyGroupVersion, "PropagationPolicy", "spec: {propagateDeps: \"true\"}\n"),
			[]string{`f.yaml:4: PropagationPolicy b/a: spec.propagateDeps: "true": want true or false`},
		},
		"null in a list": {
			with(api.ClusterGroupVersion, "Cluster", "spec: {zones: [a, null]}\n"),
			[]string{`f.yaml:4: Cluster b/a: spec.zones[1]: null: want a string`},
		},
		"an unquoted boolean as key": {
			deploymentWith("spec: {template: {metadata: {labels: {on: a, 1: b, 0x1: c}}}}\n"),
			[]string{
				`f.yaml:4: Deployment b/a: spec.template.metadata.labels[on]: want a string as key: quote it`,
				`f.yaml:4: Deployment b/a: spec.template.metadata.labels[0x1]: want a string as key: quote it`,
			},
		},
		"a mapping as key": {
			deploymentWith("spec: {template: {metadata: {labels: {? {x: y} : b}}}}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.template.metadata.labels: want a string as key, not a mapping`},
		},
		"a malformed quantity": {
			deploymentWith("spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}}}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.template.spec.containers[0].resources.requests[cpu]: "lots": want a quantity, as 500m or 2Gi`},
		},
		"a malformed time": {
			with(api.ClusterGroupVersion, "Cluster", "spec: {taints: [{key: k, effect: NoExecute, timeAdded: today}]}\n"),
			[]string{`f.yaml:4: Cluster b/a: spec.taints[0].timeAdded: "today": want a time, as 2026-01-31T15:04:05Z`},
		},
		"a boolean for a port": {
			deploymentWith("spec: {strategy: {rollingUpdate: {maxSurge: true}}}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.strategy.rollingUpdate.maxSurge: true: want an integer or a string`},
		},
		"a slip that is used twice is told once": {
			deploymentWith("spec: {selector: {matchLabels: &l {x: 1}}, template: {metadata: {labels: *l}}}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.selector.matchLabels[x]: 1: want a string: quote it`},
		},
		"a custom tag": {
			deploymentWith("spec: {replicas: !!int \"3\", paused: !yes true}\n"),
			[]string{
				`f.yaml:4: Deployment b/a: spec.replicas: the tag !!int is not supported`,
				`f.yaml:4: Deployment b/a: spec.paused: the tag !yes is not supported`,
			},
		},
		"a key with a custom tag": {
			deploymentWith("spec: {!k replicas: 3}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec: a key with the tag !k is not supported`},
		},
		"a merge key without a mapping": {
			deploymentWith("spec: {<<: 3, replicas: 1}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.<<: want a mapping, or a list of mappings`},
		},
		"no apiVersion, kind or name": {
			"# nothing much\nspec: {}\n",
			[]string{
				"f.yaml:2: apiVersion: required",
				"f.yaml:2: kind: required",
				"f.yaml:2: metadata.name: required",
			},
		},
		"no name": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: x-\n",
			[]string{"f.yaml:4: ConfigMap: metadata.name: required"},
		},
		"a name that is a number": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 7}\ndata: {a: b, a: c}\n",
			[]string{
				"f.yaml:3: ConfigMap 7: metadata.name: 7: want a string: quote it",
				"f.yaml:4: ConfigMap 7: data.a: set twice, first on line 4",
			},
		},
		"an apiVersion that is a number": {
			"apiVersion: 1\nkind: [Foo]\nmetadata: {name: a}\n",
			[]string{
				`f.yaml:1: apiVersion: 1: want a string: quote it`,
				`f.yaml:2: kind: want a string, not a list`,
			},
		},
		"an apiVersion that is none": {
			with("a/b/c", "Foo", ""),
			[]string{`f.yaml:2: Foo b/a: kind: "a/b/c" is no group and version`},
		},
		"a kind of another version": {
			with("policy.karmada.io/v1", "PropagationPolicy", ""),
			[]string{"f.yaml:2: PropagationPolicy b/a: kind: PropagationPolicy is not known in policy.karmada.io/v1; want policy.karmada.io/v1alpha1"},
		},
		"a kind with a slip": {
			with(api.PolicyGroupVersion, "PropogationPolicy", ""),
			[]string{"f.yaml:2: PropogationPolicy b/a: kind: PropogationPolicy is not known in policy.karmada.io/v1alpha1; did you mean PropagationPolicy?"},
		},
		"metadata of an untyped object": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, lables: {x: y}, labels: {x: 1, x: z}}\n",
			[]string{
				"f.yaml:3: ConfigMap a: metadata.lables: unknown field; did you mean labels?",
				"f.yaml:3: ConfigMap a: metadata.labels[x]: 1: want a string: quote it",
				"f.yaml:3: ConfigMap a: metadata.labels[x]: set twice, first on line 3",
			},
		},
		"a number that JSON cannot hold": {
			with("v1", "ConfigMap", "data: {a.b: .inf}\n"),
			[]string{"f.yaml:4: ConfigMap b/a: data[a.b]: .inf: want a number that JSON can hold"},
		},
		"the same object twice, with and without the default namespace": {
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n",
			[]string{"f.yaml:5: ConfigMap default/a: defined twice, first at f.yaml:1"},
		},
		"all problems of all documents, in file order": {
			deploymentWith("spec: {replicas: x}\n") + "---\n- a\n---\n" + deploymentWith("spec: {paused: 1}\n") + "---\nb: [\n---\n" + with("v1", "Pod", "sepc: {}\n"),
			[]string{
				`f.yaml:4: Deployment b/a: spec.replicas: "x": want an integer`,
				`f.yaml:6: want an object, not a list`,
				`f.yaml:8: Deployment b/a: defined twice, first at f.yaml:1`,
				`f.yaml:11: Deployment b/a: spec.paused: 1: want true or false`,
				`f.yaml:14: not YAML: did not find expected node content`,
				`f.yaml:18: Pod b/a: sepc: unknown field; did you mean spec?`,
			},
		},
		"a List names the item": {
			"apiVersion: v1\nkind: List\nitem: []\nitems:\n- " + strings.ReplaceAll(deploymentWith("spec: {replicas: x}"), "\n", "\n  ") + "\n- null\n",
			[]string{
				"f.yaml:3: item: unknown field; did you mean items?",
				`f.yaml:8: Deployment b/a: items[0].spec.replicas: "x": want an integer`,
				"f.yaml:9: items[1]: null: want an object",
			},
		},
		"a List within a List": {
			"kind: List\napiVersion: v1\nitems:\n- {kind: ThingList, apiVersion: x/v1, items: [{kind: Thing, apiVersion: x/v1, metadata: {}}]}\n",
			[]string{"f.yaml:4: Thing: items[0].items[0].metadata.name: required"},
		},
		"a long value is cut": {
			deploymentWith("spec: {replicas: " + strings.Repeat("x", 100) + "}\n"),
			[]string{`f.yaml:4: Deployment b/a: spec.replicas: "` + strings.Repeat("x", 60) + `...": want an integer`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			documents, problems := Decode("f.yaml", []byte(c.text))
			require.Equal(t, c.want, strings.Split(problems.Error(), "\n"))
			for _, d := range documents {
				require.NotContains(t, problems.Error(), d.Place.Object+":", "an object with problems was returned")
			}
		})
	}
}

func TestSyntaxErrorsHaveTheirLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a tab":              {"a: b\nc:\n\td: e\n", "f.yaml:3: not YAML: found character that cannot start any token"},
		"an open list":       {"a: b\nc: [d\n", "f.yaml:2: not YAML: did not find expected ',' or ']'"},
		"bad indentation":    {"a:\n  b: c\n d: e\n", "f.yaml:3: not YAML: did not find expected key"},
		"an unknown alias":   {"a: *b\n", "f.yaml:1: not YAML: unknown anchor 'b' referenced"},
		"a second colon":     {"x: y\n---\na: b: c\n", "f.yaml:3: not YAML: mapping values are not allowed in this context"},
		"two JSON documents": {"{\"a\": 1}\n{\"b\": 2}\n", "f.yaml:2: not YAML: did not find expected <document start>"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Decode("f.yaml", []byte(c.text))
			require.Equal(t, c.want, problems[len(problems)-1].Error())
		})
	}
}

func TestDocumentMarkers(t *testing.T) {
	const one, two = "{apiVersion: v1, kind: A, metadata: {name: one}}", "{apiVersion: v1, kind: A, metadata: {name: two}}"
	for name, c := range map[string]struct {
		text  string
		lines []int
	}{
		"nothing":                        {"", nil},
		"comments and blank lines":       {"# a\n\n---\n# b\n---\n\n...\n", nil},
		"one document":                   {one, []int{1}},
		"a marker between":               {one + "\n---\n" + two, []int{1, 3}},
		"a marker before the first":      {"# a\n---\n" + one + "\n--- # b\n" + two + "\n", []int{3, 5}},
		"content behind the marker":      {"--- " + one + "\n--- " + two, []int{1, 2}},
		"an end marker":                  {one + "\n...\n# a\n" + two, []int{1, 4}},
		"an end marker and a directive":  {"%YAML 1.1\n---\n" + one + "\n...\n%YAML 1.1\n---\n" + two, []int{3, 7}},
		"carriage returns":               {one + "\r\n---\r\n" + two + "\r\n", []int{1, 3}},
		"a byte order mark":              {"\xef\xbb\xbf" + one + "\n---\n" + two, []int{1, 3}},
		"empty documents":                {"---\n---\n" + one + "\n---\nnull\n---\n~\n---\n" + two, []int{3, 9}},
		"an indented marker is none":     {one + " # \n ---\n", []int{1}},
		"a block scalar with dashes":     {"apiVersion: v1\nkind: A\nmetadata: {name: one}\ndata: |\n  a\n  ---\n  b\n---\n" + two, []int{1, 9}},
		"a text that starts like dashes": {"----: a\n---\n" + two, []int{3}},
	} {
		t.Run(name, func(t *testing.T) {
			documents, _ := Decode("f.yaml", []byte(c.text))
			var lines []int
			for _, d := range documents {
				lines = append(lines, d.Line(""))
			}
			require.Equal(t, c.lines, lines)
		})
	}
}

func TestObjects(t *testing.T) {
	documents, problems := Decode("f.yaml", []byte(deployment+`---
# only a comment
---
{"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": [
  {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "uid": "u"}, "data": {"a": "1"}},
  {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two"}, "n": [1, -2.5, true, null, 1e3]}
]}
`))
	require.Empty(t, problems)
	require.Len(t, documents, 3)

	d := documents[0].Object.(*appsv1.Deployment)
	require.Equal(t, "nginx", d.Name)
	require.Equal(t, int32(3), *d.Spec.Replicas)
	require.Equal(t, "250m", d.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String())
	require.Equal(t, "http", d.Spec.Template.Spec.Containers[0].ReadinessProbe.HTTPGet.Port.String())
	require.Equal(t, Place{File: "f.yaml", Object: "Deployment default/nginx"}, documents[0].Place)

	two := documents[2].Object.(*unstructured.Unstructured)
	require.Equal(t, []any{int64(1), -2.5, true, nil, int64(1000)}, two.Object["n"])
	require.Equal(t, Place{File: "f.yaml", Object: "ConfigMap two", Field: "items[1]"}, documents[2].Place)
}

// Nodes that are made read as the text does that they are the nodes of.
func TestNodesReadAsTheirText(t *testing.T) {
	text := []byte(deploymentWith("spec: {replicas: 2}\n") + "---\n" + strings.ReplaceAll(deploymentWith("spec:\n  replicas: many\n"), "name: a", "name: c") +
		"---\napiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(with("v1", "ConfigMap", "data: {x: y}")), "\n", "\n  "))
	var roots []*yaml.Node
	for _, c := range split(text) {
		parsed, err := c.parse()
		require.NoError(t, err)
		roots = append(roots, parsed...)
	}
	want, wrong := NewDecoder(FleetKinds()).Decode("f.yaml", text)
	got, problems := NewDecoder(FleetKinds()).DecodeNodes("f.yaml", roots)
	require.Equal(t, wrong, problems)
	require.Len(t, problems, 1)
	require.Len(t, got, 2)
	for i := range want {
		require.Equal(t, want[i].Object, got[i].Object)
		require.Equal(t, want[i].Place, got[i].Place)
		require.Equal(t, want[i].Line("metadata.name"), got[i].Line("metadata.name"))
	}
}

func TestServerSetFieldsAreAccepted(t *testing.T) {
	documents, problems := Decode("f.yaml", []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    deployment.kubernetes.io/revision: "1"
  creationTimestamp: 2026-01-02T15:04:05Z
  generation: 2
  managedFields:
  - {apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:replicas": {}}}, manager: kubectl, operation: Update, time: "2026-01-02T15:04:05Z"}
  name: web
  namespace: shop
  resourceVersion: "5510"
  selfLink: /apis/apps/v1/namespaces/shop/deployments/web
  uid: 7f1b0c9e-4a0a-4b0e-8a8e-0b8f6f6c1b11
spec:
  replicas: null
  template: {metadata: {creationTimestamp: null}}
status: {observedGeneration: 2, replicas: 2, conditions: [{type: Available, status: "True"}]}
`))
	require.Empty(t, problems)
	web := documents[0].Object.(*appsv1.Deployment)
	require.JSONEq(t, `{"f:spec": {"f:replicas": {}}}`, web.ManagedFields[0].FieldsV1.GetRawString())
	require.Equal(t, int64(1767366245), web.CreationTimestamp.Unix())
	require.Nil(t, web.Spec.Replicas)
}

func TestAliasesAndMergeKeys(t *testing.T) {
	documents, problems := Decode("f.yaml", []byte(`apiVersion: v1
kind: ConfigMap
metadata: {name: a}
base: &base {x: 1, v: 1}
more: &more {<<: *base, v: 2, z: 2}
data:
  alias: *more
  own: {v: 3, <<: *more}
  two: {<<: [*base, {v: 9, w: 9}]}
`))
	require.Empty(t, problems)
	data := documents[0].Object.(*unstructured.Unstructured).Object["data"]
	require.Equal(t, map[string]any{
		"alias": map[string]any{"x": int64(1), "v": int64(2), "z": int64(2)},
		"own":   map[string]any{"x": int64(1), "v": int64(3), "z": int64(2)},
		"two":   map[string]any{"x": int64(1), "v": int64(1), "w": int64(9)},
	}, data)
}

func TestWhatExpandsWithoutEndIsRefused(t *testing.T) {
	laughs := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 [x]\n"
	merges := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\na0: &a0 {x: y}\n"
	lists := "apiVersion: v1\nkind: List\nmetadata: {}\nitems:\n- &a0 {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	for i := range 30 {
		last, next := "*a"+itoa(i), "&a"+itoa(i+1)
		laughs += "a" + itoa(i+1) + ": " + next + " [" + last + ", " + last + "]\n"
		merges += "a" + itoa(i+1) + ": " + next + " {x: {<<: " + last + "}, z: {<<: " + last + "}}\n"
		lists += "- " + next + " {apiVersion: v1, kind: List, items: [" + last + ", " + last + "]}\n"
	}
	for name, c := range map[string]struct{ text, want string }{
		"aliases of aliases":     {laughs, "aliases expand to more than 100000 values"},
		"merges of merges":       {merges, "aliases expand to more than 100000 values"},
		"Lists of Lists":         {lists, "aliases expand to more than 100000 values"},
		"an alias within itself": {"a: &a [*a]\n", "nested more than 1000 levels deep"},
		"a merge within itself":  {"a: &a {b: {<<: *a}}\n", "nested more than 1000 levels deep"},
		"brackets":               {"a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "nested more than 1000 levels deep"},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := Decode("f.yaml", []byte(c.text))
			require.Contains(t, problems.Error(), c.want)
		})
	}
}

func TestAnObjectIsDefinedOnceInAllFiles(t *testing.T) {
	d := NewDecoder(FleetKinds())
	_, problems := d.Decode("one.yaml", []byte("\n"+deployment))
	require.Empty(t, problems)
	documents, problems := d.Decode("two.yaml", []byte(strings.Replace(deployment, "apps/v1", "apps/v1 # again", 1)))
	require.Empty(t, documents)
	require.EqualError(t, problems, "two.yaml:1: Deployment default/nginx: defined twice, first at one.yaml:2")
}
