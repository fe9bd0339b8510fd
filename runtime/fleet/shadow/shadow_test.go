package shadow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) *Decision { return &Decision{At: start.Add(d), By: "b", Reason: "r"} }

func TestAVerdictComparesTwoDecisions(t *testing.T) {
	for _, c := range []struct {
		ours, theirs *Decision
		want         Verdict
	}{
		{at(0), at(0), Agreed}, {at(0), at(Tolerance), Agreed}, {at(0), at(-Tolerance), Agreed}, {at(0), at(Tolerance + 1), Later},
		{at(0), at(-Tolerance - 1), Earlier}, {at(0), nil, Never}, {nil, at(0), Unasked},
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
	later := Comparison{Verdict: Later, Workload: "b", Pod: "d/y", Ours: at(0), Theirs: at(time.Minute)}
	all, err := Summarize(strings.NewReader("\n" + lines(t,
		Comparison{Verdict: Agreed, Workload: "b", Ours: at(0), Theirs: at(0)}, later,
		Comparison{Verdict: Agreed, Workload: "b", Ours: at(0), Theirs: at(0)},
		Comparison{Verdict: Unasked, Workload: "a", Theirs: at(0)})))
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "a", all[0].Workload)
	require.Equal(t, &Summary{Workload: "b", Count: map[Verdict]int{Agreed: 2, Later: 1}, Latest: time.Minute, Example: &later}, all[1])
}

func TestWhatIsNoComparisonIsRefusedWithItsLine(t *testing.T) {
	good := lines(t, Comparison{Verdict: Agreed, Ours: at(0), Theirs: at(0)})
	for bad, want := range map[string]string{
		"{":                                  "line 2: this is no comparison: unexpected end of JSON input",
		`{"verdict":"perhaps"}`:              `line 2: verdict: "perhaps" is not one of [agreed earlier later never unasked]`,
		`{"verdict":"never"}`:                `line 2: ours: it is missing, and the verdict is "never"`,
		`{"verdict":"unasked"}`:              `line 2: theirs: it is missing, and the verdict is "unasked"`,
		strings.Repeat("x", longestLine+100): "read the comparisons: bufio.Scanner: token too long",
	} {
		all, err := Summarize(strings.NewReader(good + bad))
		require.EqualError(t, err, want)
		require.Nil(t, all)
	}
}

func TestAReportTellsSoManyWorkloadsApart(t *testing.T) {
	var all []Comparison
	for i := range MostWorkloads + 5 {
		all = append(all, Comparison{Verdict: Agreed, Workload: fmt.Sprintf("w%05d", i), Ours: at(0), Theirs: at(0)})
	}
	sums, err := Summarize(strings.NewReader(lines(t, all...)))
	require.NoError(t, err)
	require.Len(t, sums, MostWorkloads+1)
	require.Equal(t, Others, sums[0].Workload)
	require.Equal(t, 5, sums[0].Count[Agreed])
}

func FuzzSummarize(f *testing.F) {
	f.Add(lines(f, Comparison{Verdict: Later, Workload: "b", Ours: at(0), Theirs: at(time.Minute)}))
	f.Add(`{"verdict":"never"}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Summarize(strings.NewReader(text))
		if err != nil {
			require.Nil(t, all)
			return
		}
		n := 0
		for _, s := range all {
			for _, v := range Verdicts {
				n += s.Count[v]
			}
			require.GreaterOrEqual(t, s.Latest, time.Duration(0))
		}
		require.LessOrEqual(t, n, strings.Count(text, "\n")+1)
	})
}
