package difference

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/forecast"
)

// fleet is the example with weaknesses; changed is its text with replacements.
func fleet(t testing.TB, replace ...string) *scenario.Scenario {
	t.Helper()
	text, err := os.ReadFile("../../../docs/examples/fleet.yaml")
	require.NoError(t, err)
	source := scenario.Source{Read: func(string) ([]byte, error) {
		return []byte(strings.NewReplacer(replace...).Replace(string(text))), nil
	}}
	s, problems := source.Fleet([]string{"fleet.yaml"})
	require.Empty(t, problems)
	return s
}

func between(a, b *scenario.Scenario, lose ...forecast.Loss) Config {
	return Config{A: Side{Name: "a", Fleets: []*scenario.Scenario{a}}, B: Side{Name: "b", Fleets: []*scenario.Scenario{b}}, Seed: 1, Lose: lose, Outage: messages.OutagePower, Startup: 30 * time.Second}
}

func run(t testing.TB, c Config) *Difference {
	t.Helper()
	d, err := Run(context.Background(), c)
	require.NoError(t, err)
	return d
}

// untolerated replaces the toleration without an end by one that ends.
var untolerated = []string{"    - {key: not-ready, operator: Exists, effect: NoExecute}\n", "    - {key: not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 60}\n"}

func TestTheSameTwiceDoesNotDiffer(t *testing.T) {
	for _, lose := range [][]forecast.Loss{nil, {{Kind: "region", Name: "eu"}}} {
		d := run(t, between(fleet(t), fleet(t), lose...))
		require.False(t, d.Differ)
		require.Equal(t, Same, d.Verdict)
		require.Nil(t, d.Decision)
		require.Empty(t, d.Workloads)
		require.Empty(t, d.Contingencies)
		require.True(t, d.Prediction)
	}
}

func TestATolerationThatEndsIsBetterAndTheOppositeIsWorse(t *testing.T) {
	loss := forecast.Loss{Kind: "cluster", Name: "us-1"}
	a, b := fleet(t), fleet(t, untolerated...)
	d := run(t, between(a, b, loss))
	require.Equal(t, Better, d.Verdict)
	require.Contains(t, d.By, Unavailability)
	require.Len(t, d.Workloads, 1)
	w := d.Workloads[0]
	require.Equal(t, messages.BindingName("pay/billing-deployment"), w.Name)
	require.Equal(t, "us-1:2", w.PlacementA)
	require.Equal(t, "us-2:2", w.PlacementB)
	require.Equal(t, "workload pay/billing-deployment", d.Decision.Subject)
	require.Nil(t, d.Decision.A)
	require.Contains(t, d.Decision.B.Decision, "toleration 60s")
	require.InDelta(t, 40, d.Decision.B.At, 0)
	back := run(t, between(b, a, loss))
	require.Equal(t, Worse, back.Verdict)
	require.Equal(t, d.By, back.By)
	all := run(t, between(a, b))
	require.True(t, all.Differ)
	require.Equal(t, Better, all.Verdict)
	require.NotEmpty(t, all.Decision.Contingency)
}

// Without the region, the replicas of billing are unavailable under both: under A as they tolerate the taint, under B as nothing else fits.
func TestReplicasThatAreUnavailableAnywayAreNotWorseForBeingUnschedulable(t *testing.T) {
	all := run(t, between(fleet(t), fleet(t, untolerated...)))
	require.Equal(t, Better, all.Verdict)
	i := slices.IndexFunc(all.Contingencies, func(c Contingency) bool { return c.Name == "region us" })
	require.Equal(t, Differs, all.Contingencies[i].Verdict)
	require.Equal(t, []Figure{{Unschedulable, "replicas", number(0), number(2), Differs}}, all.Contingencies[i].Figures)
	at := all.Contingencies[i].Changed[0]
	require.EqualValues(t, 2, at.MissingA)
	require.EqualValues(t, 2, at.MissingB)
	require.Contains(t, at.ReasonA, "tolerates not-ready")
	require.Contains(t, at.ReasonB, "unschedulable: ")
	var text bytes.Buffer
	require.NoError(t, WriteText(&text, all, false))
	require.Contains(t, text.String(), "both: losing region us: pay/billing-deployment lacks at the end under A 2, tolerates not-ready:NoExecute without an end; under B 2, unschedulable: ")
}

// TestWhatIsLostIsMeasuredAsAnAssessmentDoes holds the figures of replays to those of the contingencies.
func TestWhatIsLostIsMeasuredAsAnAssessmentDoes(t *testing.T) {
	a, err := assess.Run(context.Background(), assess.Config{Fleet: fleet(t), Seed: 1, Outage: messages.OutagePower, Startup: 30 * time.Second})
	require.NoError(t, err)
	for _, o := range a.Contingencies {
		if o.SameAs != "" {
			continue
		}
		d := run(t, between(fleet(t), fleet(t), forecast.Loss{Kind: o.Kind, Name: o.Of[0]}))
		want := measured(o)
		for _, f := range d.Fleet {
			if f.Name != Unschedulable && f.Name != Evictions && f.Name != AvailableAgain { // which counts from the outage there
				require.Equal(t, want[f.Name], f.A, "%s: %s", o.Name, f.Name)
			}
		}
	}
}

func TestAnOutageThatEndsIsCountedUntilItsEnd(t *testing.T) {
	c := between(fleet(t), fleet(t, untolerated...), forecast.Loss{Kind: "cluster", Name: "us-1"})
	c.For = 20 * time.Minute
	d := run(t, c)
	require.Contains(t, d.Outage, "for 20m")
	w := d.Workloads[0]
	require.Equal(t, Unavailability, w.Figures[0].Name)
	require.InDelta(t, 2*(1200+20), *w.Figures[0].A, 1, "two replicas, until they start again after 20 s")
	require.Equal(t, Better, d.Verdict)
}

func TestWhatIsAtFaultIsInvalid(t *testing.T) {
	timeline := fleet(t)
	timeline.Timeline = []scenario.Step{{At: time.Minute, Action: &scenario.Restart{}}}
	nodes := fleet(t)
	nodes.OfNodes = true
	wrong := between(fleet(t), fleet(t), forecast.Loss{Kind: "cluster", Name: "eu-1"})
	wrong.B.Profile = "moon"
	for says, c := range map[string]Config{
		`b: there is no region "eu"`: between(fleet(t), fleet(t, "region: eu", "region: us"), forecast.Loss{Kind: "region", Name: "eu"}),
		"with --lose":                between(timeline, fleet(t)),
		"a scenario of nodes":        between(fleet(t), nodes),
		"moon":                       wrong,
	} {
		_, err := Run(context.Background(), c)
		var invalid *assess.Invalid
		require.ErrorAs(t, err, &invalid, says)
		require.ErrorContains(t, err, says)
	}
}

func TestAnInterruptEndsIt(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	for _, lose := range [][]forecast.Loss{nil, {{Kind: "region", Name: "eu"}}} {
		_, err := Run(ctx, between(fleet(t), fleet(t), lose...))
		require.ErrorIs(t, err, context.Canceled)
	}
}

func TestVerdicts(t *testing.T) {
	fewer, more := number(1), number(2)
	for _, c := range []struct {
		a, b    measures
		verdict Verdict
		by      string
	}{
		{measures{Unavailable: fewer}, measures{Unavailable: fewer}, Same, ""},
		{measures{Unavailable: more}, measures{Unavailable: fewer}, Better, Unavailable},
		{measures{Lowest: fewer}, measures{Lowest: more}, Better, Lowest},
		{measures{AvailableAgain: more}, measures{AvailableAgain: nil}, Worse, AvailableAgain},
		{measures{AvailableAgain: nil}, measures{AvailableAgain: nil}, Same, ""},
		{measures{Evictions: fewer}, measures{Evictions: more}, Worse, Evictions},
		{measures{Evictions: fewer, Down: more}, measures{Evictions: more, Down: fewer}, Better, Down},
		{measures{Unavailable: fewer, Down: more}, measures{Unavailable: more, Down: fewer}, Mixed, Unavailable + "," + Down},
	} {
		verdict, by := conclude(figures(c.a, c.b))
		require.Equal(t, c.verdict, verdict)
		require.Equal(t, c.by, strings.Join(by, ","))
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	c := between(fleet(t), fleet(t, untolerated...))
	text := func(jobs int) string {
		c.Jobs = jobs
		var out bytes.Buffer
		d := run(t, c)
		require.NoError(t, json.NewEncoder(&out).Encode(d))
		require.NoError(t, WriteText(&out, d, true))
		require.NoError(t, WriteGitHub(&out, d))
		return out.String()
	}
	require.Equal(t, text(1), text(3))
}

// hostile is a name that would be Markdown, HTML, a mention and a terminal's escape.
const hostile = "a|b`<script>@all</details>\x1b[31m\n# x [y](http://z)"

func TestCommentsAndTextsHoldNothingThatANameCouldBegin(t *testing.T) {
	d := &Difference{A: hostile, B: hostile, Outage: hostile, Notes: []string{hostile}, Differ: true, Verdict: Mixed, By: []string{Down}, Compared: 1}
	d.Workloads = []Workload{{Name: hostile, PlacementA: hostile, PlacementB: "x", ReasonA: hostile}}
	d.Contingencies = []Contingency{{Name: hostile, Verdict: Mixed, Resolved: []Trouble{{hostile, 1, hostile}}, Only: "A"}}
	d.Decision = &Decision{Subject: hostile, Contingency: hostile, A: &Decided{Decision: "x"}}
	var out bytes.Buffer
	require.NoError(t, WriteGitHub(&out, d))
	for _, bad := range []string{"<script", "@all", "\x1b", "\n# ", "[y](", "://"} {
		require.NotContains(t, out.String(), bad)
	}
	require.Equal(t, strings.Count(out.String(), "<details>"), strings.Count(out.String(), "</details>"))
	out.Reset()
	require.NoError(t, WriteText(&out, d, true))
	require.NotContains(t, out.String(), "\x1b")
	require.NotContains(t, out.String(), "\n#")
}

func TestACommentIsNoLongerThanGitHubTakes(t *testing.T) {
	d := &Difference{Differ: true, Verdict: Worse, By: []string{Down}}
	for i := range 5000 {
		name := messages.BindingName(fmt.Sprintf("shop/%s%d", strings.Repeat("x", 100), i))
		d.Workloads = append(d.Workloads, Workload{Name: name, PlacementA: "x", PlacementB: "y", ReasonA: strings.Repeat("<", 5000)})
	}
	var out bytes.Buffer
	require.NoError(t, WriteGitHub(&out, d))
	require.Less(t, out.Len(), 64<<10)
	require.Contains(t, out.String(), "more rows; `-o wide` shows them")
	out.Reset()
	require.NoError(t, WriteText(&out, d, false))
	require.Contains(t, out.String(), "4980 more differ; -o wide shows them")
}

func TestADifferenceNamesSoManyWorkloads(t *testing.T) {
	a, b := &outcome{by: map[messages.BindingName]*workload{}}, &outcome{by: map[messages.BindingName]*workload{}}
	for i := range mostWorkloads + 5 {
		a.of(messages.BindingName(fmt.Sprint(i))).placement = "x:1"
	}
	d := &Difference{}
	d.compare(a, b)
	require.Len(t, d.Workloads, mostWorkloads)
	require.Equal(t, 5, d.Unnamed)
	require.Equal(t, []string{"1005 workloads are in A only"}, d.Notes)
}

func FuzzEscapedTextIsOneCellOfMarkdown(f *testing.F) {
	f.Add(hostile)
	f.Fuzz(func(t *testing.T, text string) {
		got := escaped(text)
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "<")
		require.NotContains(t, got, "@")
		require.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(got, `\\`, ""), `\|`, ""), "|")
	})
}
