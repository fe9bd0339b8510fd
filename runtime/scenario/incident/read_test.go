package incident_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
)

func TestBadRecordingsAreRefusedWithLineAndField(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"an empty file":              {"", "a.jsonl: the file is empty"},
		"a foreign file":             {`{"apiVersion": "v1"}` + "\n", `a.jsonl:1: not a line of a recording: json: unknown field "apiVersion"`},
		"no JSON":                    {"hello\n", "a.jsonl:1: not a line of a recording: invalid character 'h' looking for beginning of value"},
		"another format":             {strings.Replace(header, "recording/1", "recording/9", 1), `a.jsonl:1: format: "leeward-recording/9": want leeward-recording/1`},
		"a bad setting":              {strings.Replace(header, `"format"`, `"config": ["x"], "format"`, 1), `a.jsonl:1: config[0]: "x": `},
		"no header":                  {ended + "\n", `a.jsonl:1: type: "END": want HEADER in the first line, and there alone`},
		"a header further down":      {header + "\n" + header + "\n", `a.jsonl:2: type: "HEADER": want HEADER in the first line, and there alone`},
		"a header that is cut off":   {header[:20], "a.jsonl:1: not a line of a recording: unexpected EOF"},
		"a line that is cut off":     {header + "\n{\"type\": \n" + ended + "\n", "a.jsonl:2: not a line of a recording: unexpected EOF"},
		"two values in a line":       {header + "\n" + ended + ended + "\n", "a.jsonl:2: more than one value in a line"},
		"an unknown type":            {header + "\n" + `{"type": "ODD", "time": "2026-11-21T12:00:01Z"}` + "\n", `a.jsonl:2: type: "ODD": want STOOD, LISTED`},
		"no time":                    {header + "\n" + `{"type": "END"}` + "\n", "a.jsonl:2: time: required"},
		"no object":                  {header + "\n" + `{"type": "ADDED", "time": "2026-11-21T12:00:01Z"}` + "\n", "a.jsonl:2: object: want an object"},
		"an object without a kind":   {header + "\n" + line(incident.Added, 1, `{"apiVersion": "v1", "metadata": {"name": "x"}}`) + "\n", "a.jsonl:2: object.kind: required"},
		"an object without a name":   {header + "\n" + line(incident.Deleted, 1, `{"apiVersion": "v1", "kind": "Event"}`) + "\n", "a.jsonl:2: object.metadata.name: required"},
		"an object of another shape": {header + "\n" + line(incident.Stood, 1, cluster("m1", `"taints": 7`, "")) + "\n", "a.jsonl:2: object: not a Cluster: json: cannot unmarshal number"},
	} {
		_, err := incident.Read("a.jsonl", []byte(c.text))
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestARecorderThatWasKilledLeavesWhatItWrote(t *testing.T) {
	whole := string(text(line(incident.Stood, 0, cluster("m1", "", ""))))
	i, err := incident.Read("a.jsonl", []byte(whole[:len(whole)-20]))
	require.NoError(t, err)
	require.Len(t, i.Stood, 1)
	require.Equal(t, []string{"the last line was cut off", "there is no last line: the recorder was killed"}, i.Notes)
	require.Equal(t, time.Second, i.Duration)
}

func TestTheHeaderSaysWhatWasRecorded(t *testing.T) {
	text := strings.Replace(header, `"format"`, `"serverVersion": "v1.37.0", "profile": "karmada", "config": ["gracefulEvictionTimeout=20s"], "format"`, 1)
	i, err := incident.Read("a.jsonl", []byte(text+"\n"+ended+"\n"))
	require.NoError(t, err)
	require.Equal(t, began, i.Start, "the second in which it began")
	require.Equal(t, 10*time.Minute, i.Duration)
	require.Equal(t, "v1.37.0", i.Server)
	s := i.Scenario(incident.Under{})
	require.Equal(t, "karmada", s.Profile)
	require.Equal(t, "gracefulEvictionTimeout", s.Config[0].Field)
}

func TestWhatIsMissingIsNoted(t *testing.T) {
	pod := `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}`
	i := recorded(t, about(incident.Absent, 0, "secrets"), line(incident.Stood, 0, pod), line(incident.Modified, 5, pod), about(incident.Gap, 9, "works.work.karmada.io"))
	require.Equal(t, []string{
		"secrets were not recorded: why",
		"changes of works.work.karmada.io may be missing at 9s: why",
		"objects of kind Pod are recorded and not replayed: nothing here is decided by them",
	}, i.Notes)
}

// changes of an incident in words.
func changes(i *incident.Incident) []string {
	var all []string
	for n := range i.Changes {
		c := &i.Changes[n]
		word := "modified "
		switch {
		case c.Now == nil:
			word = "deleted "
		case c.Before == nil:
			word = "added "
		}
		all = append(all, c.At.String()+" "+word+c.Key().String())
	}
	return all
}

func TestAListAfterAGapSaysWhatChanged(t *testing.T) {
	const clusters = "clusters.cluster.karmada.io"
	i := recorded(t,
		line(incident.Stood, 0, versioned("m1", 1)), line(incident.Stood, 0, versioned("m2", 2)), line(incident.Stood, 0, versioned("m3", 3)), line(incident.Stood, 0, quotaBefore),
		about(incident.Listed, 0, clusters),
		about(incident.Gap, 10, clusters),
		line(incident.Stood, 11, versioned("m1", 1)), line(incident.Stood, 11, versioned("m2", 7)), line(incident.Stood, 11, versioned("m4", 8)),
		about(incident.Listed, 12, clusters),
	)
	require.Equal(t, []string{"11s modified Cluster m2", "11s added Cluster m4", "12s deleted Cluster m3"}, changes(i))
	require.Equal(t, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: "m3"}, i.Changes[2].Key())
}

// versioned is a Cluster of a resourceVersion.
func versioned(name string, version int) string {
	return strings.Replace(cluster(name, "", ""), `"metadata": {`, `"metadata": {"resourceVersion": "`+string(rune('0'+version))+`", `, 1)
}

func TestAClockThatIsSetBackPauses(t *testing.T) {
	i := recorded(t, line(incident.Added, 20, cluster("m1", "", "")), line(incident.Added, 10, cluster("m2", "", "")))
	require.Equal(t, []string{"20s added Cluster m1", "20s added Cluster m2"}, changes(i))
}

// TestOnlyTheFleetsOwnKindsAreTheFleet has objects of other APIs whose kinds have the names of those of a fleet.
func TestOnlyTheFleetsOwnKindsAreTheFleet(t *testing.T) {
	for _, o := range []string{work(1, 1, "Healthy"), cluster("m1", "", ""), binding("", []string{"m1:2"}, nil), lease(4)} {
		other := regexp.MustCompile(`"apiVersion": "[^"]*"`).ReplaceAllString(o, `"apiVersion": "example.org/v1"`)
		s := recorded(t, line(incident.Added, 2, other), line(incident.Deleted, 9, other)).Scenario(incident.Under{})
		require.Len(t, s.Timeline, 2, o)
		require.IsType(t, &scenario.Apply{}, s.Timeline[0].Action)
		require.IsType(t, &scenario.Delete{}, s.Timeline[1].Action)
	}
}

func FuzzReadingNeverPanics(f *testing.F) {
	f.Add(text(line(incident.Stood, 0, cluster("m1", "", ready("True", ""))), line(incident.Modified, 5, cluster("m1", tainted("a", "NoExecute"), ready("False", "")))))
	f.Add(text(line(incident.Added, 1, work(1, 1, "Healthy")), line(incident.Deleted, 5, work(1, 1, ""))))
	f.Add(text(line(incident.Added, 1, strings.Replace(work(1, 1, "Healthy"), "work.karmada.io", "example.org", 1))))
	f.Add(text(line(incident.Added, 1, binding("", []string{"m1:2"}, []string{"m2"})), line(incident.Modified, 5, lease(4))))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := incident.Read("a.jsonl", data)
		if err != nil {
			return
		}
		i.Scenario(incident.Under{})
		i.Evictions()
	})
}
