package override_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/rules/override"
)

// pod returns a workload with two containers, the second without words.
func pod(kind, images string) string {
	return `{apiVersion: apps/v1, kind: ` + kind + `, metadata: {name: a}, spec: {template: {spec: {initContainers: [{name: i, image: i}], containers: [` + images + `]}}}}`
}

const (
	two    = `{name: a, image: "nginx:1"}, {name: b, image: "r.io:5000/x/y@sha256:0123456789abcdef0123456789abcdef"}`
	spoken = `{name: a, image: a, command: [run, -v], args: [x, y, x]}, {name: b, image: b}`
	config = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {app.yaml: "a: 1\nb: [x]\n", app.json: '{"a":1,"big":9007199254740993}', plain: text}}`
	thing  = `{apiVersion: x/v1, kind: Thing, metadata: {name: a, labels: {app: web, a.b/c: d}}, spec: {big: 9007199254740993, list: [1, 2], image: "a/b:1"}}`
)

// cases say what becomes of a manifest; want is empty where the error says why nothing does.
var cases = []struct{ name, manifest, overriders, want, err string }{
	{"all images move to a registry", pod("Deployment", two),
		`imageOverrider: [{component: Registry, operator: replace, value: my.io}]`,
		pod("Deployment", `{name: a, image: "my.io/nginx:1"}, {name: b, image: "my.io/x/y@sha256:0123456789abcdef0123456789abcdef"}`), ""},
	{"a registry goes", pod("Job", two), `imageOverrider: [{component: Registry, operator: remove}]`,
		pod("Job", `{name: a, image: "nginx:1"}, {name: b, image: "x/y@sha256:0123456789abcdef0123456789abcdef"}`), ""},
	{"a registry is added to", pod("DaemonSet", two), `imageOverrider: [{component: Registry, operator: add, value: ".eu"}]`,
		pod("DaemonSet", `{name: a, image: ".eu/nginx:1"}, {name: b, image: "r.io:5000.eu/x/y@sha256:0123456789abcdef0123456789abcdef"}`), ""},
	{"a folder is no registry", pod("StatefulSet", `{name: a, image: "team/app:1"}`),
		`imageOverrider: [{component: Registry, operator: replace, value: localhost}, {component: Repository, operator: add, value: -slim}]`,
		pod("StatefulSet", `{name: a, image: "localhost/team/app-slim:1"}`), ""},
	{"a repository is replaced", pod("ReplicaSet", `{name: a, image: "localhost/app"}`), `imageOverrider: [{component: Repository, operator: replace, value: other}]`,
		pod("ReplicaSet", `{name: a, image: "localhost/other"}`), ""},
	{"tags are added to", pod("Deployment", `{name: a, image: "app:1"}, {name: b, image: "r.io:5000/app"}`), `imageOverrider: [{component: Tag, operator: add, value: "2"}]`,
		pod("Deployment", `{name: a, image: "app:12"}, {name: b, image: "r.io:5000/app:2"}`), ""},
	{"a digest takes the place of a tag", pod("Deployment", `{name: a, image: "app:1"}`),
		`imageOverrider: [{component: Tag, operator: replace, value: "@sha256:0123456789abcdef0123456789abcdef"}]`,
		pod("Deployment", `{name: a, image: "app@sha256:0123456789abcdef0123456789abcdef"}`), ""},
	{"a tag takes the place of a digest", pod("Deployment", `{name: a, image: "app:1@sha256:0123456789abcdef0123456789abcdef"}`),
		`imageOverrider: [{component: Tag, operator: replace, value: v2}]`, pod("Deployment", `{name: a, image: "app:v2"}`), ""},
	{"what pins an image stays as it moves", pod("Deployment", `{name: a, image: "app:1@sha256:0123456789abcdef0123456789abcdef"}`),
		`imageOverrider: [{component: Registry, operator: add, value: my.io}]`, pod("Deployment", `{name: a, image: "my.io/app:1@sha256:0123456789abcdef0123456789abcdef"}`), ""},
	{"tags go", pod("Deployment", two), `imageOverrider: [{component: Tag, operator: remove}]`,
		pod("Deployment", `{name: a, image: nginx}, {name: b, image: "r.io:5000/x/y"}`), ""},
	{"what is no tag changes nothing", pod("Deployment", `{name: a, image: "app:1"}`), `imageOverrider: [{component: Tag, operator: replace, value: "a b"}]`,
		pod("Deployment", `{name: a, image: "app:1"}`), ""},
	{"an image at a path", thing, `imageOverrider: [{predicate: {path: /spec/image}, component: Tag, operator: replace, value: "2"}]`,
		`{apiVersion: x/v1, kind: Thing, metadata: {name: a, labels: {app: web, a.b/c: d}}, spec: {big: 9007199254740993, list: [1, 2], image: "a/b:2"}}`, ""},
	{"images of an unknown kind stay", thing, `imageOverrider: [{component: Tag, operator: remove}]`, thing, ""},
	{"an image that is not there", thing, `imageOverrider: [{predicate: {path: /spec/picture}, component: Tag, operator: remove}]`, "",
		`imageOverrider[0]: path "/spec/picture": `},
	{"an image that is none", thing, `imageOverrider: [{predicate: {path: /spec/list}, component: Tag, operator: remove}]`, "",
		`imageOverrider[0]: path "/spec/list": want a text, not [1 2]`},
	{"a container without an image", pod("Deployment", `{name: a}`), `imageOverrider: [{component: Tag, operator: remove}]`, "",
		`imageOverrider[0]: container a: image "": want [registry/]repository[:tag]`},

	{"a command gets words", pod("Deployment", spoken), `commandOverrider: [{containerName: a, operator: add, value: [--fast]}, {containerName: b, operator: add, value: [go]}]`,
		pod("Deployment", `{name: a, image: a, command: [run, -v, --fast], args: [x, y, x]}, {name: b, image: b, command: [go]}`), ""},
	{"args lose words", pod("Deployment", spoken), `argsOverrider: [{containerName: a, operator: remove, value: [x, z]}]`,
		pod("Deployment", `{name: a, image: a, command: [run, -v], args: [y]}, {name: b, image: b}`), ""},
	{"words of nobody", pod("Deployment", spoken), `argsOverrider: [{containerName: c, operator: add, value: [x]}]`, pod("Deployment", spoken), ""},
	{"a Job keeps its words", pod("Job", spoken), `argsOverrider: [{containerName: a, operator: add, value: [x]}]`, pod("Job", spoken), ""},

	{"labels of any name", thing, `labelsOverrider: [{operator: replace, value: {a.b/c: e, none: f}}, {operator: remove, value: {app: "", none: ""}}, {operator: add, value: {x/y: z}}]`,
		`{apiVersion: x/v1, kind: Thing, metadata: {name: a, labels: {a.b/c: e, x/y: z}}, spec: {big: 9007199254740993, list: [1, 2], image: "a/b:1"}}`, ""},
	{"the last label goes", `{kind: K, metadata: {labels: {a: b}}}`, `labelsOverrider: [{operator: remove, value: {a: ""}}]`, `{kind: K, metadata: {}}`, ""},
	{"the first annotation comes", `{kind: K}`, `annotationsOverrider: [{operator: add, value: {a: b}}]`, `{kind: K, metadata: {annotations: {a: b}}}`, ""},
	{"annotations that are none", `{kind: K, metadata: {annotations: 3}}`, `annotationsOverrider: [{operator: add, value: {a: b}}]`, "", "annotationsOverrider[0]: "},

	{"a field in YAML", config, `fieldOverrider: [{fieldPath: /data/app.yaml, yaml: [{subPath: /a, operator: replace, value: two}, {subPath: /b/0, operator: remove}]}]`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {app.yaml: "a: two\nb: []\n", app.json: '{"a":1,"big":9007199254740993}', plain: text}}`, ""},
	{"a field in JSON", config, `fieldOverrider: [{fieldPath: /data/app.json, json: [{subPath: /c, operator: add, value: {d: null}}]}]`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {app.yaml: "a: 1\nb: [x]\n", app.json: '{"a":1,"big":9007199254740993,"c":{"d":null}}', plain: text}}`, ""},
	{"a field of which nothing is asked", config, `fieldOverrider: [{fieldPath: /data/plain}]`, config, ""},
	{"a field that is not there", config, `fieldOverrider: [{fieldPath: /data/m, json: [{subPath: /a, operator: remove}]}]`, "", `fieldOverrider[0]: path "/data/m": `},
	{"a field that is no document", config, `fieldOverrider: [{fieldPath: /data/plain, json: [{subPath: /a, operator: remove}]}]`, "", `fieldOverrider[0]: path "/data/plain": `},
	{"a field without what goes", config, `fieldOverrider: [{fieldPath: /data/app.yaml, yaml: [{subPath: /z, operator: remove}]}]`, "", `fieldOverrider[0]: path "/data/app.yaml": `},

	{"a patch", thing, `plaintext: [{path: /spec/list/-, operator: add, value: 3}, {path: /spec/image, operator: remove}, {path: /metadata/labels/a.b~1c, operator: replace, value: e}]`,
		`{apiVersion: x/v1, kind: Thing, metadata: {name: a, labels: {app: web, a.b/c: e}}, spec: {big: 9007199254740993, list: [1, 2, 3]}}`, ""},
	{"the patch comes last", pod("Deployment", `{name: a, image: a}`),
		`plaintext: [{path: /spec/template/spec/containers/0/image, operator: replace, value: b}], imageOverrider: [{component: Repository, operator: add, value: c}]`,
		pod("Deployment", `{name: a, image: b}`), ""},
	{"a patch of what is not there", thing, `plaintext: [{path: /spec/image, operator: remove}, {path: /spec/image, operator: remove}]`, "", "plaintext[1]: "},
	{"a patch replaces what is not there", thing, `plaintext: [{path: /spec/picture, operator: replace, value: 1}]`, "", "plaintext[0]: replace operation does not apply: doc is missing key: /spec/picture"},
	{"a path that is none", thing, `plaintext: [{path: spec, operator: add, value: 1}]`, "", "plaintext[0]: "},
	{"a patch leaves no object", thing, `plaintext: [{path: "", operator: replace, value: 1}]`, "", "plaintext[0]: "},
}

func TestOverriders(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := policy(t, "", "p", `{overrideRules: [{overriders: {`+c.overriders+`}}]}`)
			r, err := override.Apply([]byte(inJSON(t, c.manifest)), []*override.Policy{p}, m1)
			if c.err != "" {
				require.ErrorContains(t, err, "ClusterOverridePolicy p: spec.overrideRules[0].overriders."+c.err)
				require.Empty(t, r)
				return
			}
			require.NoError(t, err)
			require.Equal(t, inJSON(t, c.want), string(r.Manifest))
		})
	}
}
