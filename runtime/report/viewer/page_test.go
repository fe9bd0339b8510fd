package viewer

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/replay"
)

// mostBytes is how large the viewer may be, compressed.
const mostBytes = 60 << 10

// packed is how many bytes texts have when they are compressed together.
func packed(t *testing.T, texts ...string) int {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	require.NoError(t, err)
	for _, text := range texts {
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Len()
}

// TestTheViewerIsSmall holds the pages of runs, of reports and of the live fleet to one bound, together.
func TestTheViewerIsSmall(t *testing.T) {
	runs := packed(t, head(), script())
	live := packed(t, read("live.html"), lean("viewer.css"), lean("live.css"), joined(liveModules))
	var own []string
	for _, name := range liveModules {
		if !slices.Contains(modules, name) {
			own = append(own, name)
		}
	}
	all := runs + packed(t, read("live.html"), lean("live.css"), joined(own))
	t.Logf("compressed: %d bytes of the page of runs and reports, %d of the live page, %d of both together", runs, live, all)
	require.Less(t, all, mostBytes)
}

func TestModulesAreJoinedInOrder(t *testing.T) {
	found, err := filepath.Glob("*.js")
	require.NoError(t, err)
	every := slices.Concat(modules, liveModules)
	slices.Sort(every)
	require.ElementsMatch(t, slices.Compact(every), found)
	declared := regexp.MustCompile(`(?m)^(?:export )?(?:async )?(?:function|class|const|let) (\w+)`)
	imported := regexp.MustCompile(`from '\./([a-z]+\.js)'`)
	for _, modules := range [][]string{modules, liveModules} {
		names := map[string]string{}
		for i, name := range modules {
			for _, m := range declared.FindAllStringSubmatch(read(name), -1) {
				require.NotContains(t, names, m[1], "%s and %s have the same name", names[m[1]], name)
				names[m[1]] = name
			}
			for _, m := range imported.FindAllStringSubmatch(read(name), -1) {
				at := slices.Index(modules, m[1])
				require.True(t, at >= 0 && at < i, "%s imports %s, which comes after it", name, m[1])
			}
		}
		script := joined(modules)
		require.NotRegexp(t, `(?m)^(import|export)\b`, script)
		require.NotContains(t, strings.ToLower(script), "</script", "nor what would end it")
		require.NotContains(t, script, "<!--")
	}
}

// TestAModuleIsSentWithoutItsComments holds modules to what that rests on: each text ends in its line.
func TestAModuleIsSentWithoutItsComments(t *testing.T) {
	for _, name := range slices.Concat(modules, liveModules) {
		for i, line := range strings.Split(read(name), "\n") {
			require.Zero(t, strings.Count(line, "`")%2, "%s:%d", name, i+1)
		}
		require.NotRegexp(t, `(?m)^[ \t]|@typedef`, lean(name), name)
		require.Equal(t, strings.Count(read(name), "{\n"), strings.Count(lean(name), "{\n"), "no code of %s is missing", name)
	}
}

func TestThePageKnowsEveryKindOfBars(t *testing.T) {
	var known []timeline.Kind
	for _, m := range regexp.MustCompile(`(?m)^  (\w+): \{ words: `).FindAllStringSubmatch(read("paint.js"), -1) {
		known = append(known, timeline.Kind(m[1]))
	}
	require.Equal(t, timeline.Kinds(), known, "in the same order")
}

// nothing is what a page may not do: load, or make markup or code of text.
var nothing = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|XMLHttpRequest|WebSocket|EventSource|fetch\(|https?://|url\(|@import`)

func TestTheViewerAsksForNothing(t *testing.T) {
	require.Empty(t, nothing.FindString(script()))
	require.Empty(t, nothing.FindString(read("viewer.css")))
}

// replaced are words that docs/glossary.md has another word for.
var replaced = regexp.MustCompile(`(?i)\b(leaves|leaving|will leave|may stay|hand-over|homeless|unplaced|bears|at once|nobody|somebody|people|whoever|is to|stands|room|grounds|foresight|held back)\b`)

func TestThePageUsesTheWordsOfTheGlossary(t *testing.T) {
	require.Empty(t, replaced.FindString(script()))
}

// pageOf writes a page, and reads it as a browser does.
func pageOf(t *testing.T, runs ...*replay.Run) (text string, root *html.Node) {
	t.Helper()
	var out strings.Builder
	p := &Page{W: &out}
	for _, r := range runs {
		require.NoError(t, p.Add(r))
	}
	require.NoError(t, p.Close())
	root, err := html.Parse(strings.NewReader(out.String()))
	require.NoError(t, err)
	return out.String(), root
}

// elements counts the elements of a page by name.
func elements(root *html.Node) map[string]int {
	count := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			count[n.Data]++
		}
	}
	return count
}

// block decodes data of a page.
func block(t *testing.T, root *html.Node, id string, into any) {
	t.Helper()
	for n := range root.Descendants() {
		if n.Data != "script" || !slices.Contains(n.Attr, html.Attribute{Key: "id", Val: id}) {
			continue
		}
		packed, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(n.FirstChild.Data)))
		require.NoError(t, err)
		d := json.NewDecoder(packed)
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(into))
		return
	}
	t.Fatalf("there is no block %s", id)
}

func TestAPageHoldsItsRuns(t *testing.T) {
	_, root := pageOf(t, outage(), ran())
	var d Document
	block(t, root, "run-0", &d)
	require.Equal(t, Format, d.Format)
	require.Equal(t, Of(outage()).Facts, d.Runs[0].Facts)
	var index []entry
	block(t, root, "index", &index)
	require.Len(t, index, 2)
	require.Equal(t, entry{Name: "a-run", File: "a.yaml", Seed: 7, Profile: "leeward", Failed: 1, Expected: 1, Workloads: 2, Clusters: 2, Nodes: 1, Pods: 1, End: 600_000}, index[0])
	require.Equal(t, map[string]int{"html": 1, "head": 1, "meta": 5, "title": 1, "style": 1, "body": 1, "noscript": 1, "leeward-viewer": 1, "script": 4}, elements(root))
}

func TestThePolicyAllowsTheScriptAndTheStyleAlone(t *testing.T) {
	text, root := pageOf(t, outage())
	require.Contains(t, text, `content="default-src 'none'; script-src '`+hash(script())+`'; style-src '`+hash(lean("viewer.css"))+`';`)
	require.NotContains(t, text, "unsafe")
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "script" && slices.Contains(n.Attr, html.Attribute{Key: "type", Val: "module"}) {
			require.Equal(t, hash(script()), hash(n.FirstChild.Data), "what a browser hashes is what was hashed")
		}
		if n.Type == html.ElementNode && n.Data == "style" {
			require.Equal(t, hash(lean("viewer.css")), hash(n.FirstChild.Data))
		}
	}
}

// hostile is a run whose every word tries to be markup.
func hostile(name, text, reason string) *replay.Run {
	r := ran(
		happening{0, &messages.Scheduled{Binding: messages.BindingName(name), Clusters: []api.TargetCluster{{Name: text, Replicas: 1}}, Trigger: reason}},
		happening{time.Second, &messages.TaintAdded{Cluster: messages.ClusterName(text), Taint: corev1.Taint{Key: text, Effect: corev1.TaintEffectNoExecute}, Cause: api.TaintCause{By: reason}}},
		happening{time.Minute, &messages.EvictionStarted{Binding: messages.BindingName(name), Cluster: messages.ClusterName(text), Grounds: messages.Grounds{Reason: reason}}},
		happening{time.Hour, &messages.ScheduleFailed{Binding: messages.BindingName(name), Reason: reason, Message: text}},
		happening{time.Hour, &messages.NodeRegistered{Node: messages.NodeName(text), Zone: messages.ZoneName(reason), Taints: []corev1.Taint{{Key: text, Value: reason}}}},
		happening{time.Hour, &messages.PodCreated{Pod: messages.PodName(name), Owner: messages.OwnerName(reason), Node: messages.NodeName(text)}},
		happening{time.Hour, &messages.PodUnschedulable{Pod: messages.PodName(name), Message: text}},
		happening{time.Hour, &messages.PodEvictionBlocked{Pod: messages.PodName(name), Node: messages.NodeName(text), Budget: messages.PodBudgetName(reason), Error: text}},
	)
	r.Name, r.Description, r.File, r.Profile, r.Repeat, r.Err = name, text, text, reason, reason, errors.New(reason)
	c := &api.Cluster{}
	c.Name, c.Spec.Region = text, reason
	r.Objects = []api.Object{c}
	r.Expect(replay.ExpectationResult{Text: text, Reason: reason})
	return r
}

const image, breakout = `<img src=x onerror="document.title='owned'">`, `</script><script>document.title='owned'</script>`

// TestPagesForABrowser writes the pages that .ci/viewer opens in a browser; without LEEWARD_PAGES it only makes them.
func TestPagesForABrowser(t *testing.T) {
	dir := os.Getenv("LEEWARD_PAGES")
	if dir == "" {
		dir = t.TempDir()
	}
	for name, runs := range map[string][]*replay.Run{"hostile.html": {hostile(image, breakout, `"><svg onload=alert(1)>`)}, "none.html": nil, "two.html": {hostile("a", breakout, image), outage()}} {
		text, root := pageOf(t, runs...)
		require.Zero(t, elements(root)["img"]+elements(root)["svg"])
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

func FuzzWordsOfUsers(f *testing.F) {
	f.Add("web", "nginx is on m1", "link lost")
	f.Add(image, breakout, "]]>")
	f.Add("\xff", "\u2028", "\x00")
	f.Add("web", "", "no words")
	f.Fuzz(func(t *testing.T, name, text, reason string) {
		var out strings.Builder
		require.NoError(t, (&Page{W: &out, begun: true}).Add(hostile(name, text, reason)))
		written := out.String()
		require.Equal(t, 2, strings.Count(written, "<"), "one element, whatever its words")
		root, err := html.Parse(strings.NewReader(written))
		require.NoError(t, err)
		var d Document
		block(t, root, "run-0", &d)
		require.Len(t, d.Runs[0].Workloads, 1)
		require.Len(t, d.Runs[0].Nodes, 1)
		require.Equal(t, text != "", len(d.Runs[0].Pods[0].Nodes) == 1, "a pod without the name of a node is on none")
	})
}

var errFull = errors.New("disk full")

// full has space for so many writes.
type full struct{ writes int }

func (w *full) Write(p []byte) (int, error) {
	if w.writes--; w.writes < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestAFullDiskIsToldWhereverItHappens(t *testing.T) {
	for writes := range 8 {
		w := &full{writes}
		p := &Page{W: w}
		require.ErrorIs(t, errors.Join(p.Add(outage()), p.Close()), errFull, "after %d writes", writes)
	}
	require.ErrorIs(t, (&JSON{W: &full{}}).Add(outage()), errFull)
	require.ErrorIs(t, (&JSON{W: &full{}}).Close(), errFull)
}
