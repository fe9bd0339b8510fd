package incident_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

// compared tells comparisons in words.
func compared(all []replay.Comparison) []string {
	var words []string
	for _, c := range all {
		words = append(words, fmt.Sprintf("%s: %s | %s: %s", c.Cluster, c.Recorded, c.Replayed, c.Verdict))
	}
	return words
}

func placed(seconds float64, on, leaves []string) string {
	return line(incident.Modified, seconds, binding("", on, leaves))
}

func TestDeparturesAreReadOffPlacements(t *testing.T) {
	m1, m2, m12, m13, m23 := []string{"m1:2"}, []string{"m2:2"}, []string{"m1:2", "m2:2"}, []string{"m1:2", "m3:2"}, []string{"m2:2", "m3:2"}
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"one leaves, another takes over":     {[]string{placed(1, m12, nil), placed(5, m13, []string{"m2"}), placed(9, m13, nil)}, []string{"m2: 00:00:05 to m3:2, copy removed 00:00:09"}},
		"who takes over is found later":      {[]string{placed(1, m12, nil), placed(5, m1, []string{"m2"}), placed(7, m13, []string{"m2"})}, []string{"m2: 00:00:05 to m3:2, copy not removed"}},
		"those who were there take more":     {[]string{placed(1, m12, nil), placed(5, []string{"m1:4"}, []string{"m2"}), placed(9, []string{"m1:4"}, nil)}, []string{"m2: 00:00:05 to m1:2, copy removed 00:00:09"}},
		"no cluster takes over":              {[]string{placed(1, m1, nil), placed(5, nil, []string{"m1"})}, []string{"m1: 00:00:05, copy not removed"}},
		"a copy is removed immediately":      {[]string{placed(1, m1, nil), placed(5, m2, nil)}, []string{"m1: 00:00:05 to m2:2, copy removed 00:00:05"}},
		"a task is taken back":               {[]string{placed(1, m12, nil), placed(5, m13, []string{"m2"}), placed(9, m12, nil)}, []string{"m2: 00:00:05 to m3:2, withdrawn 00:00:09", "m3: 00:00:09 to m2:2, copy removed 00:00:09"}},
		"two together":                       {[]string{placed(1, m12, nil), placed(5, []string{"m3:2", "m4:2"}, []string{"m1", "m2"})}, []string{"m1: 00:00:05 to m3:2, m4:2, copy not removed", "m2: 00:00:05 to m3:2, m4:2, copy not removed"}},
		"the same one again":                 {[]string{placed(1, m12, nil), placed(2, m1, []string{"m2"}), placed(3, m1, nil), placed(4, m12, nil), placed(5, m1, []string{"m2"})}, []string{"m2: 00:00:02, copy removed 00:00:03", "m2: 00:00:05, copy not removed"}},
		"one that was leaving when it began": {[]string{line(incident.Stood, 0, binding("", m23, []string{"m1"})), placed(5, m23, nil)}, []string{"m1: 00:00:00, copy removed 00:00:05"}},
		"a binding that is deleted":          {[]string{placed(1, m1, nil), line(incident.Deleted, 5, binding("", m1, nil)), line(incident.Added, 6, binding("", m2, nil))}, nil},
		"a binding that is being deleted":    {[]string{placed(1, m1, nil), line(incident.Modified, 5, binding(`, "deletionTimestamp": "2026-11-21T12:00:05Z"`, nil, nil))}, nil},
		"a move without a change":            {[]string{placed(1, m12, nil), placed(2, m12, nil)}, nil},
	} {
		var words []string
		for _, c := range incident.Compare(recorded(t, c.lines...).Evictions(), incident.Evictions{}, time.Hour) {
			words = append(words, c.Cluster+": "+c.Recorded.String())
		}
		slices.Sort(words)
		require.Equal(t, c.want, words, name)
	}
}

// ran is a run with facts, one a second.
func ran(facts ...messages.Fact) *replay.Run {
	r := &replay.Run{Start: began}
	for i, f := range facts {
		r.Events = append(r.Events, journal.Entry{At: began.Add(time.Duration(i) * time.Second), Fact: f})
	}
	return r
}

func on(names ...string) []api.TargetCluster {
	var all []api.TargetCluster
	for _, name := range names {
		all = append(all, api.TargetCluster{Name: name, Replicas: 2})
	}
	return all
}

func leaves(name string) *messages.EvictionStarted {
	return &messages.EvictionStarted{Binding: "shop/web", Cluster: messages.ClusterName(name), Task: api.GracefulEvictionTask{FromCluster: name}}
}

func TestDeparturesAreReadOffFacts(t *testing.T) {
	const web = "shop/web"
	for name, c := range map[string]struct {
		facts []messages.Fact
		want  []string
	}{
		"a handover": {[]messages.Fact{
			&messages.BindingCreated{Binding: web}, &messages.Scheduled{Binding: web, Clusters: on("m1", "m2")}, leaves("m2"),
			&messages.Scheduled{Binding: web, Clusters: on("m1", "m3")}, &messages.TaintAdded{}, &messages.EvictionEnded{Binding: web, Cluster: "m2"},
		}, []string{"m2: 00:00:02 to m3:2, copy removed 00:00:05"}},
		"one that is taken back": {[]messages.Fact{
			&messages.Scheduled{Binding: web, Clusters: on("m1")}, leaves("m1"), &messages.EvictionWithdrawn{Binding: web, Cluster: "m1", Clusters: on("m1")},
		}, []string{"m1: 00:00:01, withdrawn 00:00:02"}},
		"a placement that is void": {[]messages.Fact{
			&messages.Scheduled{Binding: web, Clusters: on("m1")}, &messages.ScheduleFailed{Binding: web}, &messages.ScheduleFailed{Binding: web, Cleared: true},
		}, []string{"m1: 00:00:02, copy removed 00:00:02"}},
		"one that was there before": {[]messages.Fact{leaves("m9")}, []string{"m9: 00:00:00, copy not removed"}},
	} {
		b := &api.ResourceBinding{}
		b.Namespace, b.Name, b.Spec.Clusters = "shop", "web", on("m9")
		var existing []api.Object
		if name == "one that was there before" {
			existing = []api.Object{b}
		}
		var words []string
		for _, c := range incident.Compare(incident.Evictions{}, incident.Replayed(ran(c.facts...), existing), time.Hour) {
			require.Equal(t, replay.OnlyReplayed, c.Verdict)
			words = append(words, c.Cluster+": "+c.Replayed.String())
		}
		require.Equal(t, c.want, words, name)
	}
}

// once is one departure from m1, so many seconds after the start, for m2, and released later.
func once(at, released float64, to string) incident.Evictions {
	all := incident.Evictions{}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	tasks := []api.GracefulEvictionTask{{FromCluster: "m1"}}
	all.Follow("shop/web", []incident.PlacementAt{{Clusters: on("m1")}, {At: seconds(at), Clusters: on(to), Tasks: tasks}, {At: seconds(released), Clusters: on(to)}})
	return all
}

func TestARecordingAndAReplayAreHeldAgainstEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		replayed incident.Evictions
		want     replay.Agreement
	}{
		"within two seconds":    {once(11.9, 21.9, "m2"), replay.Same},
		"it left earlier":       {once(7, 20, "m2"), replay.Earlier},
		"it left later":         {once(13, 20, "m2"), replay.Later},
		"it was released later": {once(10, 23, "m2"), replay.Later},
		"it went elsewhere":     {once(10, 20, "m3"), replay.Differs},
		"it stayed":             {incident.Evictions{}, replay.OnlyRecorded},
	} {
		all := incident.Compare(once(10, 20, "m2"), c.replayed, time.Hour)
		require.Len(t, all, 1, name)
		require.Equal(t, c.want, all[0].Verdict, name)
	}
	require.Equal(t, []string{"m1: 00:00:10 to m2:2, copy removed 00:00:20 | not evicted: recorded only"}, compared(incident.Compare(once(10, 20, "m2"), nil, time.Hour)))
}

func TestARecordingSaysNothingOfWhatComesAfterItsEnd(t *testing.T) {
	require.Empty(t, incident.Compare(nil, once(61, 65, "m2"), time.Minute))
	require.Equal(t, "00:00:10 to m2:2, copy not removed", incident.Compare(nil, once(10, 65, "m2"), time.Minute)[0].Replayed.String())
	require.Equal(t, replay.Same, incident.Compare(once(59, 60, "m2"), once(60.5, 61, "m2"), time.Minute)[0].Verdict, "what was recorded is held against all of the replay")
}
