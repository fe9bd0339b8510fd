package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/api"
	"leeward/runtime/scenario/replay"
)

// comparing is a run of a recording with these comparisons.
func comparing(all ...replay.Comparison) *replay.Run {
	return &replay.Run{Name: "outage", File: "outage.jsonl", Seed: 1, Profile: "leeward", Start: start, Passed: true, Compared: append([]replay.Comparison{}, all...)}
}

var (
	left   = &replay.EvictionRecord{At: time.Minute, To: []api.TargetCluster{{Name: "m2", Replicas: 2}, {Name: "m3"}}, Released: 75 * time.Second}
	stuck  = &replay.EvictionRecord{At: time.Minute, Open: true}
	recant = &replay.EvictionRecord{At: time.Minute, Released: 61500 * time.Millisecond, Back: true}
)

func TestARecordingIsHeldAgainstItsReplayInATable(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, comparing(
		replay.Comparison{Binding: "shop/web", Cluster: "m1", Recorded: left, Replayed: stuck, Verdict: replay.Differs},
		replay.Comparison{Binding: "shop/db", Cluster: "m1", Recorded: recant, Verdict: replay.OnlyRecorded},
		replay.Comparison{Binding: "shop/a", Cluster: "m1", Recorded: stuck, Replayed: stuck, Verdict: replay.Same},
		replay.Comparison{Binding: "shop/b", Cluster: "m1", Recorded: stuck, Replayed: stuck, Verdict: replay.Same},
	))
	require.Equal(t, `outage  profile leeward  seed 1

WORKLOAD  EVICTED FROM  RECORDED                                     REPLAYED                    VERDICT
shop/web  m1            00:01:00 to m2:2, m3, copy removed 00:01:15  00:01:00, copy not removed  differs
shop/db   m1            00:01:00, withdrawn 00:01:01.500             not evicted                 recorded only
shop/a    m1            00:01:00, copy not removed                   00:01:00, copy not removed  same
shop/b    m1            00:01:00, copy not removed                   00:01:00, copy not removed  same

compared: 2 same, 1 differs, 1 recorded only
`, out.String())
}

func TestARecordingInWhichNothingMovedSaysSo(t *testing.T) {
	var out strings.Builder
	write(t, &Transcript{W: &out}, comparing())
	require.Equal(t, "outage  profile leeward  seed 1\n\nno workload was evicted, neither as recorded nor as replayed\n\ncompared: no evictions\n", out.String())
}

func TestComparisonsAreInTheDocument(t *testing.T) {
	text, err := Encode(comparing(
		replay.Comparison{Binding: "shop/web", Cluster: "m1", Recorded: left, Replayed: recant, Verdict: replay.Differs},
		replay.Comparison{Binding: "shop/db", Cluster: "m1", Replayed: stuck, Verdict: replay.OnlyReplayed},
	))
	require.NoError(t, err)
	var document struct{ Compared json.RawMessage }
	require.NoError(t, json.Unmarshal(text, &document))
	require.JSONEq(t, `[
		{"binding": "shop/web", "cluster": "m1", "verdict": "differs",
			"recorded": {"at": 60, "to": [{"name": "m2", "replicas": 2}, {"name": "m3"}], "released": 75},
			"replayed": {"at": 60, "to": [], "released": null, "back": 61.5}},
		{"binding": "shop/db", "cluster": "m1", "verdict": "replayed only", "recorded": null, "replayed": {"at": 60, "to": [], "released": null}}
	]`, string(document.Compared))
	text, err = Encode(passing("quiet"))
	require.NoError(t, err)
	require.NotContains(t, string(text), `"compared"`)
}
