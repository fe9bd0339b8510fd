package shrink

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages/admission"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/incident"
	"leeward/runtime/scenario/replay"
)

const recordings = "../../../scenarios/recordings/"

// recorded is how a recording is shrunk.
func recorded(t *testing.T, file string) Config {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	i, err := incident.Read(file, data)
	require.NoError(t, err)
	s := i.Scenario(incident.Under{})
	return Config{Source: scenario.Disk, Scenario: s, Seed: s.Seed, Most: 2000}
}

// replayed is how the replay of a recording compares with it, a line for each eviction.
func replayed(t *testing.T, text []byte) (lines []string) {
	t.Helper()
	i, err := incident.Read("small.jsonl", text)
	require.NoError(t, err)
	s := i.Scenario(incident.Under{})
	run, err := replay.Play(s, replay.Options{Seed: s.Seed})
	require.NoError(t, err)
	for _, c := range i.Held(run, s, 0) {
		lines = append(lines, (&difference{Comparison: c}).String())
	}
	return lines
}

func TestARecordingBecomesTheSmallestWhoseReplayDiffers(t *testing.T) {
	policy, err := os.ReadFile(recordings + "patient-policy.yaml")
	require.NoError(t, err)
	patient, problems := manifest.NewDecoder(manifest.FleetKinds()).Decode("patient-policy.yaml", policy)
	require.Empty(t, problems)
	admission.DefaultNamespace(patient[0].Object)
	nginx, karmada := recordings+"nginx-is-evicted-from-a-failed-cluster.jsonl", recordings+"karmada-failover.jsonl"
	for name, c := range map[string]struct {
		file   string
		change func(*Config)
		want   string
		left   Size
	}{
		"another policy": {nginx, func(c *Config) { c.With = patient }, "default/nginx-deployment from member2, recorded only", Size{Objects: 8, Changes: 4}},
		"cut off":        {nginx, func(c *Config) { c.With, c.Until = patient, 40*time.Second }, "default/nginx-deployment from member2, recorded only", Size{Objects: 8, Changes: 4}},
		"another setting": {
			karmada, func(c *Config) {
				c.Set = []config.Override{{Field: "gracefulEvictionTimeout", Value: "10s"}}
			}, "shop/nowhere-deployment from m2, earlier", Size{Objects: 4, Changes: 3},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shrunk := recorded(t, c.file)
			c.change(&shrunk)
			r, err := Recording(context.Background(), shrunk)
			require.NoError(t, err)
			require.Len(t, r.Fails, 1)
			require.True(t, strings.HasPrefix(r.Fails[0], c.want), r.Fails[0])
			require.Equal(t, c.left, r.After)
			require.Len(t, replayed(t, r.Text), 1, "and no other eviction differs")
			again, err := Recording(context.Background(), shrunk)
			require.NoError(t, err)
			require.Equal(t, string(r.Text), string(again.Text), "the same, byte for byte")
			isRecorded(t, c.file, r.Text, len(shrunk.With))
		})
	}
}

// isRecorded requires that every object of a smaller recording is in the whole one, but for manifests that were added.
func isRecorded(t *testing.T, file string, small []byte, added int) {
	t.Helper()
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range bytes.Lines(small) {
		if bytes.Contains(line, []byte(`"object":`)) && !bytes.Contains(whole, line) {
			added--
		}
	}
	require.Zero(t, added)
}

func TestARecordingThatIsReplayedAsItWasIsRefused(t *testing.T) {
	c := recorded(t, recordings+"nginx-is-evicted-from-a-failed-cluster.jsonl")
	_, err := Recording(context.Background(), c)
	require.ErrorIs(t, err, ErrSame)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Recording(done, c)
	require.Error(t, err)
}

func TestASearchInARecordingIsBounded(t *testing.T) {
	c := recorded(t, recordings+"karmada-failover.jsonl")
	c.Set, c.Most = []config.Override{{Field: "gracefulEvictionTimeout", Value: "10s"}}, 3
	r, err := Recording(context.Background(), c)
	require.NoError(t, err)
	require.True(t, r.Bounded)
	require.Equal(t, 3, r.Tries)
}

// The settings are part of the smaller recording: nothing is inferred from what was omitted.
func TestASmallerRecordingHasItsSettings(t *testing.T) {
	c := recorded(t, recordings+"karmada-failover.jsonl")
	h := &history{config: &c, ctx: context.Background()}
	data, err := os.ReadFile(c.Scenario.File)
	require.NoError(t, err)
	require.NoError(t, h.takeApart(data))
	i, err := incident.Read("small.jsonl", h.text())
	require.NoError(t, err)
	require.Nil(t, i.Assumed())
	was, problems := config.Resolve(c.Scenario.Profile, c.Scenario.Config)
	require.Empty(t, problems)
	is, problems := config.Resolve(i.Profile, i.Config)
	require.Empty(t, problems)
	require.Equal(t, was, is)
}

// A run that ends early has the expectations that can be decided until then.
func TestARunThatEndsEarlyIsShrunkAsOneThatLastsNoLonger(t *testing.T) {
	c := Config{
		Source: scenario.Disk, Scenario: find(t, first)[0], Seed: 1, Most: 2000, Until: 6*time.Minute + 30*time.Second,
		Set: []config.Override{{Field: "clusterFailureThreshold", Value: "2m", Source: "--set"}},
	}
	r, err := Shrink(context.Background(), c)
	require.NoError(t, err)
	require.Equal(t, []string{"at 5m40s: cluster member2 has the taint cluster.karmada.io/not-ready:NoExecute"}, r.Fails)
	require.Equal(t, 4, r.Late)
	small, run := play(t, r)
	require.Equal(t, 1, run.Failures())
	require.Equal(t, c.Until, small.Duration)
	c.Set = nil
	_, err = Shrink(context.Background(), c)
	require.ErrorIs(t, err, ErrHolds, "what comes later fails for its end alone")
}

// FuzzHistory: a recording that can be read can be taken apart, and be read again, with everything or with nothing of it kept.
func FuzzHistory(f *testing.F) {
	whole, err := os.ReadFile(recordings + "nginx-is-evicted-from-a-failed-cluster.jsonl")
	require.NoError(f, err)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	f.Add(bytes.Join(lines[:min(len(lines), 20)], nil), int64(0))
	f.Add(bytes.Join(append(lines[:2:2], lines[len(lines)-4:]...), nil), int64(time.Second))
	f.Fuzz(func(t *testing.T, data []byte, until int64) {
		i, err := incident.Read("r.jsonl", data)
		if err != nil {
			return
		}
		h := &history{config: &Config{Scenario: &scenario.Scenario{File: "r.jsonl", Profile: i.Profile, Config: i.Config}, Until: time.Duration(max(0, until))}}
		if h.takeApart(data) != nil {
			return // of settings that no profile has
		}
		for range 2 {
			_, err := incident.Read("r.jsonl", h.text())
			require.NoError(t, err, string(h.text()))
			h.families, h.changes = nil, nil
		}
	})
}
