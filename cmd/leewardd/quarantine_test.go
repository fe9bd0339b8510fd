package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/daemon/live"
	"leeward/runtime/kernel"
)

func stuckAt(kind messages.Kind, name string) *live.Stuck {
	return &live.Stuck{
		MachineStuck: &kernel.MachineStuck{Address: messages.Address{Kind: kind, Name: name}, Message: &messages.Woken{}},
		Limit:        10 * time.Second, Heard: 7,
	}
}

func TestAMachineThatDoesNotReturnIsKeptOutUntilItsObjectChanges(t *testing.T) {
	var log bytes.Buffer
	counted := map[messages.Kind]int{}
	c := clock.NewMock()
	q := quarantine{clock: c, log: zerolog.New(&log), changed: func(kind messages.Kind, n int) { counted[kind] = n }}
	web := stuckAt(messages.KindBinding, "shop/web")
	for _, lasts := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
		require.True(t, q.hear(fmt.Errorf("run: %w", web)))
		require.Equal(t, []live.Quarantined{{Machine: web.Address, Since: c.Now(), Step: web.Message, Heard: 7, NotBefore: c.Now().Add(lasts)}}, q.kept)
		require.Equal(t, map[messages.Kind]int{messages.KindBinding: 1}, counted)
		require.True(t, q.hear(&live.TryAgain{Machine: web.Address}))
		require.Empty(t, q.kept)
		require.Equal(t, map[messages.Kind]int{messages.KindBinding: 0}, counted)
	}
	require.Contains(t, log.String(), `"level":"error","machine":"binding/shop/web","received":"*messages.Woken"`)
	for range 20 {
		q.hear(web)
		q.hear(&live.TryAgain{Machine: web.Address})
	}
	q.hear(web)
	require.Equal(t, c.Now().Add(longestQuarantine), q.kept[0].NotBefore)
}

func TestMachinesInQuarantineDoNotEndTheDaemonHoweverMany(t *testing.T) {
	var errs []error
	for i := range 2 * tooManyFailures {
		errs = append(errs, stuckAt(messages.KindCluster, fmt.Sprint("c", i)))
	}
	restarts, _, err := supervised(t.Context(), time.Second, errs...)
	require.NoError(t, err)
	require.Equal(t, 2*tooManyFailures, restarts)
}

func TestASchedulerThatDoesNotReturnIsAFailureOfAllMachines(t *testing.T) {
	restarts, log, err := supervised(t.Context(), time.Second, stuckAt(messages.KindScheduler, ""))
	require.NoError(t, err)
	require.Equal(t, 1, restarts)
	require.Contains(t, log, "the step of scheduler does not return from *messages.Woken within 10s")
	require.Contains(t, log, "the machines failed")
}

func TestTheLimitOfAStepHasBounds(t *testing.T) {
	for value, fits := range map[string]bool{"0": true, "1s": true, "1h": true, "999ms": false, "-10s": false, "61m": false} {
		line := newCommandLine()
		require.NoError(t, line.flags().Parse([]string{"--machine-step-limit", value}))
		_, err := line.read()
		if fits {
			require.NoError(t, err, value)
		} else {
			require.ErrorContains(t, err, "machineStepLimit: ", value)
		}
	}
	line := newCommandLine()
	c, err := line.read()
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, c.machineStepLimit)
}
