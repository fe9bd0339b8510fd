package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/replay"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// passing is a run with one fact, one object and one expectation that held.
func passing(name string) *replay.Run {
	j := journal.New(start)
	j.Append(start.Add(1500*time.Millisecond), messages.Address{Kind: messages.KindCluster, Name: "m1"}, &messages.TaintRemoved{
		Cluster: "m1", Taint: corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute}, Cause: api.TaintCause{By: "user"}})
	return &replay.Run{
		Name: name, File: "scenarios/" + name + ".yaml", Seed: 1, Profile: "leeward", Start: start, Passed: true,
		Description:  "Nothing moves.",
		Expectations: []replay.ExpectationResult{{Text: "at 00:00:10 nginx is on m1:2", Passed: true, At: 10}},
		Events:       j.Entries(),
		Objects: []api.Object{&api.Cluster{
			TypeMeta:   metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"},
			ObjectMeta: metav1.ObjectMeta{Name: "m1"}}},
		Elapsed: 12345 * time.Microsecond,
		Repeat:  "leeward replay scenarios/" + name + ".yaml --seed 1",
	}
}

func failing(name string, seed uint64) *replay.Run {
	r := passing(name)
	r.Seed = seed
	r.Expect(replay.ExpectationResult{Text: "never EvictionStarted on m1", At: 1.5, Reason: "00:00:01.500 nginx leaves m1\nand so does <web>"})
	return r
}

func broke(name string) *replay.Run {
	r := passing(name)
	r.Passed, r.Err, r.Expectations = false, errors.New("binding: unknown message"), nil
	return r
}

// sink is what all writers have in common.
type sink interface {
	Add(*replay.Run) error
	Close() error
}

func write(t *testing.T, s sink, runs ...*replay.Run) {
	t.Helper()
	for _, r := range runs {
		require.NoError(t, s.Add(r))
	}
	require.NoError(t, s.Close())
}

const passingTranscript = `quiet  profile leeward  seed 1
Nothing moves.

00:00:01.500  m1                    untainted           down:NoExecute      by user

✓  at 00:00:10 nginx is on m1:2
`

func TestOneRunIsATranscript(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, passing("quiet"))
	require.Equal(t, passingTranscript+"\npassed: 1 expectation held\n", out.String())
}

func TestATimelineIsATranscriptWithoutItsVerdict(t *testing.T) {
	var out strings.Builder
	require.NoError(t, WriteTranscript(&out, passing("quiet"), journal.Style{}))
	require.Equal(t, passingTranscript, out.String())
}

func TestAFailureSaysWhyAndHowToRepeatIt(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, failing("quiet", 7))
	require.Equal(t, strings.Replace(passingTranscript, "seed 1", "seed 7", 1)+`✗  never EvictionStarted on m1
   00:00:01.500 nginx leaves m1
   and so does <web>

failed: 1 of 2 expectations
repeat: leeward replay scenarios/quiet.yaml --seed 1
`, out.String())
}

func TestARunThatEndedEarlySaysWhy(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, broke("quiet"))
	require.Contains(t, out.String(), "by user\n\n✗  the run ended early:\n   binding: unknown message\n\nfailed: 1 error\nrepeat: ")
}

func TestSeveralTranscriptsEndInOneVerdict(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, passing("a"), failing("b", 1))
	require.Contains(t, out.String(), "passed: 1 expectation held\n\nb  profile leeward")
	require.True(t, strings.HasSuffix(out.String(), "\n2 scenarios, 2 runs, 3 expectations: 1 failed, in 24.69ms\n"), out.String())
}

func TestATimelineIsColouredWhenAsked(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out, Style: journal.Style{Colour: true}}, failing("a", 1))
	require.Contains(t, out.String(), red+broken+plain+"  never")
	require.Contains(t, out.String(), green+held+plain+"  at")
	require.Contains(t, out.String(), red+"failed"+plain)
}

func TestASummaryHasOneLinePerScenario(t *testing.T) {
	var out strings.Builder
	a := passing("a")
	a.Name = "another name"
	write(t, &Summary{W: &out}, a, passing("b"), passing("b"))
	require.Equal(t, ""+
		"✓    1 expectation    12.35ms  scenarios/a.yaml  another name\n"+
		"✓    1 expectation      2 seeds   24.69ms  scenarios/b.yaml\n"+
		"\n2 scenarios, 3 runs, 3 expectations: all held, in 37.04ms\n", out.String())
}

func TestASummaryTellsTheFirstFailureOfAScenario(t *testing.T) {
	var out strings.Builder
	runs := []*replay.Run{passing("a")}
	for seed := range uint64(12) {
		runs = append(runs, failing("a", seed+2))
	}
	write(t, &Summary{W: &out}, append(runs, passing("b"))...)
	require.Contains(t, out.String(), "✗    1 expectation     13 seeds  160.49ms  scenarios/a.yaml  fails under 12: 2 3 4 5 6 7 8 9 10 11 ...\n\na  profile leeward  seed 2\n")
	require.Equal(t, 1, strings.Count(out.String(), "repeat: "))
	require.Contains(t, out.String(), "--seed 1\n\n✓    1 expectation    12.35ms  scenarios/b.yaml\n")
	require.Contains(t, out.String(), "2 scenarios, 14 runs, 26 expectations: 12 failed, in 172.83ms\n")
}

func TestASummaryOfNothingSaysSo(t *testing.T) {
	var out strings.Builder
	write(t, &Summary{W: &out})
	require.Equal(t, "\n0 scenarios, 0 runs, 0 expectations: all held, in 0s\n", out.String())
}

func TestJSONIsOneDocument(t *testing.T) {
	var out strings.Builder
	write(t, &JSON{W: &out}, passing("a"), failing("b", 3))
	require.JSONEq(t, `{"scenarios": [
		{"name": "a", "seed": 1, "profile": "leeward", "passed": true,
		 "expectations": [{"text": "at 00:00:10 nginx is on m1:2", "passed": true, "at": 10, "reason": ""}],
		 "events": [{"at": 1.5, "kind": "TaintRemoved", "actor": "cluster/m1", "cluster": "m1",
		   "taint": {"key": "down", "effect": "NoExecute"}, "cause": {"key": "", "effect": "", "by": "user"}}],
		 "objects": [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1"}, "spec": {}}]},
		{"name": "b", "seed": 3, "profile": "leeward", "passed": false,
		 "expectations": [{"text": "at 00:00:10 nginx is on m1:2", "passed": true, "at": 10, "reason": ""},
		   {"text": "never EvictionStarted on m1", "passed": false, "at": 1.5, "reason": "00:00:01.500 nginx leaves m1\nand so does <web>"}],
		 "events": [{"at": 1.5, "kind": "TaintRemoved", "actor": "cluster/m1", "cluster": "m1",
		   "taint": {"key": "down", "effect": "NoExecute"}, "cause": {"key": "", "effect": "", "by": "user"}}],
		 "objects": [{"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": "m1"}, "spec": {}}]}
	]}`, out.String())
	require.Contains(t, out.String(), "<web>", "text is not escaped for HTML")
}

func TestJSONHasListsAndNoNulls(t *testing.T) {
	var out strings.Builder
	write(t, &JSON{W: &out}, &replay.Run{Name: "empty", Err: errors.New("stopped")})
	require.JSONEq(t, `{"scenarios": [{"name": "empty", "seed": 0, "profile": "", "passed": false,
		"expectations": [], "events": [], "objects": [], "error": "stopped"}]}`, out.String())

	var none strings.Builder
	write(t, &JSON{W: &none})
	require.JSONEq(t, `{"scenarios": []}`, none.String())
}

func TestJSONKeepsItsBytes(t *testing.T) {
	first, err := Encode(passing("a"))
	require.NoError(t, err)
	for range 10 {
		again, err := Encode(passing("a"))
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
	require.True(t, json.Valid(first))
}

func TestJUnitHasASuitePerFileAndACasePerExpectation(t *testing.T) {
	var out strings.Builder
	j := &JUnit{W: &out}
	require.NoError(t, j.Fault(Fault{File: "wrong.yaml", Line: 3, Message: "spec.sead: unknown field"}))
	failed, bare := failing("a", 2), passing("c")
	failed.Line, failed.Expectations[1].Line, bare.Expectations = 4, 9, nil
	write(t, j, passing("a"), failed, broke("b"), bare)
	require.True(t, strings.HasPrefix(out.String(), xml.Header), out.String())

	var read suites
	require.NoError(t, xml.Unmarshal([]byte(out.String()), &read))
	require.Equal(t, []int{6, 1, 2}, []int{read.Tests, read.Failures, read.Errors})
	require.Equal(t, "0.049", read.Time)
	require.Len(t, read.Suites, 4)

	wrong := read.Suites[0].Cases[0]
	require.Equal(t, []any{"wrong.yaml", "wrong.yaml", 3}, []any{wrong.Class, wrong.File, wrong.Line})
	require.Equal(t, "spec.sead: unknown field", wrong.Error.Message)

	a := read.Suites[1]
	require.Equal(t, "scenarios/a.yaml", a.Name)
	require.Equal(t, []int{3, 1, 0}, []int{a.Tests, a.Failures, a.Errors})
	require.Equal(t, "a (seed 1): at 00:00:10 nginx is on m1:2", a.Cases[0].Name)
	require.Nil(t, a.Cases[0].Failure)
	require.Equal(t, []any{"a (seed 2): at 00:00:10 nginx is on m1:2", 4}, []any{a.Cases[1].Name, a.Cases[1].Line}, "it is the scenario's, as far as is known")
	require.Equal(t, []any{"a (seed 2): never EvictionStarted on m1", "scenarios/a.yaml", 9}, []any{a.Cases[2].Name, a.Cases[2].File, a.Cases[2].Line})
	require.Equal(t, "00:00:01.500 nginx leaves m1\nand so does <web>", a.Cases[2].Failure.Message)
	require.Contains(t, a.Cases[2].Failure.Text, "untainted           down:NoExecute")
	require.Contains(t, a.Cases[2].Failure.Text, "repeat: leeward replay")

	b := read.Suites[2]
	require.Equal(t, []int{1, 0, 1}, []int{b.Tests, b.Failures, b.Errors})
	require.Equal(t, "binding: unknown message", b.Cases[0].Error.Message)
	require.Equal(t, "c (seed 1)", read.Suites[3].Cases[0].Name, "one without expectations ran, too")
}

func TestGitHubAnnotatesTheLinesOfWhatFailed(t *testing.T) {
	var out strings.Builder
	g := &GitHub{W: &out}
	require.NoError(t, g.Fault(Fault{File: "wrong.yaml", Line: 3, Message: "spec.sead: unknown field"}))
	require.NoError(t, g.Fault(Fault{Message: "no such file"}))
	failed := failing("a", 2)
	failed.Expectations[1].Line = 9
	kept := failing("d", 1)
	kept.Expectations[1].File = "scenarios/d.golden"
	write(t, g, passing("a"), failed, broke("b"), kept)
	require.Equal(t, `::error file=wrong.yaml,line=3,title=invalid::spec.sead: unknown field
::error title=invalid::no such file
::error file=scenarios/a.yaml,line=9,title=a (seed 2)::never EvictionStarted on m1%0A00:00:01.500 nginx leaves m1%0Aand so does <web>%0Arepeat: leeward replay scenarios/a.yaml --seed 1
::error file=scenarios/b.yaml,title=b (seed 1)::binding: unknown message%0Arepeat: leeward replay scenarios/b.yaml --seed 1
::error file=scenarios/d.golden,line=1,title=d (seed 1)::never EvictionStarted on m1%0A00:00:01.500 nginx leaves m1%0Aand so does <web>%0Arepeat: leeward replay scenarios/d.yaml --seed 1

3 scenarios, 4 runs, 5 expectations: 3 failed, in 49.38ms
`, out.String())
}

func TestNoTextBeginsAnAnnotationOfItsOwn(t *testing.T) {
	const evil = "x\r\n::stop-commands::x,line=7:%0A::error::100%"
	var out strings.Builder
	g := &GitHub{W: &out}
	run := &replay.Run{Name: evil, File: evil, Description: evil}
	run.Expect(replay.ExpectationResult{Text: evil, Reason: evil})
	run.Expect(replay.ExpectationResult{Text: "long", Reason: strings.Repeat("ä", mostText)})
	require.NoError(t, g.Fault(Fault{File: evil, Message: evil}))
	write(t, g, run)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 5, "a line for each, and the verdict")
	const escaped = "x%0D%0A%3A%3Astop-commands%3A%3Ax%2Cline=7%3A%250A%3A%3Aerror%3A%3A100%25"
	require.Equal(t, "::error file="+escaped+",title=invalid::x%0D%0A::stop-commands::x,line=7:%250A::error::100%25", lines[0])
	require.True(t, strings.HasPrefix(lines[1], "::error file="+escaped+",title="+escaped+" (seed 0)::x%0D%0A"), lines[1])
	require.Less(t, len(lines[2]), mostText+1000)
	require.True(t, utf8.ValidString(lines[2]))
}

func TestAnErrorIsTakenApartIntoItsProblems(t *testing.T) {
	problem := &manifest.Problem{File: "a.yaml", Line: 3, Object: "Scenario a", Field: "spec.sead", Message: "unknown field"}
	require.Equal(t, []Fault{
		{"a.yaml", 3, "Scenario a: spec.sead: unknown field"},
		{"b.yaml", 4, "too much:\nindeed"},
		{"a.yaml", 3, "Scenario a: spec.sead: unknown field"},
		{"", 0, "boom"},
	}, Faults(errors.Join(problem, errors.New("b.yaml:4: too much:\nindeed"), errors.Join(manifest.Problems{problem}), errors.New("boom"))))
	require.Empty(t, Faults(nil))
}

func TestWritersPassOnWhatGoesWrong(t *testing.T) {
	for name, s := range map[string]sink{
		"story": &Transcript{W: full{}}, "summary": &Summary{W: full{}}, "JSON": &JSON{W: full{}}, "JUnit": &JUnit{W: full{}}, "GitHub": &GitHub{W: full{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorIs(t, errors.Join(s.Add(failing("a", 1)), s.Close()), errFull)
		})
	}
}

func TestWritersSayWhichRunTheyCannotEncode(t *testing.T) {
	r := passing("a")
	r.Events = []journal.Entry{{At: start, Fact: unwritable{}}}
	require.ErrorContains(t, (&JSON{W: full{}}).Add(r), "report a: encode Unwritable of user")
	require.ErrorContains(t, (&Transcript{W: full{}, Style: journal.Style{Wide: true}}).Add(r), "write the timeline of a: encode Unwritable")
}

func TestTimesAreRounded(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1234 * time.Nanosecond: "1µs", 1234567 * time.Nanosecond: "1.23ms", 1234 * time.Millisecond: "1.23s", 0: "0s",
	} {
		require.Equal(t, want, rounded(d))
	}
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

// FuzzWordsOfUsers puts people's words into a run: whatever they are, JSON and XML stay well formed
// and keep them, and a timeline stays free of what a terminal would obey.
func FuzzWordsOfUsers(f *testing.F) {
	f.Add("calm", "nginx is on m1:2", "its taints are failed:NoExecute")
	f.Add("<&>", "]]>", "two\nlines\x1b[31m")
	f.Add("\xff", "\u2028", "\x00\u009b")
	f.Fuzz(func(t *testing.T, name, text, reason string) {
		run := &replay.Run{Name: name, Description: reason, File: text, Err: errors.New(reason)}
		run.Expect(replay.ExpectationResult{Text: text, Reason: reason})

		var document strings.Builder
		write(t, &JSON{W: &document}, run)
		var read struct {
			Scenarios []struct {
				Name         string
				Expectations []replay.ExpectationResult
			}
		}
		require.NoError(t, json.Unmarshal([]byte(document.String()), &read))
		require.Equal(t, string([]rune(text)), read.Scenarios[0].Expectations[0].Text)

		var junit strings.Builder
		write(t, &JUnit{W: &junit}, run)
		require.NoError(t, xml.Unmarshal([]byte(junit.String()), new(suites)))

		var transcript strings.Builder
		require.NoError(t, WriteTranscript(&transcript, run, journal.Style{}))
		for line := range strings.Lines(transcript.String()) {
			require.False(t, strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl), "%q", line)
		}
	})
}

// unwritable is a fact that JSON cannot hold.
type unwritable struct{ C chan int }

func (unwritable) Kind() string { return "Unwritable" }
