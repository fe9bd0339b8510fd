package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/kernel"
)

// supervised runs machines that fail as they are told, a failure each time that they are made, some time apart. It
// returns how often they were rebuilt, and what was logged.
func supervised(ctx context.Context, apart time.Duration, failures ...error) (restarts int, log string, err error) {
	var out bytes.Buffer
	c := clock.NewMock()
	left := failures
	run := func(context.Context) error {
		if len(left) == 0 {
			return nil
		}
		c.Add(apart)
		err := left[0]
		left = left[1:]
		return err
	}
	s := supervisor{
		clock: c, log: zerolog.New(&out),
		start:      func(context.Context) (func(context.Context) error, error) { return run, nil },
		restarted:  func() { restarts++ },
		quarantine: &quarantine{clock: c, log: zerolog.New(&out), changed: func(messages.Kind, int) {}},
	}
	err = s.run(ctx, run)
	return restarts, out.String(), err
}

var panicked = &kernel.MachinePanic{Address: messages.Address{Kind: messages.KindBinding, Name: "default/web"}, Value: "broken", Stack: []byte("goroutine 1")}

func TestMachinesThatFailAreRebuilt(t *testing.T) {
	restarts, log, err := supervised(t.Context(), time.Second, panicked, errors.New("something else"))
	require.NoError(t, err)
	require.Equal(t, 2, restarts)
	require.Contains(t, log, `"machine":"binding/default/web","stack":"goroutine 1"`)
	require.Contains(t, log, `"error":"something else"`)
}

func TestMachinesThatFailAgainAndAgainEndTheDaemon(t *testing.T) {
	five := []error{panicked, panicked, panicked, panicked, panicked}
	restarts, _, err := supervised(t.Context(), time.Second, five...)
	require.EqualError(t, err, "the machines failed 5 times within 1m0s: binding/default/web panicked on <nil>: broken")
	require.Equal(t, 4, restarts)

	restarts, _, err = supervised(t.Context(), 15*time.Second, five...)
	require.NoError(t, err, "four within any minute are borne")
	require.Equal(t, 5, restarts)
}

func TestMachinesStandStillWhileTheStoreIsReadOnly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	restarts, log, err := supervised(ctx, time.Second, &engine.ReadOnly{Cause: errors.New("disk full")}, panicked)
	require.NoError(t, err)
	require.Zero(t, restarts)
	require.Contains(t, log, "disk full")
}

func TestMachinesThatASharedStoreDoesNotHearEndTheirTerm(t *testing.T) {
	for _, err := range []error{&engine.Deposed{Term: 3, Current: 9}, &engine.Unreachable{Cause: errors.New("no route to host")}} {
		restarts, log, ended := supervised(t.Context(), time.Second, fmt.Errorf("commit 2 changes: %w", err), panicked)
		require.NoError(t, ended)
		require.Zero(t, restarts)
		require.Contains(t, log, err.Error())
	}
}

// TestMachinesThatAreNotWantedAnyMoreAreNoFailure stops a daemon while machines are rebuilt.
func TestMachinesThatAreNotWantedAnyMoreAreNoFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	made := 0
	s := supervisor{
		clock: clock.NewMock(), log: zerolog.New(&out), restarted: func() {}, quarantine: &quarantine{},
		start: func(ctx context.Context) (func(context.Context) error, error) {
			made++
			stop()
			return nil, fmt.Errorf("settle: %w", context.Cause(ctx))
		},
	}
	require.NoError(t, s.run(ctx, func(context.Context) error { return panicked }))
	require.Equal(t, 1, made)
	require.NotContains(t, out.String(), "settle")
}

func TestMachinesThatCannotBeMadeCountAsFailures(t *testing.T) {
	s := supervisor{
		clock: clock.NewMock(), log: zerolog.Nop(), restarted: func() {}, quarantine: &quarantine{},
		start: func(context.Context) (func(context.Context) error, error) { return nil, errors.New("no") },
	}
	err := s.run(t.Context(), func(context.Context) error { return panicked })
	require.EqualError(t, err, "the machines failed 5 times within 1m0s: no")
}

func TestADaemonIsReadyOnceItsMachinesAct(t *testing.T) {
	m := machines{always: true}
	require.ErrorContains(t, m.ready(t.Context()), "the machines are being created from the stored objects")
	m.always = false
	require.NoError(t, m.ready(t.Context()), "those of another daemon act")
}

func TestADaemonWhoseMachinesCannotBeMadeEnds(t *testing.T) {
	dir := t.TempDir()
	broken := wal.Record{Version: 1, Key: engine.Key(schema.GroupResource{Group: "apps", Resource: "deployments"}, "default", "web"), Object: []byte(`{"spec": 7}`)}
	require.NoError(t, wal.Create(filepath.Join(dir, "store"), []wal.Record{broken}))
	c := rootCommand(nil)
	c.SetArgs([]string{"--data-dir", dir, "--secure-port", "0"})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	require.ErrorContains(t, c.ExecuteContext(t.Context()), "read /apps/deployments/default/web: json: ")
}
