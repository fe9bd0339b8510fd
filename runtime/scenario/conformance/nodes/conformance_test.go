package nodes

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seeds are those of the replays: first the ones that show what chance does seldom, as a health pass that takes long, then any others.
var seeds = []uint64{1, 3, 12, 41, 84, 94, 27, 44, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 34, 72}

// phases are the ways in which a replay may lie to what a recording does not tell.
func (r *recording) phases(period time.Duration) (all []phase) {
	const steps, beats = 8, 4
	for _, seed := range seeds {
		for i := range steps {
			p := phase{behind: (period * time.Duration(i) / steps).Truncate(time.Millisecond), seed: seed, apart: true}
			all = append(all, p)
			p.apart = false
			for j := range beats {
				p.beat = (seconds(r.Script.Kubelet.LeaseRenewSeconds) * time.Duration(j) / beats).Truncate(time.Millisecond)
				all = append(all, p)
			}
		}
	}
	return all
}

// tolerated is how much earlier or later than in a replay something was seen: a control plane takes some time, its passes drift, and a
// phase is met to an eighth of a period.
var tolerated = tolerance{earlier: 0.45, later: 0.6}

// class names a node by all that tells it from others: its zone, what it had at first, and what was done to it.
func (r *recording) class(name string) string {
	i := slices.IndexFunc(r.Script.Nodes, func(n scriptNode) bool { return n.Name == name })
	if i < 0 {
		return name
	}
	labels := r.Script.Nodes[i].Labels
	words := []string{"node", labels["topology.kubernetes.io/region"], labels["topology.kubernetes.io/zone"]}
	words = append(words, r.Observed.InitialNodes[name].Taints...)
	for i := range r.Script.Events {
		if e := &r.Script.Events[i]; e.Node == name || slices.Contains(e.Nodes, name) {
			words = append(words, e.Action)
		}
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

// best returns the fewest differences that any phase leaves.
func (r *recording) best(t *testing.T) (fewest []string) {
	recorded := r.account()
	for i, p := range r.phases(r.settings(t).NodeMonitorPeriod) {
		some := differences(recorded, r.replayed(t, p), r.class, tolerated)
		if len(some) == 0 {
			return nil
		}
		if i == 0 || len(some) < len(fewest) {
			fewest = some
		}
	}
	return fewest
}

// all are the recordings of testdata, or of the folder -recordings. Some are repeats of one script, -run2 and so on: they show what a real
// control plane leaves to chance.
func all(t *testing.T) map[string]*recording {
	files, err := filepath.Glob(filepath.Join(cmp.Or(*recordings, "testdata"), "*.json"))
	require.NoError(t, err)
	if *recordings == "" {
		require.Len(t, files, 100)
	}
	all := map[string]*recording{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = read(t, file)
	}
	return all
}

// Under profile kubernetes a replay goes as each recording went, in some phase: where repeats of a script went differently, each outcome is one of
// those of the replays. Other recordings are tried with go test -run Replayed -recordings FOLDER.
func TestKubernetesIsReplayedAsRecorded(t *testing.T) {
	all := all(t)
	for _, script := range slices.Sorted(maps.Keys(all)) {
		t.Run(script, func(t *testing.T) {
			require.Empty(t, strings.Join(all[script].best(t), "\n"))
		})
	}
}

// The comparison sees every kind of difference.
func TestDifferencesAreSeen(t *testing.T) {
	r := all(t)["c05-heartbeat-stops"]
	require.Empty(t, r.best(t))
	evicted := func(a *account) *life {
		i := slices.IndexFunc(a.pods, func(l life) bool { return l.condemned != never })
		return &a.pods[i]
	}
	for about, change := range map[string]func(*account){
		"an eviction that is late":   func(a *account) { evicted(a).condemned += 2 },
		"one that is early":          func(a *account) { evicted(a).condemned -= 2 },
		"none at all":                func(a *account) { evicted(a).condemned = never },
		"one for another reason":     func(a *account) { evicted(a).why = "PreemptionByScheduler" },
		"a pod that never ended":     func(a *account) { evicted(a).gone = never },
		"one on another node":        func(a *account) { evicted(a).node = "n2" },
		"a pod that is missing":      func(a *account) { a.pods = a.pods[1:] },
		"a pod that is too many":     func(a *account) { a.pods = append(a.pods, a.pods[0]) },
		"a taint that is missing":    func(a *account) { a.nodes["n1"] = a.nodes["n1"][:1] },
		"a taint at another time":    func(a *account) { a.nodes["n1"][1].at += 2 },
		"another taint":              func(a *account) { a.nodes["n1"][1].text += "x" },
		"a taint on another node":    func(a *account) { a.nodes["n1"], a.nodes["n2"] = a.nodes["n2"], a.nodes["n1"] },
		"an input that was refused":  func(a *account) { a.refused = append(a.refused, refusal{1, "x"}) },
		"a pod that was not started": func(a *account) { evicted(a).running = never },
		"one that is ready in the end": func(a *account) {
			i := slices.IndexFunc(a.pods, func(l life) bool { return l.gone == never })
			a.pods[i].ready = !a.pods[i].ready
		},
	} {
		other := *r
		recorded := other.account()
		change(recorded)
		for _, p := range other.phases(other.settings(t).NodeMonitorPeriod)[:40] {
			require.NotEmpty(t, differences(recorded, other.replayed(t, p), other.class, tolerated), about)
		}
	}
}
