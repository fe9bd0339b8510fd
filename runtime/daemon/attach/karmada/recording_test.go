package karmada

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

const recording = "../../../../scenarios/recordings/karmada-failover.jsonl"

// pathOf is where an object is at a server.
func pathOf(key api.Key) string {
	r := catalog.Of(key)
	k := &kind{Resource: r, namespace: key.Namespace}
	return strings.Join(append(k.path(), key.Name), "/")[1:]
}

func followed(key api.Key) bool {
	for _, k := range kinds {
		if k.Resource == catalog.Of(key) {
			return k.namespace == "" || k.namespace == key.Namespace
		}
	}
	return false
}

// recorded is one object of a recording, with who wrote it.
func recorded(t *testing.T, l *incident.Line) (key api.Key, text string) {
	t.Helper()
	var o map[string]any
	require.NoError(t, json.Unmarshal(l.Object, &o))
	about := o["metadata"].(map[string]any)
	var writers []metav1.ManagedFieldsEntry
	for _, w := range l.Writers {
		writers = append(writers, metav1.ManagedFieldsEntry{Manager: w.Manager, Subresource: w.Subresource, Time: &w.Time, Operation: "Update"})
	}
	about["managedFields"] = writers
	key = api.Key{APIVersion: o["apiVersion"].(string), Kind: o["kind"].(string), Name: about["name"].(string)}
	key.Namespace, _ = about["namespace"].(string)
	data, err := json.Marshal(o)
	require.NoError(t, err)
	return key, string(data)
}

// play plays a recording into a server, and returns the attachment to it as it was at the end.
func play(t *testing.T, data []byte) *trial {
	t.Helper()
	var settings messages.Settings
	objects := map[string]string{}
	var d *trial
	for text := range bytes.Lines(data) {
		var l incident.Line
		require.NoError(t, json.Unmarshal(text, &l))
		switch l.Type {
		case incident.Header:
			var overrides []config.Override
			for _, text := range l.Config {
				o, err := config.ParseOverride(text, recording)
				require.NoError(t, err)
				overrides = append(overrides, o)
			}
			var problems []error
			settings, problems = config.Resolve(l.Profile, overrides)
			require.Empty(t, problems)
		case incident.Stood:
			if key, object := recorded(t, &l); followed(key) {
				objects[pathOf(key)] = object
			}
		case incident.Added, incident.Modified, incident.Deleted:
			if d == nil {
				d = attach(t, &settings, l.Time, objects)
			}
			d.clock.Set(l.Time)
			key, object := recorded(t, &l)
			if !followed(key) {
				continue
			}
			if l.Type == incident.Deleted {
				d.server.Remove(pathOf(key))
			} else {
				d.server.Put(pathOf(key), object)
			}
			d.put++
			d.settled()
		}
	}
	return d
}

// TestTheDecisionsInShadowAreThoseOfAReplay: what is seen of a recorded Karmada, one change after the other and with the answers of
// its controllers among them, leads to the same decisions as the replay of the recording, which leaves those answers out.
func TestTheDecisionsInShadowAreThoseOfAReplay(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(recording)
	require.NoError(t, err)
	i, err := incident.Read(recording, data)
	require.NoError(t, err)
	run, err := replay.Play(i.Scenario(incident.Under{}), replay.Options{})
	require.NoError(t, err)
	offline := incident.Compare(i.Evictions(), incident.Replayed(run, i.Stood), i.Duration)
	require.Len(t, offline, 13)

	d := play(t, data)
	for _, c := range d.compared {
		require.Equal(t, shadow.Agreed, c.Verdict, "%+v", c)
	}
	evictions := of(d.compared, shadow.Eviction)
	require.Len(t, evictions, len(offline))
	for _, want := range offline {
		n := slices.IndexFunc(evictions, func(c *shadow.Comparison) bool { return c.Binding == want.Binding && c.Cluster == want.Cluster })
		require.GreaterOrEqual(t, n, 0, "%s from %s", want.Binding, want.Cluster)
		require.WithinDuration(t, i.Start.Add(want.Replayed.At), evictions[n].Ours.At, incident.Apart)
		evictions = slices.Delete(evictions, n, n+1)
	}
	require.Len(t, of(d.compared, shadow.Removal), len(offline))
	for _, component := range []string{"karmada-controller-manager", "karmada-scheduler"} {
		require.Contains(t, d.log.String(), `"manager":"`+component+`","message":"this component decides here`)
	}
	require.Equal(t, placedOffline(run), placedInShadow(d.compared))
}

func of(all []*shadow.Comparison, k shadow.Kind) (some []*shadow.Comparison) {
	for _, c := range all {
		if c.Kind == k {
			some = append(some, c)
		}
	}
	return some
}

// placements are where each binding was scheduled, one placement after the other.
type placements map[string][][]api.TargetCluster

func (p placements) add(binding string, clusters []api.TargetCluster) {
	p[binding] = append(p[binding], slices.SortedFunc(slices.Values(clusters), func(a, b api.TargetCluster) int { return strings.Compare(a.Name, b.Name) }))
}

func placedOffline(r *replay.Run) placements {
	all := placements{}
	for i := range r.Events {
		if f, is := r.Events[i].Fact.(*messages.Scheduled); is {
			all.add(string(f.Binding), f.Clusters)
		}
	}
	return all
}

func placedInShadow(compared []*shadow.Comparison) placements {
	all := placements{}
	for _, c := range of(compared, shadow.Placement) {
		if strings.Contains(c.Ours.Reason, " scheduled ") {
			all.add(c.Binding, c.Ours.Clusters)
		}
	}
	return all
}
