package scenario_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// schema returns docs/scenario.schema.json, compiled.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile("../../docs/scenario.schema.json")
	require.NoError(t, err)
	return compiled
}

// conforms holds every document of a file against the schema, as an editor does.
func conforms(t *testing.T, s *jsonschema.Schema, file string) error {
	t.Helper()
	for _, document := range strings.Split(file, "\n---\n") {
		text, err := yaml.YAMLToJSON([]byte(document))
		require.NoError(t, err, document)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		if err := s.Validate(value); err != nil {
			return err
		}
	}
	return nil
}

// What the decoder takes, the schema takes.
func TestTheSchemaAcceptsWhatIsRight(t *testing.T) {
	s := schema(t)
	for written := range actions() {
		require.NoError(t, conforms(t, s, world("  timeline: [{at: 5s, " + written + "}]\n")["s.yaml"]), written)
	}
	for written := range expectations() {
		require.NoError(t, conforms(t, s, world("  expect: [{" + written + "}]\n")["s.yaml"]), written)
	}
	for _, spec := range []string{
		"  fleet: [{name: x, zones: [a], startup: {min: 1s, max: 2s}, taints: ['a:NoExecute', {key: b, effect: NoSchedule}], conditions: {Ready: ''}}]\n",
		"  timeline: [{every: 1d12h, until: 365d, mayFail: true, apply: [{file: x.yaml}, {apiVersion: v1, kind: Pod}]}]\n",
		"  config: {failover: true, handoverHealth: placement, gracefulEvictionTimeout: 20s, featureGates: {Failover: true}}\n",
		"  duration: 0.5h\n",
	} {
		require.NoError(t, conforms(t, s, head+spec), spec)
	}
}

// Editors must not underline what runs.
func TestTheSchemaAcceptsEveryScenario(t *testing.T) {
	s, found := schema(t), 0
	require.NoError(t, filepath.WalkDir("../../scenarios", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, conforms(t, s, string(text)), name)
		found++
		return nil
	}))
	require.Positive(t, found)
}

// What is wrong in its form, the schema rejects, and the decoder too.
func TestTheSchemaRejectsWhatIsWrong(t *testing.T) {
	s := schema(t)
	for _, spec := range []string{
		"  sed: 1\n",
		"  seed: -1\n",
		"  duration: 10\n",
		"  duration: soon\n",
		"  profile: karmda\n",
		"  config: {evictionRate: 1}\n",
		"  fleet: [{region: eu}]\n",
		"  fleet: [{name: x, colour: red}]\n",
		"  fleet: [{name: x, taints: ['a-']}]\n",
		"  fleet: [{name: x, health: Fine}]\n",
		"  fleet: [{name: x, conditions: {Ready: 'Nope'}}]\n",
		"  timeline: [{restart: true}]\n",
		"  timeline: [{at: 1s, every: 1s, restart: true}]\n",
		"  timeline: [{at: 1s, until: 2s, restart: true}]\n",
		"  timeline: [{at: 1s}]\n",
		"  timeline: [{at: 1s, restart: true, config: {evictionWorkers: 1}}]\n",
		"  timeline: [{at: 1s, restart: true, mayFail: true}]\n",
		"  timeline: [{at: 1s, cordon: {}}]\n",
		"  timeline: [{at: 1s, cordon: {cluster: {colour: red}}}]\n",
		"  timeline: [{at: 1s, condition: {cluster: us-1, type: Ready, status: Maybe}}]\n",
		"  timeline: [{at: 1s, outage: {cluster: us-1, kind: water}}]\n",
		"  timeline: [{at: 1s, scale: {workload: nginx, replicas: -1}}]\n",
		"  expect: [{at: 1s}]\n",
		"  expect: [{at: 1s, never: true, taint: {cluster: us-1, key: a}}]\n",
		"  expect: [{at: 1s, from: 1s, taint: {cluster: us-1, key: a}}]\n",
		"  expect: [{within: {after: 1s}, taint: {cluster: us-1, key: a}}]\n",
		"  expect: [{at: 1s, binding: {name: nginx, replicas: many}}]\n",
		"  expect: [{at: 1s, binding: {name: nginx, clusters: [us-1, us-1]}}]\n",
		"  expect: [{never: true, event: {kind: Eviction}}]\n",
		"  expect: [{never: true, event: {kind: EvictionStarted, colour: red}}]\n",
		"  expect: [{total: {max: 1}}]\n",
		"  expect: [{total: {event: {kind: Restarted}, max: 1}, taint: {cluster: us-1, key: a}}]\n",
	} {
		f := world(spec)
		if strings.HasPrefix(spec, "  fleet") {
			f = files{"s.yaml": head + spec}
		}
		require.Error(t, conforms(t, s, f["s.yaml"][strings.Index(f["s.yaml"], "apiVersion"):]), spec)
		_, problems := f.decode("s.yaml")
		require.NotEmpty(t, problems, spec)
	}
}
