package viewer

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// happening is a fact and when it happened.
type happening struct {
	at   time.Duration
	fact messages.Fact
}

// ran is a run in which facts happened.
func ran(happenings ...happening) *replay.Run {
	j := journal.New(start)
	for _, h := range happenings {
		j.Append(start.Add(h.at), messages.Address{}, h.fact)
	}
	return &replay.Run{Name: "a-run", File: "a.yaml", Seed: 7, Profile: "leeward", Passed: true, Start: start, Events: j.Entries()}
}

func on(names ...string) []api.TargetCluster {
	targets := make([]api.TargetCluster, len(names))
	for i, n := range names {
		targets[i] = api.TargetCluster{Name: n, Replicas: 2}
	}
	return targets
}

// outage is a run in which d/web is evicted from m1 to m2, which has no capacity for all of it; d/quiet is calm.
func outage() *replay.Run {
	seconds := int64(60)
	down := corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute}
	why := messages.Grounds{Reason: "TaintUntolerated", Taint: &down, Cause: &api.TaintCause{Policy: "p", Because: "Ready=False"},
		Toleration: &corev1.Toleration{Key: "down", TolerationSeconds: &seconds}, Deadline: start.Add(6 * time.Minute)}
	r := ran(
		happening{0, &messages.Scheduled{Binding: "d/quiet", Clusters: on("m2"), Trigger: "first placement"}},
		happening{0, &messages.Scheduled{Binding: "d/web", Clusters: on("m1"), Trigger: "first placement"}},
		happening{0, &messages.CopyStarted{Binding: "d/web", Cluster: "m1", Replicas: 2}},
		happening{time.Second, &messages.AvailabilityChanged{Binding: "d/web", Cluster: "m1", Available: 2}},
		happening{5 * time.Minute, &messages.ConditionChanged{Cluster: "m1", Type: "Ready", Status: "False"}},
		happening{5 * time.Minute, &messages.TaintAdded{Cluster: "m1", Taint: down, Cause: *why.Cause}},
		happening{5 * time.Minute, &messages.EvictionScheduled{Binding: "d/web", Cluster: "m1", Grounds: why}},
		happening{6 * time.Minute, &messages.EvictionsPermitted{Permits: []messages.Permit{{Binding: "d/web", Cluster: "m1"}}}},
		happening{6 * time.Minute, &messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: why}},
		happening{6 * time.Minute, &messages.ScheduleFailed{Binding: "d/web", Reason: "NoClusterFit", Missing: 2,
			Rejections: []messages.Rejection{{Reason: "untolerated taint", Clusters: []messages.ClusterName{"m1"}}}}},
		happening{7 * time.Minute, &messages.Scheduled{Binding: "d/web", Clusters: on("m2"), Trigger: messages.TriggerEviction}},
		happening{8 * time.Minute, &messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedHealthy}},
		happening{9 * time.Minute, &messages.GovernorChanged{State: "Normal"}},
		happening{9 * time.Minute, &messages.Restarted{}},
		happening{9 * time.Minute, &messages.PodEvicted{Pod: "d/web-1", Node: "n1"}},
		happening{9 * time.Minute, &messages.NodeDeleted{Node: "n1"}},
	)
	r.Description, r.Repeat, r.Line = "An outage.", "leeward replay a.yaml", 3
	r.Objects = []api.Object{cluster("m1", "eu", "4"), cluster("m2", "us", "8")}
	r.Expect(replay.ExpectationResult{Text: "d/web runs on m1", At: 600, Reason: "it runs on m2"})
	return r
}

func cluster(name, region, cpu string) *api.Cluster {
	c := &api.Cluster{}
	c.Name, c.Spec.Region, c.Spec.Provider, c.Spec.Zones = name, region, "p1", []string{"a"}
	c.Status.ResourceSummary = &api.ResourceSummary{Allocatable: corev1.ResourceList{corev1.ResourceCPU: quantity(cpu)}}
	return c
}

// words are the texts of places.
func words(r *Run, places []int) []string {
	list := make([]string, len(places))
	for i, p := range places {
		list[i] = r.Strings[p]
	}
	return list
}

// documented are the fields of docs/viewer-data.md.
func documented(t *testing.T) []string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/viewer-data.md")
	require.NoError(t, err)
	runs, _, found := strings.Cut(string(page), "\n## The live picture\n") // of which package picture checks the fields
	require.True(t, found)
	var fields []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(runs, -1) {
		fields = append(fields, m[1])
	}
	slices.Sort(fields)
	return fields
}

// fieldsOf are the paths of all fields of a type, where a track, a bar and a part are told once.
func fieldsOf(t reflect.Type, path string) (fields []string) {
	switch {
	case t.Kind() == reflect.Pointer:
		return fieldsOf(t.Elem(), path)
	case t == reflect.TypeFor[Track]() && path != "runs[].clusters[].tracks[]":
		return nil // as the tracks of clusters
	case t == reflect.TypeFor[Bar]() || t == reflect.TypeFor[[]Part]():
		return nil
	case t.Kind() == reflect.Slice:
		return append([]string{path + "[]"}, fieldsOf(t.Elem(), path+"[]")...)
	case t.Kind() != reflect.Struct:
		return nil
	}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := strings.TrimPrefix(path+"."+name, ".")
		if k := f.Type.Kind(); k != reflect.Slice && k != reflect.Struct {
			fields = append(fields, at)
		}
		fields = append(fields, fieldsOf(f.Type, at)...)
	}
	return fields
}

func TestEveryFieldIsDocumented(t *testing.T) {
	want := fieldsOf(reflect.TypeFor[Document](), "")
	slices.Sort(want)
	require.Equal(t, want, documented(t), "the tables of docs/viewer-data.md")
	page, err := os.ReadFile("../../../docs/viewer-data.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "`format` is `"+Format+"`, `version` is 1.")
	require.Equal(t, 1, Version)
	for _, o := range []Outcome{Unschedulable, Blocked, Evicting, Scheduled, Unhealthy, Deleted, Evicted, Rescheduled, Unchanged} {
		require.Contains(t, string(page), "`"+string(o)+"`")
	}
}

func TestWhatIsWrittenIsWhatIsDocumented(t *testing.T) {
	var out strings.Builder
	j := &JSON{W: &out}
	require.NoError(t, j.Add(outage()))
	require.NoError(t, j.Add(ran()))
	require.NoError(t, j.Close())
	var written any
	require.NoError(t, json.Unmarshal([]byte(out.String()), &written))
	known := documented(t)
	var walk func(v any, path string)
	walk = func(v any, path string) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(inner, strings.TrimPrefix(path+"."+name, "."))
			}
		case []any:
			for _, inner := range v {
				walk(inner, path+"[]")
			}
		default:
			path = regexp.MustCompile(`(bars\[\]|reasons\[\]).*`).ReplaceAllString(path, "$1")
			path = regexp.MustCompile(`^runs\[\]\.(workloads|nodes|pods|governor|inputs).*(\.name|\.bars\[\])$`).ReplaceAllStringFunc(path, func(p string) string {
				if slices.Contains(known, p) {
					return p
				}
				return "runs[].clusters[].tracks[]" + p[strings.LastIndex(p, "."):]
			})
			require.Contains(t, known, path)
		}
	}
	walk(written, "")
}

func TestTheSameRunGivesTheSameBytes(t *testing.T) {
	write := func() (text, page string) {
		var a, b strings.Builder
		j, p := &JSON{W: &a}, &Page{W: &b}
		for _, w := range []interface {
			Add(*replay.Run) error
			Close() error
		}{j, p} {
			require.NoError(t, w.Add(outage()))
			require.NoError(t, w.Close())
		}
		return a.String(), b.String()
	}
	text, page := write()
	for range 20 {
		again, pageAgain := write()
		require.Equal(t, text, again)
		require.Equal(t, page, pageAgain)
	}
}

func TestWithoutARunTheDocumentIsEmpty(t *testing.T) {
	var out strings.Builder
	require.NoError(t, (&JSON{W: &out}).Close())
	require.Equal(t, `{"format":"leeward.dev/timeline","version":1,"runs":[]}`+"\n", out.String())
}
