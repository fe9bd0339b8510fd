package main

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/catalog"
	"leeward/runtime/config"
	"leeward/runtime/fakemember"
	"leeward/runtime/incident"
	"leeward/runtime/incident/recorder"
	"leeward/runtime/report"
	"leeward/runtime/scenario"
	"leeward/runtime/world"
)

// whatItTold is what a recorder wrote.
type whatItTold struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *whatItTold) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// TestAnOutageThatWasRecordedReplaysAsItWent records a daemon while nginx leaves a cluster that fails.
func TestAnOutageThatWasRecordedReplaysAsItWent(t *testing.T) {
	r := watched(t, "allowNoExecuteTaintPolicy: true\n")
	agents := fakemember.Config{
		Client: r.client, Clock: clock.New(), Create: true, Heartbeat: time.Second, Tell: func(string) {},
		Cluster:   api.ClusterSpec{SyncMode: api.Pull},
		Behaviour: messages.MemberBehaviour{StartupMin: 50 * time.Millisecond, StartupMax: 50 * time.Millisecond, Health: api.Healthy},
	}
	r.play(agents, "member1", "member3")
	stop := r.play(agents, "member2")
	for _, name := range []string{"member1", "member2", "member3"} {
		await(r, api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: name}, func(c *api.Cluster) bool {
			return meta.IsStatusConditionTrue(c.Status.Conditions, api.ConditionReady)
		})
	}
	for _, doc := range seed003(t) {
		if p, ok := doc.Object.(*api.PropagationPolicy); ok {
			*p.Spec.Placement.ClusterTolerations[0].TolerationSeconds = 1
		}
		require.NoError(t, r.client.Create(r.ctx, catalog.Of(api.KeyOf(doc.Object)), doc.Object))
	}
	binding := api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "nginx-deployment"}
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member2") })

	text, end := r.record()
	stop()
	agents.Failure, agents.FailAfter = fakemember.NotReady, time.Millisecond
	r.play(agents, "member2")
	await(r, binding, func(b *api.ResourceBinding) bool { return runsOn(b, "member1", "member3") })
	end()

	i, err := incident.Read("outage.jsonl", text.text.Bytes())
	require.NoError(t, err)
	require.Empty(t, i.Notes)
	s := i.Scenario(nil)
	require.Equal(t, "leeward", s.Profile)
	require.Equal(t, []config.Override{{Field: "allowNoExecuteTaintPolicy", Value: "true", Source: "outage.jsonl"}}, s.Config, "the daemon says so")
	for _, seed := range []uint64{1, 2, 3} {
		compared := compared(t, i, s, seed)
		require.Len(t, compared, 1)
		require.Equal(t, "member2", compared[0].Cluster)
		require.Equal(t, report.Same, compared[0].Verdict, "%v, %v", compared[0].Recorded, compared[0].Replayed)
	}
}

// record records the daemon until it is told to end.
func (r *onlooker) record() (text *whatItTold, end func()) {
	r.t.Helper()
	resources, err := recorder.Named(nil)
	require.NoError(r.t, err)
	text = &whatItTold{}
	begun, once := make(chan struct{}), sync.Once{}
	ctx, stop := context.WithCancel(r.ctx)
	c := &recorder.Config{
		Client: r.client, Clock: clock.New(), Out: text, Resources: resources, Key: []byte("key"),
		Tell: func(int, int) { once.Do(func() { close(begun) }) },
	}
	ended := make(chan error, 1)
	go func() { ended <- recorder.Run(ctx, c) }()
	<-begun
	return text, func() {
		stop()
		require.NoError(r.t, <-ended)
	}
}

// compared replays an incident under a seed.
func compared(t *testing.T, i *incident.Incident, s *scenario.Scenario, seed uint64) []report.Comparison {
	t.Helper()
	run, err := world.Replay(s, world.Options{Seed: seed})
	require.NoError(t, err)
	return incident.Compare(i.Departures(), incident.Replayed(run, s.Began.Objects), i.Duration)
}
