package shadow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
)

var (
	m1   = api.TargetCluster{Name: "m1", Replicas: 2}
	m2   = api.TargetCluster{Name: "m2", Replicas: 2}
	more = api.TargetCluster{Name: "m1", Replicas: 3}
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func on(d time.Duration, clusters ...api.TargetCluster) *Decision {
	return &Decision{At: start.Add(d), By: "b", Reason: "r", Clusters: clusters}
}

func at(d time.Duration) *Decision { return &Decision{At: start.Add(d), By: "b", Reason: "r"} }

func TestAVerdictComparesTwoDecisions(t *testing.T) {
	for _, c := range []struct {
		ours, theirs *Decision
		want         Verdict
	}{
		{at(0), at(0), Agreed}, {at(0), at(Tolerance), Agreed}, {at(0), at(-Tolerance), Agreed}, {at(0), at(Tolerance + 1), Later},
		{at(0), at(-Tolerance - 1), Earlier}, {at(0), nil, Never}, {nil, at(0), Unasked},
		{on(0, m1, m2), on(0, m2, m1), Agreed}, {on(0, m1, m2), on(Tolerance+1, m2, m1), Later}, {on(0, m1), on(0, m1, m2), Elsewhere},
		{on(0, m1), on(0, more), Elsewhere}, {on(0, m1), on(0), Elsewhere},
	} {
		require.Equal(t, c.want, Judge(c.ours, c.theirs))
	}
}

func lines(t testing.TB, all ...Comparison) string {
	t.Helper()
	var b bytes.Buffer
	for _, c := range all {
		require.NoError(t, json.NewEncoder(&b).Encode(c))
	}
	return b.String()
}

func TestComparisonsAreSummedUpByWorkload(t *testing.T) {
	later := &Comparison{Verdict: Later, Kind: Eviction, Workload: "b", Pod: "d/y", Ours: at(0), Theirs: at(time.Minute)}
	elsewhere := &Comparison{Verdict: Elsewhere, Kind: Placement, Workload: "b", Ours: on(time.Second, m1), Theirs: on(0, m2)}
	again := *later
	r, err := Summarize(strings.NewReader("\n" + lines(t,
		Comparison{Verdict: Agreed, Kind: Eviction, Workload: "b", Ours: at(0), Theirs: at(0)}, again, *elsewhere, *later,
		Comparison{Verdict: Agreed, Kind: Eviction, Workload: "b", Ours: at(0), Theirs: at(0)},
		Comparison{Verdict: Unasked, Kind: Removal, Workload: "a", Theirs: at(0), LastCopy: true},
		Comparison{Verdict: Earlier, Kind: Removal, Workload: "a", Ours: at(time.Hour), Theirs: at(0)},
		Comparison{Verdict: Unasked, Kind: Eviction, Workload: "a", Theirs: at(0), Cancelled: true},
		Comparison{Verdict: Never, Kind: Eviction, Workload: "a", Ours: at(0)})))
	require.NoError(t, err)
	require.Len(t, r.Workloads, 2)
	require.Equal(t, Tally{
		Decisions: 9, Count: map[Verdict]int{Agreed: 2, Later: 2, Elsewhere: 1, Unasked: 2, Earlier: 1, Never: 1},
		Faster: 2, Safer: 3, Different: 2, LastCopies: 1, Cancelled: 1, Latest: time.Minute,
	}, r.Tally)
	require.Equal(t, []time.Time{start, start.Add(time.Hour)}, []time.Time{r.From, r.To})
	require.Equal(t, "a", r.Workloads[0].Workload)
	require.Equal(t, &Summary{
		Workload: "b", Tally: Tally{Decisions: 5, Count: map[Verdict]int{Agreed: 2, Later: 2, Elsewhere: 1}, Faster: 2, Different: 1, Latest: time.Minute},
		Examples: []*Comparison{elsewhere, later},
	}, r.Workloads[1])
}

func TestWhatIsNoComparisonIsRefusedWithItsLine(t *testing.T) {
	good := lines(t, Comparison{Verdict: Agreed, Kind: Eviction, Ours: at(0), Theirs: at(0)})
	for bad, want := range map[string]string{
		"{":                                       "line 2: this is no comparison: unexpected end of JSON input",
		`{"verdict":"perhaps"}`:                   `line 2: verdict: "perhaps" is not one of [agreed earlier later elsewhere never unasked]`,
		`{"verdict":"never","kind":"x"}`:          `line 2: kind: "x" is not one of [eviction placement removal taint]`,
		`{"verdict":"never","kind":"eviction"}`:   `line 2: ours: it is missing, and the verdict is "never"`,
		`{"verdict":"unasked","kind":"eviction"}`: `line 2: theirs: it is missing, and the verdict is "unasked"`,
		strings.Repeat("x", longestLine+100):      "read the comparisons: bufio.Scanner: token too long",
	} {
		all, err := Summarize(strings.NewReader(good + bad))
		require.EqualError(t, err, want)
		require.Nil(t, all)
	}
}

func TestAReportTellsSoManyWorkloadsApart(t *testing.T) {
	var all []Comparison
	for i := range MostWorkloads + 5 {
		all = append(all, Comparison{Verdict: Agreed, Kind: Eviction, Workload: fmt.Sprintf("w%05d", i), Ours: at(0), Theirs: at(0)})
	}
	sums, err := Summarize(strings.NewReader(lines(t, all...)))
	require.NoError(t, err)
	require.Len(t, sums.Workloads, MostWorkloads+1)
	require.Equal(t, Others, sums.Workloads[0].Workload)
	require.Equal(t, 5, sums.Workloads[0].Count[Agreed])
}

func FuzzSummarize(f *testing.F) {
	f.Add(lines(f, Comparison{Verdict: Later, Kind: Placement, Workload: "b", Ours: on(0, m1), Theirs: on(time.Minute, m1)}))
	f.Add(`{"verdict":"never"}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Summarize(strings.NewReader(text))
		if err != nil {
			require.Nil(t, all)
			return
		}
		n := 0
		for _, s := range all.Workloads {
			n += s.Decisions
			require.Equal(t, s.Decisions, s.Count[Agreed]+s.Faster+s.Safer+s.Different)
			require.GreaterOrEqual(t, s.Latest, time.Duration(0))
		}
		require.Equal(t, all.Decisions, n)
		require.LessOrEqual(t, n, strings.Count(text, "\n")+1)
	})
}
