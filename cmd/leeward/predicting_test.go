package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"leeward/messages/api"
)

// predicting are the commands that read a fleet and predict or explain, as they are asked about the example of a fleet, with their exit
// codes and the forms of their output.
var predicting = []struct {
	command, args string
	codes         []int
	forms         []string
}{
	{"assess", "", []int{0}, []string{"text", "wide", "json", "yaml"}},
	{"what-if", "--lose cluster=CLUSTER", []int{0, 1}, []string{"text", "wide", "json", "yaml"}},
	{"explain", "cluster CLUSTER", []int{0}, []string{"text", "wide", "json", "yaml"}},
	{"lint", "", []int{0, 1}, []string{"text", "json", "yaml", "sarif", "github"}},
	{"diff", "--set evictionWorkers=1..10", []int{0, 1}, []string{"text", "wide", "json", "yaml", "github"}},
	{"init", "", []int{0}, nil},
}

// filesOfTree are the files below a folder, with all that a write would change.
func filesOfTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() {
			return nil
		}
		info, err := e.Info()
		require.NoError(t, err)
		files[name] = info.Mode().String() + info.ModTime().String() + read(t, name)
		return nil
	}))
	return files
}

// filed writes objects as a dump and as an export.
func filed(t *testing.T, fleet []api.Object) (dump, export string) {
	t.Helper()
	var list, lines bytes.Buffer
	for i, o := range fleet {
		text, err := json.Marshal(o)
		require.NoError(t, err)
		if i > 0 {
			list.WriteString(",\n")
		}
		list.Write(text)
		lines.Write(append(text, '\n'))
		if i == 2 { // which a fleet has not
			lines.WriteString(`{"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": "e", "annotations": {"leeward.dev/expires": "x"}}}` + "\n\n")
		}
	}
	dir := t.TempDir()
	dump, export = filepath.Join(dir, "dump.json"), filepath.Join(dir, "export.jsonl")
	require.NoError(t, os.WriteFile(dump, []byte(`{"apiVersion": "v1", "kind": "List", "items": [`+list.String()+"]}\n"), 0o600))
	require.NoError(t, os.WriteFile(export, lines.Bytes(), 0o600))
	return dump, export
}

func TestEachCommandReadsEachSourceAndWritesNothing(t *testing.T) {
	t.Chdir("../..")
	fleet := runningFleet(t)
	server := servedFleet(t, fleet)
	dump, export := filed(t, fleet)
	kubeconfig := kubeconfigOf(t, server.URL())
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fleet.yaml"), []byte(read(t, weak)), 0o400))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "leewardd.yaml"), []byte("profile: leeward\n"), 0o400))
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	before := filesOfTree(t, dir)
	for source, from := range map[string]struct{ flags, cluster string }{
		"a scenario":  {"-f " + weak, "eu-1"},
		"a directory": {"-f " + dir, "eu-1"},
		"a dump":      {"-f " + dump, "eu-1"},
		"an export":   {"-f " + export, "eu-1"},
		"a recording": {"-f " + recordedFile, "member1"},
		"a server":    {"--kubeconfig " + kubeconfig, "eu-1"},
	} {
		if testing.Short() && source != "a server" { // files are read by one goroutine
			continue
		}
		for _, p := range predicting {
			t.Run(p.command+" of "+source, func(t *testing.T) {
				args := strings.Fields(p.command + " " + strings.ReplaceAll(p.args, "CLUSTER", from.cluster) + " " + from.flags)
				for _, form := range append([]string{""}, p.forms...) {
					var out, log bytes.Buffer
					if form != "" {
						form = "-o=" + form
					}
					require.Contains(t, p.codes, execute(append(slices.Clone(args), strings.Fields(form)...), &out, &log), log.String())
					require.NotEmpty(t, out.String())
				}
			})
		}
	}
	require.Equal(t, before, filesOfTree(t, dir), "no file is written")
	require.Empty(t, filesOfTree(t, temporary))
	require.Empty(t, server.Requests(), "nothing is written at the server")
}

// Absent are the fields that are null where there is no such answer.
var absent = []string{"availableAfterSeconds", "availableAfter", "firstDifferingDecision", "a", "b", "lowestAtSeconds", "busiestMinute", "samples"}

// nulls are the paths of a document that are null.
func nulls(at string, v any) (paths []string) {
	switch v := v.(type) {
	case nil:
		if !slices.Contains(absent, at[strings.LastIndexByte(at, '.')+1:]) {
			return []string{at}
		}
	case map[string]any:
		for name, field := range v { // order-free: they are counted
			paths = append(paths, nulls(at+"."+name, field)...)
		}
	case []any:
		for i := range v {
			paths = append(paths, nulls(fmt.Sprintf("%s[%d]", at, i), v[i])...)
		}
	}
	return paths
}

func TestListsAreNeverNullAndYAMLSaysWhatJSONSays(t *testing.T) {
	t.Chdir("../..")
	for _, p := range predicting {
		if !slices.Contains(p.forms, "yaml") {
			continue
		}
		for file, cluster := range map[string]string{weak: "eu-1", recordedFile: "member1", nginxFile: "member2", dumpFile: "member1"} {
			if p.command == "lint" || p.command == "diff" { // which read all scenarios of a file
				file, _, _ = strings.Cut(file, " ")
			}
			args := strings.Fields(p.command + " " + strings.ReplaceAll(p.args, "CLUSTER", cluster) + " -f " + file)
			var inJSON, inYAML, log bytes.Buffer
			code := execute(append(slices.Clone(args), "-o", "json"), &inJSON, &log)
			require.Contains(t, p.codes, code, "%s: %s", args, log.String())
			var all any
			require.NoError(t, json.Unmarshal(inJSON.Bytes(), &all))
			require.Empty(t, nulls("", all), "%s", args)
			require.Equal(t, code, execute(append(slices.Clone(args), "-o", "yaml"), &inYAML, &log))
			converted, err := yaml.YAMLToJSON(inYAML.Bytes())
			require.NoError(t, err)
			require.JSONEq(t, inJSON.String(), string(converted))
		}
	}
}

func TestAnEmptyListIsPrintedAsOne(t *testing.T) {
	type inner struct {
		Names []string `json:"names"`
	}
	type outer struct {
		Inner   inner   `json:"inner"`
		Pointed *inner  `json:"pointed"`
		None    *inner  `json:"none"`
		Several []inner `json:"several"`
		Omitted []int   `json:"omitted,omitempty"`
		hidden  []int
	}
	result := &outer{Pointed: &inner{}, Several: []inner{{}}}
	var out bytes.Buffer
	require.NoError(t, printed(&out, "json", result, nil))
	require.JSONEq(t, `{"inner": {"names": []}, "pointed": {"names": []}, "none": null, "several": [{"names": []}]}`, out.String())
	require.Nil(t, result.hidden)
	require.Error(t, printed(io.Discard, "text", result, func(io.Writer) error { return fs.ErrInvalid }))
}

func TestFilesOfAFleetAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range mostFiles + 1 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), nil, 0o600))
	}
	_, err := filesIn([]string{dir})
	require.ErrorContains(t, err, "more than 10000 files")
}

func TestFilesOfAFleetAreBoundedTogether(t *testing.T) {
	t.Chdir(t.TempDir())
	source := fromDisk(5 << 20)
	for _, file := range []string{"one.yaml", "two.yaml"} {
		require.NoError(t, os.WriteFile(file, make([]byte, 3<<20), 0o600))
	}
	for range 2 { // the second time it counts no more
		_, err := source.Read("one.yaml")
		require.NoError(t, err)
	}
	_, err := source.Read("two.yaml")
	require.ErrorContains(t, err, "larger than 5 MiB together")
}

func TestAnExportKeepsItsLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "export.jsonl")
	text := `{"metadata": {"annotations": {"leeward.dev/expires": "x"}}}` + "\n\n{\"a\": 1}\n{\"b\": 2}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	list, err := readManifests(file)
	require.NoError(t, err)
	lines := strings.Split(string(list), "\n")
	require.Equal(t, []string{`{"a": 1}`, `,{"b": 2}`}, lines[2:4])
	require.True(t, json.Valid(list))
}

func TestLintNamesTheObjectsOfAServer(t *testing.T) {
	t.Chdir("../..")
	server := servedFleet(t, runningFleet(t))
	_, files, _ := at(t, server, "lint -f "+weak)
	require.Empty(t, files, "not both")
	code, live, problems := at(t, server, "lint")
	require.Contains(t, []int{0, 1}, code, problems)
	require.Contains(t, live, "PropagationPolicy/pay/billing: ")
	require.NotContains(t, live, server.URL())
	dir := t.TempDir()
	code, _, problems = at(t, server, "lint --witness "+dir)
	require.Contains(t, []int{0, 1}, code, problems)
	var replayed bytes.Buffer
	require.Zero(t, execute([]string{"replay", dir}, &replayed, io.Discard), "each finding has its witness: %s", &replayed)
	code, _, problems = at(t, server, "lint --fix")
	require.Equal(t, 2, code)
	require.Contains(t, problems, "--fix rewrites files")
	code, annotations, _ := at(t, server, "lint -o github")
	require.Contains(t, []int{0, 1}, code)
	require.NotContains(t, annotations, "file=")
	code, sarif, _ := at(t, server, "lint -o sarif")
	require.Contains(t, []int{0, 1}, code)
	require.NotContains(t, sarif, "physicalLocation")
	require.Contains(t, sarif, "logicalLocations")
}

func TestInitWritesOutAFleetThatNoFileHas(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time: the race detector has nothing to find")
	}
	t.Chdir("../..")
	fleet := runningFleet(t)
	server := servedFleet(t, fleet)
	_, export := filed(t, fleet)
	for _, from := range []string{"-f " + export, "--kubeconfig " + kubeconfigOf(t, server.URL()), "-f " + recordedFile} {
		file := filepath.Join(t.TempDir(), "first.yaml")
		var out, log bytes.Buffer
		require.Zero(t, execute(strings.Fields("init "+from+" --most 2 -o json --out "+file), &out, &log), log.String())
		var told struct {
			File         string
			Scenarios    []string
			Expectations int
		}
		require.NoError(t, json.Unmarshal(out.Bytes(), &told))
		require.Equal(t, file, told.File)
		require.NotEmpty(t, told.Scenarios)
		require.Positive(t, told.Expectations)
		out.Reset()
		require.Zero(t, execute([]string{"replay", file}, &out, &log), out.String()+log.String())
		for _, name := range told.Scenarios {
			require.Contains(t, out.String(), name)
		}
		require.NotContains(t, read(t, file), "resourceVersion")
	}
	var log bytes.Buffer
	require.Equal(t, 2, execute([]string{"init", "-f", weak, "-o", "json"}, io.Discard, &log))
	require.Contains(t, log.String(), "-o is for --out")
}

func TestDiffHoldsTheFleetOfAServerAgainstFiles(t *testing.T) {
	t.Chdir("../..")
	server := servedFleet(t, runningFleet(t))
	for line, code := range map[string]int{
		"diff -f docs/examples/fleet-policies.yaml --lose cluster=us-1":                                 1,
		"diff --with ..docs/examples/fleet-policies.yaml --lose cluster=us-1":                           1,
		"diff docs/examples/taint-policy.yaml docs/examples/fleet-policies.yaml --lose cluster=us-1":    1,
		"diff --with docs/examples/fleet-policies.yaml --set evictionWorkers=1..10 --lose cluster=us-1": 0,
	} {
		got, out, problems := at(t, server, line)
		require.Equal(t, code, got, line+": "+problems+out)
		require.Contains(t, out, "diff: A is the fleet of the server", line)
	}
	require.Empty(t, server.Requests(), "nothing is written at the server")
	server.Forbid("/apis/work.karmada.io/v1alpha2/resourcebindings")
	code, _, problems := at(t, server, "diff -f docs/examples/fleet-policies.yaml")
	require.Equal(t, 1, code)
	require.Contains(t, problems, "list resourcebindings of ")
}

func TestScenariosOfOneNameAreCompared(t *testing.T) {
	t.Chdir("../..")
	text := read(t, nginxFile)
	first := text[strings.Index(text, "apiVersion: leeward.dev"):]
	first, _, _ = strings.Cut(first, "\n---")
	_, rest, _ := strings.Cut(first, "\n  name: ")
	name, _, _ := strings.Cut(rest, "\n")
	second := strings.Replace(first, "name: "+name, "name: other", 1)
	require.NotEqual(t, first, second)
	dir := t.TempDir()
	write := func(file, text string) string {
		file = filepath.Join(dir, file)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	two := write("two.yaml", text+"---\n"+second)
	one := write("one.yaml", text)
	out, _ := differedAs(t, 0, two, two)
	require.Contains(t, out, "no difference: the outcomes and decisions of all 2 scenarios are the same")
	out, _ = differedAs(t, 1, two, one)
	require.Contains(t, out, "scenario other is in A only")
	out, _ = differedAs(t, 1, "-f", two, "--set", "gracefulEvictionTimeout=1s..10m", "--set", "keepLastCopy=false", "-o", "json")
	var all struct {
		Scenarios []struct{ Scenario string }
		Differ    bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all.Scenarios, 2)
	require.True(t, all.Differ)
	out, _ = differedAs(t, 1, "-f", two, "--set", "gracefulEvictionTimeout=1s..10m", "--set", "keepLastCopy=false", "-o", "github")
	require.Contains(t, out, "#### Scenario other: ")
	_, log := differedAs(t, 2, two, write("third.yaml", strings.Replace(text, "name: "+name, "name: third", 1)+"---\n"+strings.Replace(second, "other", "fourth", 1)))
	require.Contains(t, log, "no scenario has the same name on both sides")
}

func TestWhatTwoRecordingsDecidedIsCompared(t *testing.T) {
	t.Chdir("../..")
	const other = "scenarios/recordings/karmada-failover.jsonl"
	out, _ := differedAs(t, 1, recordedFile, other, "-o", "wide")
	require.Contains(t, out, "\nrecorded: default/nginx-deployment   eviction from ")
	for line := range strings.Lines(out) {
		require.False(t, strings.Contains(line, "eviction from") && strings.HasPrefix(line, "predicted: "), line)
	}
	out, _ = differedAs(t, 0, recordedFile, recordedFile)
	require.NotContains(t, out, "recorded: ")
	out, _ = differedAs(t, 1, recordedFile, other, "-o", "json")
	var all struct {
		RecordedEvictions []struct {
			Workload, Cluster, Verdict string
			A, B                       *struct{ AtSeconds float64 }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.NotEmpty(t, all.RecordedEvictions)
	for _, e := range all.RecordedEvictions {
		require.True(t, e.A != nil || e.B != nil)
	}
}
