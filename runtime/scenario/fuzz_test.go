package scenario_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the bytes are, decoding ends, and a file either has a problem or gives scenarios that can
// be run: sorted steps with an action, expectations with a subject.
func FuzzScenario(f *testing.F) {
	for written := range actions() {
		f.Add([]byte(world("  timeline: [{at: 5s, " + written + "}]\n")["s.yaml"]))
	}
	for written := range expectations() {
		f.Add([]byte(world("  expect: [{" + written + "}]\n")["s.yaml"]))
	}
	for written := range nodeActions() {
		f.Add([]byte(nodeWorld("  timeline: [{at: 5s, " + written + "}]\n")["s.yaml"]))
	}
	for written := range nodeExpectations() {
		f.Add([]byte(nodeWorld("  expect: [{" + written + "}]\n")["s.yaml"]))
	}
	f.Add([]byte(head + "  nodes: [{name: 'n{1..9}', capacity: 'cpu=4,memory=8Gi', leasePeriod: 1s, startup: 1s, conditions: {Ready: Unknown}}]\n"))
	f.Add([]byte(head + "  fleet: [{name: 'a{1..20}', startup: {min: 1s, max: 2s}}]\n  include: [policies/*.yaml]\n"))
	f.Add([]byte(head + "  timeline: [{every: 1ns, until: 1000d, restart: true}, {at: 1s, apply: [{file: late.yaml}]}]\n"))
	f.Add([]byte("kind: List\napiVersion: v1\nitems: [{apiVersion: leeward.dev/v1alpha1, kind: Scenario, metadata: {name: s}, spec: {seed: 3, expect: [{}]}}]\n"))
	f.Add([]byte(head + "  fleet: [&x {name: x}, *x]\n  timeline: [&s {at: 1s, cordon: {cluster: x}}, *s]\n"))
	others := world("")
	f.Fuzz(func(t *testing.T, data []byte) {
		scenarios, problems := others.source().Decode("fuzzed.yaml", data)
		for _, p := range problems {
			require.NotEmpty(t, p.Error())
		}
		for _, s := range scenarios {
			last := s.Until()
			for i := range s.Timeline {
				require.NotNil(t, s.Timeline[i].Action)
				require.True(t, i == 0 || s.Timeline[i-1].At <= s.Timeline[i].At)
				require.LessOrEqual(t, s.Timeline[i].At, last)
			}
			for i := range s.Expect {
				require.NotEmpty(t, s.Expect[i].String())
			}
			for _, doc := range s.Objects {
				require.NotNil(t, doc.Object)
			}
		}
	})
}
