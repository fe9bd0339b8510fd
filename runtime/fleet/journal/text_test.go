package journal

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// outage is a journal of one failover, with what a timeline omits.
func outage() *Journal {
	j := New(start)
	m1 := messages.Address{Kind: messages.KindCluster, Name: "member1"}
	web := messages.Address{Kind: messages.KindBinding, Name: "default/web"}
	down := corev1.Taint{Key: "down", Effect: corev1.TaintEffectNoExecute}
	j.Append(start, messages.Address{}, &messages.ObjectApplied{Object: "Deployment default/web", Created: true})
	j.Append(start, m1, &messages.TaintAdded{Cluster: "member1", Taint: down, Cause: byPolicy})
	j.Append(after(1500*time.Millisecond), web, &messages.EvictionStarted{Binding: "default/web", Cluster: "member1",
		Grounds: messages.Grounds{Reason: api.EvictionReasonTaintUntolerated, Taint: &down}})
	j.Append(after(2*time.Second), web, &messages.CopyStarted{Binding: "default/web", Cluster: "member2", Replicas: 2})
	j.Append(after(26*time.Hour), web, &messages.EvictionEnded{Binding: "default/web", Cluster: "member1", Reason: messages.EndedHealthy, After: 3 * time.Second})
	return j
}

func textOf(t *testing.T, j *Journal, s Style) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, WriteText(&out, j.Start(), j.Entries(), s))
	return out.String()
}

func TestATimelineHasColumnsAndItsReasons(t *testing.T) {
	require.Equal(t, ""+
		"00:00:00  Deployment default/web    created\n"+
		"00:00:00  member1                   tainted             down:NoExecute      policy down; condition Ready=False (NetworkDown: link lost)\n"+
		"00:00:01.500  default/web           evicting from       member1             taint down:NoExecute; not tolerated\n"+
		"26:00:00  default/web               evicted from        member1             after 3s: the new placement is healthy\n",
		textOf(t, outage(), Style{}))
}

func TestAFactCanBeToldByItself(t *testing.T) {
	entries := outage().Entries()
	leaves := Tell(start, entries[2].Fact)
	require.Equal(t, "default/web evicting from member1: taint down:NoExecute; not tolerated", leaves.Text())
	require.Equal(t, zerolog.InfoLevel, leaves.Level)
	require.Equal(t, zerolog.DebugLevel, Tell(start, entries[3].Fact).Level, "a story does without it")
	require.Equal(t, "engine restarted: recovers from the stored objects", Tell(start, &messages.Restarted{}).Text())
}

func TestTheWideTimelineLeavesNothingOut(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(textOf(t, outage(), Style{Wide: true}), "\n"), "\n")
	require.Len(t, lines, 5)
	require.Equal(t, `     4  00:00:02  default/web               starts              on member2          2 replicas  `+
		`{"at":2,"kind":"CopyStarted","actor":"binding/default/web","binding":"default/web","cluster":"member2","replicas":2}`, lines[3])
}

func TestALongCellMovesOnlyItsOwnLine(t *testing.T) {
	j := New(start)
	long := messages.BindingName("a-namespace-with-a-long-name/and-a-workload-too")
	j.Append(start, messages.Address{}, &messages.Scheduled{Binding: long, Clusters: on("m1")})
	j.Append(start, messages.Address{}, &messages.Scheduled{Binding: "d/web", Clusters: on("m1")})
	require.Equal(t, ""+
		"00:00:00  a-namespace-with-a-long-name/and-a-workload-too  scheduled  m1\n"+
		"00:00:00  d/web                     scheduled           m1\n", textOf(t, j, Style{}))
}

func TestATimelineTellsOfHealthOnlyWhenItTurns(t *testing.T) {
	j := New(start)
	health := func(at time.Duration, cluster messages.ClusterName, h api.ResourceHealth) {
		j.Append(after(at), messages.Address{}, &messages.HealthChanged{Binding: "d/web", Cluster: cluster, Health: h})
	}
	health(0, "m1", api.Unhealthy) // it has only just been started
	health(1*time.Second, "m1", api.Healthy)
	health(2*time.Second, "m1", api.Healthy)
	health(3*time.Second, "m1", api.Unhealthy)
	health(4*time.Second, "m1", api.Unknown)
	health(5*time.Second, "m2", api.Healthy)
	health(6*time.Second, "m1", api.Healthy)
	require.Equal(t, ""+
		"00:00:03  d/web                     unhealthy           on m1\n"+
		"00:00:04  d/web                     unknown             on m1\n"+
		"00:00:06  d/web                     healthy             on m1\n", textOf(t, j, Style{}))
	require.Equal(t, 7, strings.Count(textOf(t, j, Style{Wide: true}), "\n"))
}

func TestACopyThatCameBackHasLostNothing(t *testing.T) {
	j := New(start)
	j.Append(start, messages.Address{}, &messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Healthy})
	j.Append(start, messages.Address{}, &messages.HealthForgotten{Binding: "d/web", Cluster: "m1"})
	j.Append(start, messages.Address{}, &messages.HealthChanged{Binding: "d/web", Cluster: "m1", Health: api.Unhealthy})
	require.Empty(t, textOf(t, j, Style{}))
}

func TestATimelineTellsWhatIsCreatedTogetherKindByKind(t *testing.T) {
	j := New(start)
	create := func(at time.Duration, objects ...string) {
		for _, o := range objects {
			j.Append(after(at), messages.Address{}, &messages.ObjectApplied{Object: o, Created: true})
		}
	}
	create(0, "Cluster m1", "Cluster m2", "Deployment d/web")
	create(time.Second, "Deployment d/api")
	j.Append(after(time.Second), messages.Address{}, &messages.ObjectApplied{Object: "Deployment d/api"})
	create(time.Minute, strings.Split("Job d/1,Job d/2,Job d/3,Job d/4,Job d/5,Job d/6,Job d/7,Job d/8,Job d/9,Job d/10", ",")...)
	require.Equal(t, ""+
		"00:00:00  Cluster                   created             m1 m2\n"+
		"00:00:00  Deployment d/web          created\n"+
		"00:00:01  Deployment d/api          created\n"+
		"00:00:01  Deployment d/api          applied\n"+
		"00:01:00  Job                       created             d/1 d/2 d/3 d/4 d/5 d/6 d/7 d/8 and 2 more\n", textOf(t, j, Style{}))
	require.Equal(t, 15, strings.Count(textOf(t, j, Style{Wide: true}), "\n"))
}

func TestColoursAreOnlyForThoseWhoAsk(t *testing.T) {
	coloured := textOf(t, outage(), Style{Colour: true})
	require.Contains(t, coloured, cyan+"evicting from"+plain)
	for _, c := range []string{plain, bold, dim, yellow, cyan} {
		coloured = strings.ReplaceAll(coloured, c, "")
	}
	require.Equal(t, textOf(t, outage(), Style{}), coloured)
	require.NotContains(t, textOf(t, outage(), Style{Wide: true}), "\x1b")
}

func TestInstantsCountFromTheStart(t *testing.T) {
	for _, c := range []struct {
		name string
		at   time.Time
		want string
	}{
		{"a whole second has no fraction", after(61 * time.Second), "00:01:01"},
		{"a fraction has three digits", after(61*time.Second + 50*time.Millisecond), "00:01:01.050"},
		{"less than a millisecond is not shown", after(time.Microsecond), "00:00:00"},
		{"hours do not wrap", after(100 * time.Hour), "100:00:00"},
		{"what was before has a sign", after(-5 * time.Minute), "-00:05:00"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, teller{start}.at(c.at)) })
	}
}

func TestAJournalNumbersItsFactsAndGivesThemBackFromAnyPoint(t *testing.T) {
	j := New(start)
	require.Empty(t, j.Entries())
	const all = 2*blockSize + 7
	for range all {
		j.Append(start, messages.Address{}, &messages.Restarted{})
	}
	entries := j.Entries()
	require.Len(t, entries, all)
	require.Equal(t, all, j.Len())
	for i := range entries {
		require.Equal(t, uint64(i)+1, entries[i].Seq)
	}
	for _, n := range []int{1, blockSize - 1, blockSize, blockSize + 1, all - 1} {
		require.Equal(t, entries[n:], j.Since(n), "all but the first %d", n)
	}
	require.Empty(t, j.Since(all))
}

// What was read is shared, not copied: neither more facts nor a reader that goes on with its own change it.
func TestWhatWasReadOfAJournalStays(t *testing.T) {
	j := New(start)
	var read [][]Entry
	for n := range blockSize + 2 {
		j.Append(start, messages.Address{}, &messages.Restarted{})
		read = append(read, j.Since(n/2))
		_ = append(j.Since(n/2), Entry{Seq: 1 << 40})
	}
	for n, entries := range read {
		require.Len(t, entries, n+1-n/2)
		for i := range entries {
			require.Equal(t, uint64(n/2+i+1), entries[i].Seq)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAWriterThatFailsEndsTheTimeline(t *testing.T) {
	require.ErrorContains(t, WriteText(full{}, start, outage().Entries(), Style{}), "disk full")
}

// FuzzAFactIsOneLine gives people's words to the timeline: whatever they are, a fact is one line
// without control characters, and the JSON says the same as before.
func FuzzAFactIsOneLine(f *testing.F) {
	f.Add("NetworkDown", "link lost")
	f.Add("two\nlines", "\x1b[31mred\x1b[0m")
	f.Add("\u2028", "\xff\x00")
	f.Fuzz(func(t *testing.T, reason, message string) {
		j := New(start)
		j.Append(start, messages.Address{Name: reason}, &messages.ConditionChanged{Cluster: "m1", Type: reason, Reason: reason, Message: message})
		for _, wide := range []bool{false, true} {
			text := textOf(t, j, Style{Wide: wide})
			line, rest, found := strings.Cut(text, "\n")
			require.True(t, found)
			require.Empty(t, rest)
			require.False(t, strings.ContainsFunc(line, unicode.IsControl), "%q", line)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	b.ReportAllocs()
	fact := &messages.CopyStopped{Binding: "d/web", Cluster: "m1"}
	actor := messages.Address{Kind: messages.KindBinding, Name: "d/web"}
	j := New(start)
	for b.Loop() {
		j.Append(start, actor, fact)
	}
}

func BenchmarkWriteText(b *testing.B) {
	entries := outage().Entries()
	for _, wide := range []bool{false, true} {
		name := map[bool]string{false: "story", true: "wide"}[wide]
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := WriteText(io.Discard, start, entries, Style{Wide: wide}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(entries)), "ns/fact")
		})
	}
}

func TestJSONIsTheSameEveryTime(t *testing.T) {
	e := Entry{At: after(250 * time.Millisecond), Actor: messages.Address{Kind: messages.KindScheduler},
		Fact: &messages.LabelsChanged{Cluster: "<m&1>", Labels: map[string]string{"b": "1", "a": "2"}}}
	for range 20 {
		text, err := AppendJSON([]byte("- "), start, &e)
		require.NoError(t, err)
		require.Equal(t, `- {"at":0.25,"kind":"LabelsChanged","actor":"scheduler","cluster":"<m&1>","labels":{"a":"2","b":"1"}}`, string(text))
	}
	text, err := AppendJSON([]byte("- "), start, &Entry{At: start, Fact: &messages.Restarted{}})
	require.NoError(t, err)
	require.Equal(t, `- {"at":0,"kind":"Restarted","actor":"user"}`, string(text))
}

func TestJSONSaysWhichFactItCannotEncode(t *testing.T) {
	_, err := AppendJSON(nil, start, &Entry{Fact: unwritable{}})
	require.ErrorContains(t, err, "encode Unwritable of user: json: unsupported type")
	require.ErrorContains(t, WriteText(io.Discard, start, []Entry{{Fact: unwritable{}}}, Style{Wide: true}), "encode Unwritable")
}

// unwritable is a fact that JSON cannot hold.
type unwritable struct{ C chan int }

func (unwritable) Kind() string { return "Unwritable" }
