package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// linted is what lint finds in texts, each a file of its own.
func linted(t *testing.T, o Options, texts ...string) *Report {
	t.Helper()
	source, files := memory(texts)
	fleets, apart, problems := Read(source, files)
	require.Empty(t, problems)
	require.False(t, apart)
	r, err := Run(fleets, o)
	require.NoError(t, err)
	return r
}

// memory is a file system of texts: f1.yaml, f2.yaml.
func memory(texts []string) (scenario.Source, []string) {
	of := map[string]string{}
	var files []string
	for i, text := range texts {
		files = append(files, fmt.Sprintf("f%d.yaml", i+1))
		of[files[i]] = text
	}
	return scenario.Source{
		Read: func(name string) ([]byte, error) {
			text, known := of[name]
			if !known {
				return nil, os.ErrNotExist
			}
			return []byte(text), nil
		},
		Glob: func(string) ([]string, error) { return nil, nil },
	}, files
}

// fault is the file of testdata that shows the fault of a rule.
func fault(t *testing.T, id string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "faults", id+".yaml"))
	require.NoError(t, err)
	return string(text)
}

// idsOf are the rules of findings, in order.
func idsOf(r *Report) (ids []string) {
	for _, f := range r.Findings {
		ids = append(ids, f.Rule)
	}
	return ids
}

func TestEachRuleFindsItsFaultAndItsWitnessShowsIt(t *testing.T) {
	for i, rule := range Rules() {
		t.Run(rule.ID+" "+rule.Name, func(t *testing.T) {
			require.Equal(t, fmt.Sprintf("LW%03d", i+1), rule.ID)
			require.NotEmpty(t, rule.Finds)
			r := linted(t, Options{}, fault(t, rule.ID))
			require.Contains(t, idsOf(r), rule.ID)
			for _, f := range r.Findings {
				require.Positive(t, f.Line)
				require.NotEmpty(t, f.Why)
				require.NotEmpty(t, f.Fix)
				holds(t, f)
			}
		})
	}
}

const sound = `apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: not-ready}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"], for: 30s}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: down, effect: NoExecute}]
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement:
    clusterTolerations: [{key: down, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
    spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 2}]
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}
`

const cluster3 = `
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {syncMode: Push, region: eu}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m2}
spec: {syncMode: Push, region: us}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m3}
spec: {syncMode: Push, region: us}
`

func TestASoundFleetHasNoFinding(t *testing.T) {
	r := linted(t, Options{}, sound+cluster3, fault(t, "LW013")[:strings.Index(fault(t, "LW013"), "---")])
	require.Empty(t, r.Findings)
	require.False(t, r.Failed())
	require.Equal(t, 6, r.Objects)
}

// A policy that reacts to False and not to Unknown leaves the workloads of a cluster whose agent is silent.
func TestUnknownIsNotReadyToo(t *testing.T) {
	half := strings.Replace(sound, `NotIn, statusValues: ["True"], for`, `In, statusValues: ["False"], for`, 1)
	r := linted(t, Options{}, half+cluster3)
	require.Equal(t, []string{"LW007"}, idsOf(r))
	require.Contains(t, r.Findings[0].Why, "m1, m2, m3: no policy adds a NoExecute taint when its Ready is Unknown: ")
	require.Contains(t, r.Findings[0].Fix, "match Unknown, too")
	holds(t, r.Findings[0])
}

func TestProfilesDecide(t *testing.T) {
	r := linted(t, Options{Profile: "karmada"}, sound+cluster3)
	require.Equal(t, []string{"LW020", "LW007"}, idsOf(r), "Karmada ignores the policy, and so nothing evicts")
	for _, f := range r.Findings {
		holds(t, f)
	}
	spread := strings.Replace(sound, ", maxGroups: 2", "", 1)
	require.Empty(t, linted(t, Options{}, spread).Findings)
	r = linted(t, Options{Profile: "karmada", Set: on("enableNoExecuteTaintEviction")}, spread)
	require.Equal(t, []string{"LW017"}, idsOf(r))
	require.Equal(t, Error, r.Findings[0].Severity)
	holds(t, r.Findings[0])

	missing := strings.Replace(fault(t, "LW004"), `In, statusValues: ["False"]`, `NotIn, statusValues: ["True"]`, 1)
	r = linted(t, Options{Set: []config.Override{{Field: "missingConditionStatus", Value: "Unknown", Source: "test"}}}, missing)
	require.Equal(t, []string{"LW004"}, idsOf(r))
	require.Contains(t, r.Findings[0].Why, "counts as Unknown")
	holds(t, r.Findings[0])
}

func on(field string) []config.Override {
	return []config.Override{{Field: field, Value: true, Source: "test"}}
}

// A dump has the placements of its bindings.
func TestADumpOfBindingsHasPlacements(t *testing.T) {
	r := linted(t, Options{}, `apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment, namespace: shop}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}
  replicas: 2
  clusters: [{name: m1, replicas: 2}]
  placement:
    clusterAffinity: {clusterNames: [m1]}
    clusterTolerations: [{key: k, effect: NoSchedule, operator: Exists, tolerationSeconds: 1}]
`+cluster3)
	require.Equal(t, []string{"LW015", "LW011", "LW007"}, idsOf(r))
	require.Equal(t, 10, r.Findings[1].Line)
	for _, f := range r.Findings {
		holds(t, f)
	}
}

// The witness of a stale field fails once the field is written as it is called now, where that changes what is decided.
func TestFieldsThatWereReplacedAreStale(t *testing.T) {
	old := strings.Replace(sound, "spec:\n  resourceSelectors", "spec:\n  association: true\n  resourceSelectors", 1)
	r := linted(t, Options{}, old)
	require.Equal(t, []string{"LW021"}, idsOf(r))
	require.Equal(t, "write propagateDeps: true in its place", r.Findings[0].Fix)
	require.Equal(t, 13, r.Findings[0].Line)
	holds(t, r.Findings[0])
	name, text, err := r.Findings[0].Witness()
	require.NoError(t, err)
	scenarios, problems := scenario.Disk.Decode(name, []byte(strings.Replace(text, "association: true", "propagateDeps: true", 1)))
	require.Empty(t, problems)
	run, err := replay.Play(scenarios[0], replay.Options{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, 1, run.Failures())
	both := strings.Replace(old, "association: true", "association: true\n  propagateDeps: true", 1)
	require.Contains(t, linted(t, Options{}, both).Findings[0].Fix, "omit it")

	r = linted(t, Options{}, fault(t, "LW021"))
	at := slices.IndexFunc(r.Findings, func(f *Finding) bool { return f.Field == "spec.targetCluster" })
	require.GreaterOrEqual(t, at, 0)
	holds(t, r.Findings[at])
	name, text, err = r.Findings[at].Witness()
	require.NoError(t, err)
	for _, old := range []string{"\n        overriders:\n          labelsOverrider:\n          - operator: add\n            value:\n              a: b\n", "\n        targetCluster:\n          clusterNames:\n          - m1\n"} {
		require.Contains(t, text, old)
		text = strings.Replace(text, old, "\n", 1)
	}
	scenarios, problems = scenario.Disk.Decode(name, []byte(text))
	require.Empty(t, problems)
	run, err = replay.Play(scenarios[0], replay.Options{Seed: 1})
	require.NoError(t, err)
	require.Equal(t, 1, run.Failures(), "without the old fields the rule is taken")

	r = linted(t, Options{}, sound+strings.Replace(cluster3, "region: eu}", "region: eu, zone: a}", 1))
	require.Equal(t, []string{"LW021"}, idsOf(r))
	require.Equal(t, Info, r.Findings[0].Severity)
	require.Equal(t, "write zones: [a]", r.Findings[0].Fix)
	holds(t, r.Findings[0])
	require.Empty(t, linted(t, Options{}, sound+strings.Replace(cluster3, "region: eu}", "region: eu, zones: [a]}", 1)).Findings)
}

// A scenario is about what its timeline loses: a placement that cannot be satisfied then is found, unless an expectation says so.
func TestWhatATimelineLosesIsLost(t *testing.T) {
	of := func(timeline, expect string) string {
		return "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: s}\nspec: {fleet: [{name: 'e{1..2}', region: eu}, {name: u1, region: us}], timeline: [" + timeline + "], expect: [" + expect + "]}\n---\n"
	}
	pinned := func(names string) string {
		return strings.Replace(sound+"---\n"+fault(t, "LW013")[:strings.Index(fault(t, "LW013"), "---")], "placement:\n", "placement:\n    clusterAffinity: {clusterNames: ["+names+"]}\n", 1)
	}
	const held = "{at: 1m, taint: {cluster: e1, key: k, present: false}}"
	for text, want := range map[string][]string{
		of("{at: 5m, outage: {cluster: e1, kind: power}}", held) + pinned("e1"):                                                                                           {"LW015"},
		of("{at: 5m, outage: {cluster: u1, kind: power}}", held) + pinned("e1"):                                                                                           nil,
		of("{at: 5m, outage: {cluster: e1, kind: power}}", held) + pinned("e1, u1"):                                                                                       nil,
		of("{at: 5m, outage: {cluster: {region: eu}, kind: network}}", held) + pinned("e1, e2"):                                                                           {"LW016"},
		of(`{at: 5m, condition: {cluster: "e{1..2}", type: Ready, status: "False"}}`, held) + pinned("e1, e2"):                                                            {"LW016"},
		of(`{at: 5m, condition: {cluster: e1, type: Ready, status: "False"}}, {at: 5m, condition: {cluster: e2, type: Ready, status: Unknown}}`, held) + pinned("e1, e2"): {"LW016"},
		of(`{at: 5m, condition: {cluster: e1, type: Disk, status: "False"}}`, held) + pinned("e1"):                                                                        nil,
		of("{at: 5m, outage: {cluster: e1, kind: power}}", "{at: 9m, event: {kind: EvictionBlocked}}") + pinned("e1"):                                                     nil,
		of("{at: 4m, label: {cluster: u1, labels: {a: b}}}, {at: 5m, outage: {cluster: e1, kind: power}}", held) + pinned("e1"):                                           nil,
	} {
		r := linted(t, Options{}, text)
		require.Equal(t, want, idsOf(r), text)
		for _, f := range r.Findings {
			require.Equal(t, Info, f.Severity)
			require.Contains(t, f.Why, "at 5m")
			holds(t, f)
		}
	}
}

func TestAnAnnotationSuppressesRules(t *testing.T) {
	text := fault(t, "LW001")
	for value, suppressed := range map[string]int{"LW001": 1, "LW003, lw001": 1, "overlapping-conditions": 1, "LW002": 0} {
		r := linted(t, Options{}, strings.Replace(text, "{name: overlap}", `{name: overlap, annotations: {leeward.dev/lint-ignore: "`+value+`"}}`, 1))
		require.Equal(t, suppressed, r.Suppressed, value)
		require.Len(t, r.Findings, 1-suppressed, value)
	}
}

// The annotation of a scenario is about it and what belongs to it; another scenario with the same object still has its findings.
func TestAScenarioSuppressesRulesOfItsOwn(t *testing.T) {
	for _, id := range []string{"LW018", "LW020"} {
		text := strings.Replace(fault(t, id), "metadata: {name: ", `metadata: {annotations: {leeward.dev/lint-ignore: "`+id+`"}, name: `, 1)
		r := linted(t, Options{}, text)
		require.NotContains(t, idsOf(r), id)
		require.Equal(t, 1, r.Suppressed)
	}
	of := func(name, ignored string) string {
		return "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: " + name + ", annotations: {leeward.dev/lint-ignore: '" + ignored + "'}}\nspec: {fleet: [{name: m1}], expect: [{at: 1m, taint: {cluster: m1, key: k, present: false}}]}\n---\n"
	}
	broken := fault(t, "LW001")
	require.Equal(t, []string{"LW001"}, idsOf(linted(t, Options{}, of("a", "")+broken)))
	require.Empty(t, linted(t, Options{}, of("a", "LW001")+broken).Findings)
	require.Empty(t, linted(t, Options{}, of("a", "LW001")+of("b", "overlapping-conditions")+broken).Findings)
	require.Equal(t, []string{"LW001"}, idsOf(linted(t, Options{}, of("a", "LW001")+of("b", "LW002")+broken)))
	require.Equal(t, []string{"LW001"}, idsOf(linted(t, Options{}, of("b", "LW002")+of("a", "LW001")+broken)))
}

// An object that several scenarios include is at fault for settings only where all of them have it so.
func TestWhatOneScenarioOfAFileUsesIsNotIdle(t *testing.T) {
	of := func(name, profile string) string {
		return "apiVersion: leeward.dev/v1alpha1\nkind: Scenario\nmetadata: {name: " + name + "}\nspec: {profile: " + profile + ", fleet: [{name: 'm{1..3}'}], expect: [{at: 1m, taint: {cluster: m1, key: k, present: false}}]}\n---\n"
	}
	require.Equal(t, []string{"LW020"}, idsOf(linted(t, Options{}, of("a", "karmada")+sound)))
	require.Empty(t, linted(t, Options{}, of("a", "karmada")+of("b", "leeward")+sound).Findings)
}

// TestFindingsAreBounded: a fleet with the same fault in each of many objects.
func TestFindingsAreBounded(t *testing.T) {
	var text strings.Builder
	one := fault(t, "LW003")
	for i := range mostOfRule + 50 {
		fmt.Fprintf(&text, "---\n%s\n", strings.NewReplacer("never-removed", fmt.Sprintf("p%d", i), "broken", fmt.Sprintf("k%d", i)).Replace(one))
	}
	r := linted(t, Options{}, text.String())
	require.Len(t, r.Findings, mostOfRule)
	require.Equal(t, 50, r.Omitted)
}

// A report has so many findings, whichever rules have them: the others are counted.
func TestAReportIsBounded(t *testing.T) {
	r := &reporter{report: &Report{}, seen: map[key]*seen{}}
	const each = mostOfRule - 10
	for i := range rules {
		r.rule = &rules[i]
		for n := range each {
			r.add(found{line: &line{"f.yaml", fmt.Sprintf("Scenario s%d", n), n}, why: "w", fix: "f"})
		}
	}
	r.judge()
	require.Greater(t, len(rules)*each, mostFindings)
	require.Len(t, r.report.Findings, mostFindings)
	require.Equal(t, len(rules)*each-mostFindings, r.report.Omitted)
	r.rule = &rules[0]
	for n := range mostFindings*len(rules) + 50 {
		r.add(found{line: &line{"g.yaml", fmt.Sprintf("Scenario s%d", n), n}, why: "w", fix: "f"})
	}
	require.Len(t, r.order, mostFindings*len(rules), "and no more are kept on the way")
}

func TestFilesThatDefineTheSameObjectAreEachAFleet(t *testing.T) {
	source, files := memory([]string{sound, sound})
	fleets, apart, problems := Read(source, files)
	require.Empty(t, problems)
	require.True(t, apart)
	require.Len(t, fleets, 2)
}

func TestTheOutputs(t *testing.T) {
	r := linted(t, Options{}, fault(t, "LW001"), fault(t, "LW011"), fault(t, "LW003"))
	for name, write := range map[string]func(*bytes.Buffer) error{
		"report.txt":    func(b *bytes.Buffer) error { return WriteText(b, r) },
		"report.sarif":  func(b *bytes.Buffer) error { return WriteSARIF(b, r) },
		"report.github": func(b *bytes.Buffer) error { return WriteGitHub(b, r) },
		"rules.txt":     func(b *bytes.Buffer) error { return WriteRules(b) },
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		golden(t, name, out.String())
	}
	name, text, err := r.Findings[0].Witness()
	require.NoError(t, err)
	golden(t, name+".yaml", text)
}

// A report without findings is SARIF, too: results is a list, and each result names a rule of the driver.
func TestSARIFNamesItsRules(t *testing.T) {
	for _, r := range []*Report{linted(t, Options{}, sound), linted(t, Options{}, fault(t, "LW011"))} {
		var out bytes.Buffer
		require.NoError(t, WriteSARIF(&out, r))
		var log struct {
			Version string
			Runs    []struct {
				Tool struct {
					Driver struct{ Rules []struct{ ID string } }
				}
				Results []struct {
					RuleID    string
					RuleIndex int
					Level     string
				}
			}
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &log))
		require.Equal(t, "2.1.0", log.Version)
		require.Len(t, log.Runs, 1)
		require.NotNil(t, log.Runs[0].Results)
		require.Len(t, log.Runs[0].Results, len(r.Findings))
		for _, result := range log.Runs[0].Results {
			require.Equal(t, result.RuleID, log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID)
			require.Contains(t, []string{"error", "warning", "note"}, result.Level)
		}
	}
}

// An annotation of GitHub is one line, whatever names hold.
func TestAnAnnotationOfGitHubIsOneLine(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, WriteGitHub(&out, &Report{Findings: []*Finding{{Rule: "LW001", Severity: Error, File: "a,b:c.yaml", Line: 1, Why: "x\n::error::y"}}}))
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "file=a%2Cb%3Ac.yaml,line=1")
}
