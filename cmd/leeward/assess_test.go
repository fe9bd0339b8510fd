package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	pages "leeward/runtime/report/page"
	"leeward/runtime/report/viewer"
	"leeward/runtime/scenario/assess"
)

// weak is a fleet with weaknesses, from the folder of the repository.
const weak = "docs/examples/fleet.yaml"

// assessedAs runs the command in the folder of the repository.
func assessedAs(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	require.Equal(t, code, execute(append([]string{"assess"}, args...), &out, &log), log.String())
	return out.String(), log.String()
}

func TestEveryLineThatIsAPredictionSaysSo(t *testing.T) {
	t.Chdir("../..")
	out, _ := assessedAs(t, 0, "-f", weak, "-o", "wide")
	for line := range strings.Lines(out) {
		for _, word := range []string{"losing ", "would ", "never", "affected"} {
			if strings.Contains(line, word) {
				require.Contains(t, line, "predicted: ")
			}
		}
	}
	out, _ = assessedAs(t, 0, "-f", weak, "-o", "json")
	var all map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Equal(t, true, all["prediction"])
}

func TestAssessWritesItsPageAlone(t *testing.T) {
	text := read(t, "../../"+weak)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("fleet.yaml", []byte(text), 0o400))
	_, log := assessedAs(t, 0, "-f", "fleet.yaml", "--html", "page.html")
	require.Equal(t, "wrote page.html\n", log)
	require.Len(t, filesOfTree(t, "."), 2)
	var report pages.Assessment
	page := read(t, "page.html")
	dataOf(t, page, "report", &report)
	require.Equal(t, "leeward assess -f fleet.yaml --seed 1 --kind power --startup 30s", report.Command)
	require.Equal(t, "leeward what-if -f fleet.yaml --seed 1 --kind power --startup 30s --lose", report.Losing)
	require.NotEmpty(t, report.Lanes)
	for i, name := range report.Lanes {
		var lanes viewer.Document
		dataOf(t, page, fmt.Sprint("run-", i), &lanes)
		run := lanes.Runs[0]
		o := report.Assessment.Contingencies[slices.IndexFunc(report.Assessment.Contingencies, func(o *assess.Outcome) bool { return o.Name == name })]
		require.True(t, run.Prediction)
		require.Equal(t, name, run.Name)
		started := 0
		for _, kind := range run.Facts.Kind {
			if run.Strings[kind] == "EvictionStarted" {
				started++
			}
		}
		require.GreaterOrEqual(t, started, o.Evicted.Workloads, "the lanes of %s show what it says", name)
	}
}

// dataOf reads what a page has in a block.
func dataOf(t *testing.T, page, id string, into any) {
	t.Helper()
	_, text, found := strings.Cut(page, `id="`+id+`">`)
	require.True(t, found, id)
	text, _, _ = strings.Cut(text, "<")
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(packed).Decode(into))
}

func TestAssessExitsByWhatItIsToFailOn(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{0, "-f " + weak, ""},
		{0, "-f " + weak + " --fail-on zone", ""},
		{1, "-f " + weak + " --fail-on cluster", "--fail-on cluster: predicted of 1 loss; the worst: cluster us-1"},
		{1, "-f " + weak + " --fail-on cluster:down", "--fail-on cluster:down: predicted of 2 losses; the worst: cluster us-1"},
		{0, "-f " + weak + " --fail-on any:overflow", ""},
		{2, "-f " + weak + " --fail-on cluster:gone", `--fail-on "cluster:gone": must be one of cluster,`},
		{1, "-f " + weak + " --fail-on zone,any", "the worst: region eu"},
		{1, "-f " + weak + " --pairs --fail-on pair", "--fail-on pair: "},
		{2, "-f " + weak + " --fail-on pair", "--fail-on pair needs --pairs"},
		{2, "-f " + weak + " --fail-on moon", `--fail-on "moon": must be one of cluster, zone, region, provider, pair, any`},
		{2, "", "name files with -f"},
		{2, "-f docs/examples/web.yaml", "holds no Cluster"},
		{2, "-f " + weak + " --set evictionWorkers=many", "evictionWorkers"},
		{2, "-f nowhere.yaml", "nowhere.yaml"},
	} {
		_, log := assessedAs(t, c.code, strings.Fields(c.args)...)
		require.Contains(t, log, c.says, c.args)
	}
}

func TestWhatAssessFailsOnMayBeSaidInFull(t *testing.T) {
	f, err := parseFailOn("any single region:overflow")
	require.NoError(t, err)
	require.Equal(t, failCondition{"region", failOverflow}, f)
	o := &assess.Outcome{Overflows: make([]assess.Overflow, 1)}
	o.Kind, o.Of = "region", []string{"eu"}
	require.True(t, f.met(o))
	o.Of = []string{"eu", "us"}
	require.False(t, f.met(o), "it is a pair")
	require.False(t, failCondition{failPair, failDown}.met(o))
	require.True(t, failCondition{failAny, failOverflow}.met(o))
}

func FuzzFailOn(f *testing.F) {
	f.Add("any single cluster:down")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseFailOn(text)
		if err == nil {
			require.Contains(t, failWords(), c.word)
			require.Contains(t, failWhat, c.what)
		}
	})
}
