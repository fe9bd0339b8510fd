package page

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// outage is a run in which a workload leaves a cluster, and one expectation fails.
func outage(name string) *replay.Run {
	j := journal.New(start)
	at := func(d time.Duration, f messages.Fact) { j.Append(start.Add(d), messages.Address{}, f) }
	down := corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute}
	at(0, &messages.ObjectApplied{Object: "Cluster calm", Created: true})
	at(0, &messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m1", Replicas: 2}}})
	at(0, &messages.Scheduled{Binding: "d/quiet", Clusters: []api.TargetCluster{{Name: "m2", Replicas: 1}}})
	at(5*time.Minute, &messages.TaintAdded{Cluster: "m1", Taint: down, Cause: api.TaintCause{By: "<people>"}})
	at(5*time.Minute, &messages.EvictionStarted{Binding: "d/web", Cluster: "m1", Grounds: messages.Grounds{Taint: &down}})
	at(5*time.Minute, &messages.Scheduled{Binding: "d/web", Clusters: []api.TargetCluster{{Name: "m2", Replicas: 2}}})
	at(6*time.Minute, &messages.EvictionEnded{Binding: "d/web", Cluster: "m1", Reason: messages.EndedHealthy, After: time.Minute})
	return &replay.Run{
		Name: name, Description: "One & only.", File: "a.yaml", Profile: "leeward", Seed: 7, Start: start, Events: j.Entries(),
		Expectations: []replay.ExpectationResult{
			{Text: "web runs on m2", Passed: true, At: 300},
			{Text: "never EvictionStarted", At: 300, Reason: "at 5m d/web left m1"},
		},
		Repeat: "leeward replay a.yaml --seed 7",
	}
}

// pageOf writes runs as a page and reads it back.
func pageOf(t *testing.T, many bool, runs ...*replay.Run) document {
	t.Helper()
	var out strings.Builder
	p := &Replay{W: &out, Many: many}
	for _, r := range runs {
		require.NoError(t, p.Add(r))
	}
	require.NoError(t, p.Close())
	return parse(t, out.String())
}

func TestARunIsOnePage(t *testing.T) {
	d := pageOf(t, false, outage("web-leaves"))
	require.Equal(t, []string{"Leeward replay"}, d.texts("head > title"))
	require.Equal(t, []string{"web-leaves"}, d.texts("h1"))
	require.Equal(t, []string{"✗ failed"}, d.texts(".verdict"))
	require.Equal(t, []string{"expectations", "m1", "d/web", "m1", "m2", "time"}, d.texts(".name"), "calm lanes are left out")
	require.Equal(t, []string{"0s", "5m", "6m"}, d.texts(".ticks text"))
	require.Equal(t, []string{"✓web runs on m2", "✗never EvictionStartedat 5m d/web left m1"}, d.texts("li"))
	require.Equal(t, []string{"leeward replay a.yaml --seed 7"}, d.texts(".command"))
	for _, want := range []string{"1 of 2 failed", "Clusters that nothing happened to: calm", "all the time: d/quiet", "profile leeward · seed 7 · quiet since 6m · a.yaml"} {
		require.Contains(t, strings.Join(d.texts(".meta"), "\n"), want)
	}
}

func TestABarSaysFromWhenToWhenAndWhy(t *testing.T) {
	titles := strings.Join(pageOf(t, false, outage("web-leaves")).texts("g > title"), "\n")
	for _, want := range []string{
		"placed ×2, 0s to 5m (5m)\nd/web scheduled m1:2",
		"down:NoExecute, from 5m on\nm1 tainted down:NoExecute: by <people>",
		"handover, 5m to 6m (1m)\nd/web evicting from m1",
		"d/web evicted from m1: after 1m: the new placement is healthy",
	} {
		require.Contains(t, titles, want)
	}
}

func TestBarsLieWhereTheyLast(t *testing.T) {
	s := sectionOf(outage("web-leaves"))
	m1 := s.Lanes[3]
	require.Equal(t, "on", m1.Class)
	placed, leaving := m1.Bars[0], m1.Bars[1]
	require.Zero(t, placed.X)
	require.Equal(t, placed.Wide, leaving.X)
	require.Greater(t, leaving.Y, placed.Y, "each on its own track")
	require.InDelta(t, 97, float64(leaving.X+leaving.Wide), 0.02, "the run ends before the lane does")
	m2 := s.Lanes[4].Bars[0]
	require.InDelta(t, 100, float64(m2.X+m2.Wide), 0.02, "what is so in the end goes on")
}

func TestOfManyRunsThoseThatFailedAreOpen(t *testing.T) {
	passed := outage("passed")
	passed.Passed = true
	broke := outage("broke")
	broke.Err = errors.New("binding: <unknown> message")
	d := pageOf(t, true, passed, broke)
	require.Equal(t, []string{"passed", "broke"}, d.texts("h1"))
	require.Len(t, d.all("details.run"), 2)
	require.Equal(t, []bool{false, true}, []bool{has(d.all("details.run")[0], "open"), has(d.all("details.run")[1], "open")})
	require.Contains(t, d.texts("p.failed"), "The run ended early: binding: <unknown> message")
}

func TestAPageNeedsNothingElse(t *testing.T) {
	for name, d := range map[string]document{"none": pageOf(t, false), "one": pageOf(t, false, outage("a"))} {
		t.Run(name, func(t *testing.T) { d.needsNothing(t) })
	}
}

func TestAPageOfAThousandWorkloadsShowsSome(t *testing.T) {
	j := journal.New(start)
	for i := range 1000 {
		name := messages.BindingName(fmt.Sprintf("d/%d", i))
		j.Append(start, messages.Address{}, &messages.Scheduled{Binding: name, Clusters: []api.TargetCluster{{Name: "m1"}}})
		if i < mostBindings+7 {
			j.Append(start, messages.Address{}, &messages.ScheduleFailed{Binding: name, Reason: "NoClusterFit"})
		}
	}
	s := sectionOf(&replay.Run{Start: start, Events: j.Entries()})
	require.Len(t, s.Lanes, 2*mostBindings, "one for the binding, one for its cluster")
	require.Equal(t, 7, s.More)
	require.Contains(t, s.CalmBindings(), "d/207, d/208, ")
	require.Contains(t, s.CalmBindings(), "d/246 and 753 more")
	require.Contains(t, pageOf(t, false, s.Run).texts(".meta"), "7 more bindings moved, or could not; the story below tells of them.")
}

func TestTheLegendExplainsWhatThereIs(t *testing.T) {
	s := sectionOf(outage("a"))
	var meanings []string
	for _, k := range s.Legend {
		meanings = append(meanings, k.Meaning)
	}
	require.Equal(t, []string{"taint: NoExecute", "placed here", "handover", "decision or change"}, meanings)
	require.Empty(t, sectionOf(&replay.Run{Start: start}).Legend)
}

func TestAPagePassesOnWhatGoesWrong(t *testing.T) {
	broken := &Replay{W: full{}}
	require.ErrorIs(t, broken.Add(outage("a")), errFull)
	require.ErrorIs(t, (&Replay{W: full{}}).Close(), errFull)
	unwritable := outage("a")
	unwritable.Events = append(unwritable.Events, journal.Entry{At: start, Fact: unknown{}})
	require.NoError(t, (&Replay{W: io.Discard}).Add(unwritable), "a fact without words is no reason to show nothing")
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

type unknown struct{}

func (unknown) Kind() string { return "Unknown" }

// FuzzWordsOfUsers puts people's words onto a page: whatever they are, they stay words. The run is as small as one that has
// them in every place, and the head of the page, which holds none, is omitted: the more runs a second, the more is tried.
func FuzzWordsOfUsers(f *testing.F) {
	f.Add("web", "nginx is on m1", "link lost")
	f.Add("</title><script>alert(1)</script>", "<img src=x>", "]]>")
	f.Add("\xff", "\u2028", "\x00")
	f.Fuzz(func(t *testing.T, name, text, reason string) {
		r := &replay.Run{Name: name, Description: text, File: text, Profile: text, Repeat: reason, Start: start, Events: []journal.Entry{
			{At: start, Fact: &messages.TaintAdded{
				Cluster: messages.ClusterName(name), Taint: corev1.Taint{Key: text, Effect: corev1.TaintEffectNoExecute}, Cause: api.TaintCause{By: reason},
			}},
			{At: start.Add(time.Hour), Fact: &messages.ScheduleFailed{Binding: messages.BindingName(text), Reason: name, Message: reason}},
		}}
		r.Expect(replay.ExpectationResult{Text: text, Reason: reason})
		var out strings.Builder
		require.NoError(t, (&Replay{W: &out, begun: true}).Add(r))
		d := parse(t, out.String())
		d.needsNothing(t)
		require.Len(t, d.all("h1"), 1)
		require.Len(t, d.all("li"), 1)
	})
}

// has reports whether an element has an attribute.
func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}
