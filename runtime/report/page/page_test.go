package page

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm"
)

const (
	ms    = storm.Seconds(time.Millisecond)
	image = `<img src=x onerror="document.title='owned'">`
	// breakout would end a script.
	breakout = `</script><script>document.title='owned'</script>`
)

// burst is a storm in which one of three clusters fails and four workloads move.
func burst(profile string) *storm.Report {
	stages := func(of storm.Seconds) []storm.Latency {
		return []storm.Latency{
			{Stage: storm.StageEvicted, Count: 4, P50: 2 * of, P90: 9 * of, P99: 90 * of, Mean: 5 * of, Max: 90 * of, Share: 0.25,
				Buckets: []storm.LatencyBucket{{From: of, To: 10 * of, Count: 3}, {From: 10 * of, To: 100 * of, Count: 1}}},
			{Stage: storm.StageReleased, Count: 4, P50: 50 * of, P90: 60 * of, P99: 90 * of, Mean: 20 * of, Max: 95 * of, Share: 0.75,
				Buckets: []storm.LatencyBucket{{From: 10 * of, To: 100 * of, Count: 4}}},
		}
	}
	return &storm.Report{
		Command: "leeward storm --clusters 3 -f " + breakout, Profile: profile, Set: []string{image}, Seed: 1, Lanes: 2, Setup: 3 * ms, Elapsed: 400 * ms, FleetTime: 30_000 * ms,
		Fleet: storm.Shape{Clusters: 3, Regions: 1, Bindings: 10, Replicas: 30}, Outage: storm.Outage{Pattern: "burst", Kill: "1", Failed: 1},
		Rates:     storm.Rates{Released: storm.Rate{Count: 4, PerSecond: 10, Peak: 20}, Held: 3},
		Latencies: stages(ms), FleetLatencies: stages(1000 * ms),
		Series: storm.Series{Interval: 100 * ms, Points: []storm.Point{
			{Evicted: 1, Backlog: 1}, {Evicted: 3, Placed: 4, Backlog: 4}, {Released: 2, Backlog: 2}, {Released: 2}}},
		Machines: []storm.MachineTime{{Kind: "binding", Messages: 1200, Time: 12 * ms, Share: 0.6}, {Kind: "scheduler", Messages: 1, Time: 8 * ms, Share: 0.4}},
		Costs:    storm.Costs{CPUPerFailover: 43_400, BytesPerFailover: 2900, GCs: 1, GCShare: 0.125, PeakMemory: 1_500_000},
		Load: []storm.ClusterLoad{
			{Cluster: "m1", Failed: true, Before: 10}, {Cluster: image, Region: "eu", Before: 10, After: 13}, {Cluster: "m3", Before: 10, After: 17}},
		Measured: &storm.Measured{System: "Karmada", First: ms, Last: 9 * ms, PerSecond: 1.5},
		Checks:   []storm.Check{{Name: "nothing is lost", Passed: true}, {Name: "every handover ended", Detail: breakout}},
	}
}

// weakFleet is an assessment of a fleet that does not survive the loss of eu.
func weakFleet() *assess.Assessment {
	after := span.Seconds(90 * time.Second)
	eu := assess.Contingency{Name: "region eu", Kind: "region", Of: []string{"eu"}, Clusters: []string{"eu-1", "eu-2"}}
	return &assess.Assessment{
		Prediction: true, Profile: "leeward", Seed: 1, Outage: messages.OutagePower, By: assess.ByNamespace,
		Fleet: assess.Shape{Clusters: 3, Regions: 2, Workloads: 4, Replicas: 12, Groups: 2},
		Contingencies: []*assess.Outcome{
			{Contingency: eu, Lost: assess.Count{Workloads: 3, Replicas: 9}, Evicted: assess.Count{Workloads: 1, Replicas: 3},
				Unavailable: assess.Count{Workloads: 1, Replicas: 2}, Lowest: 0.25, Unnamed: 2,
				Groups:    []assess.Share{{Group: "pay", Workloads: 1, Lowest: 0.5}, {Group: "shop", Workloads: 2, Unavailable: 1, Lowest: 0.1}, {Group: image, Workloads: 1, Lowest: 0.95}},
				Troubles:  []assess.Trouble{{Workload: "shop/" + image, Missing: 2, Kind: assess.Unschedulable, Reason: breakout}},
				Overflows: []assess.Overflow{{Cluster: "us-1", Resource: "cpu", Requested: "12", Has: "10"}}, Breakers: []string{"breaker fleet Open"}},
			{Contingency: assess.Contingency{Name: "provider p", Kind: "provider", Of: []string{"p"}, Clusters: eu.Clusters}, SameAs: "region eu",
				Lost: assess.Count{Workloads: 3}, Unavailable: assess.Count{Workloads: 1}, Lowest: 0.25},
			{Contingency: assess.Contingency{Name: "cluster eu-1", Kind: "cluster", Of: []string{"eu-1"}, Clusters: []string{"eu-1"}}, AvailableAfter: &after,
				Lost: assess.Count{Workloads: 1}, Lowest: 0.4, Groups: []assess.Share{{Group: "pay", Workloads: 1, Lowest: 1}, {Group: "shop", Workloads: 1, Lowest: 0.4}}},
			{Contingency: assess.Contingency{Name: "cluster us-1", Kind: "cluster", Of: []string{"us-1"}, Clusters: []string{"us-1"}}, Lowest: 1},
		},
		Advice: []assess.Advice{{Change: "add capacity", Where: []string{"policy web, fleet.yaml:12"}, Evidence: []string{breakout}, Workloads: []messages.BindingName{"shop/" + image}}},
	}
}

func compared() *shadow.Report {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ours := &shadow.Decision{At: at, By: "leewardd", Reason: breakout, Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}}}
	theirs := &shadow.Decision{At: at.Add(time.Minute), By: "karmada-scheduler", Reason: image}
	counts := shadow.Tally{Decisions: 1, Count: map[shadow.Verdict]int{shadow.Later: 1}, Faster: 1, Latest: time.Minute}
	return &shadow.Report{From: at, To: theirs.At, Tally: counts, Workloads: []*shadow.Summary{{Workload: "Deployment shop/" + image, Tally: counts, Examples: []*shadow.Comparison{
		{Verdict: shadow.Later, Kind: shadow.Eviction, Workload: "w", Pod: "p", UID: "u", Node: "n", Binding: "b", Cluster: "m2", Ours: ours, Theirs: theirs, Why: "why", LastCopy: true, Cancelled: true}}}}}
}

func losing() []*replay.Run {
	return []*replay.Run{{Name: "region eu", Profile: "leeward", Passed: true}}
}

// data is what a page has in a block.
func data(t *testing.T, page, id string, into any) {
	t.Helper()
	m := regexp.MustCompile(`id="` + id + `">([^<]*)<`).FindStringSubmatch(page)
	require.NotNil(t, m, id)
	packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(m[1])))
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(packed).Decode(into))
}

// TestPagesForABrowser writes the pages that .ci/viewer opens in a browser; without LEEWARD_PAGES it only makes them.
func TestPagesForABrowser(t *testing.T) {
	dir := os.Getenv("LEEWARD_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	pages := map[string]*strings.Builder{"storm.html": {}, "assess.html": {}, "shadow.html": {}}
	require.NoError(t, WriteStorm(pages["storm.html"], burst("leeward"), burst("karmada"), burst("karmada-legacy")))
	require.NoError(t, WriteAssessment(pages["assess.html"], &Assessment{Command: "leeward assess -f fleet.yaml", Losing: "leeward what-if -f fleet.yaml --lose", Assessment: weakFleet()}, losing()))
	require.NoError(t, WriteShadow(pages["shadow.html"], compared(), "comparisons.jsonl"))
	for name, page := range pages {
		require.NotContains(t, page.String(), "<img")
		require.Equal(t, strings.Count(page.String(), "<script"), strings.Count(page.String(), "</script>"))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(page.String()), 0o600))
	}
	var s Storm
	data(t, pages["storm.html"].String(), "report", &s)
	require.Equal(t, StormFormat, s.Format)
	require.Equal(t, []*storm.Report{burst("leeward"), burst("karmada"), burst("karmada-legacy")}, s.Storms)
	var a Assessment
	data(t, pages["assess.html"].String(), "report", &a)
	require.Equal(t, []string{"region eu"}, a.Lanes)
	require.Len(t, a.Assessment.Contingencies, 4)
	require.Equal(t, weakFleet().Contingencies[0], a.Assessment.Contingencies[0])
	var lane struct {
		Runs []struct {
			Prediction bool `json:"prediction"`
		} `json:"runs"`
	}
	data(t, pages["assess.html"].String(), "run-0", &lane)
	require.True(t, lane.Runs[0].Prediction, "and says so")
	var h Shadow
	data(t, pages["shadow.html"].String(), "report", &h)
	require.Equal(t, compared(), h.Report)
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsTold(t *testing.T) {
	require.ErrorIs(t, WriteStorm(full{}, burst("")), errFull)
	require.ErrorIs(t, WriteAssessment(full{}, &Assessment{Assessment: weakFleet()}, losing()), errFull)
	require.ErrorIs(t, WriteShadow(full{}, compared(), ""), errFull)
}

// TestEveryFieldIsDocumented reads the section of docs/viewer-data.md.
func TestEveryFieldIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/viewer-data.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(doc), "\n## Reports\n")
	require.True(t, found)
	known := map[reflect.Type]bool{}
	var read func(of reflect.Type)
	read = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			read(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if known[of] || of == reflect.TypeFor[time.Time]() || of == reflect.TypeFor[api.TargetCluster]() {
			return
		}
		known[of] = true
		for field := range of.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				require.Regexp(t, "[`.]"+name+"[`.[]", section, of.Name())
			}
			if field.IsExported() {
				read(field.Type)
			}
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Storm](), reflect.TypeFor[Assessment](), reflect.TypeFor[Shadow]()} {
		read(of)
	}
	require.Greater(t, len(known), 20, "all are read")
}
