package main

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

func TestSeedsCountUpFromTheScenariosOrTheFlags(t *testing.T) {
	a, b := &scenario.Scenario{Name: "a", Seed: 5}, &scenario.Scenario{Name: "b", Seed: 1}
	seedsOf := func(tasks []task) (seeds []uint64) {
		for _, t := range tasks {
			seeds = append(seeds, t.seed)
		}
		return seeds
	}
	require.Equal(t, []uint64{5, 6, 1, 2}, seedsOf((&replaying{seeds: 2}).tasks([]*scenario.Scenario{a, b})))
	flag := replaying{seeds: 2, seed: seedFlag{value: 9, set: true}}
	require.Equal(t, []uint64{9, 10, 9, 10}, seedsOf(flag.tasks([]*scenario.Scenario{a, b})))
}

func TestACommandHasAllThatChangesARun(t *testing.T) {
	r := replaying{profile: "karmada", until: spanFlag(90 * time.Second), determinism: true}
	require.NoError(t, r.set.Set("a=1"))
	require.NoError(t, r.set.Set("b=two words"))
	got := r.command(task{scenario: &scenario.Scenario{File: "it's.yaml"}, seed: 3})
	require.Equal(t, `leeward replay 'it'\''s.yaml' --seed 3 --profile karmada --set a=1 --set 'b=two words' --until 1m30s --check-determinism`, got)
	require.Equal(t, "''", shellWord(""))
}

func TestRunsThatComeToNothingSayWhichTheyWere(t *testing.T) {
	lost := task{scenario: &scenario.Scenario{Name: "calm", File: "first.yaml"}, seed: 3}.lost(errors.New("boom"))
	require.EqualError(t, lost.Err, "replay calm of first.yaml with seed 3: boom")
	require.False(t, lost.Passed)

	wrong := task{scenario: &scenario.Scenario{}}.lost(&world.Invalid{Problems: []error{errors.New("first.yaml:3: no")}})
	require.EqualError(t, wrong.Err, "first.yaml:3: no", "the problem says where it is")
}

func TestTheOutcomeOfAllRunsIsOneExitCode(t *testing.T) {
	passed := &replay.Run{Passed: true}
	failed := &replay.Run{}
	wrong := &replay.Run{Err: &world.Invalid{Problems: []error{errors.New("first.yaml:3: no")}}}
	broke := &replay.Run{Err: errors.New("boom")}
	for _, c := range []struct {
		name string
		runs []*replay.Run
		code int
		text string
	}{
		{"no run at all holds", nil, exitHeld, ""},
		{"all held", []*replay.Run{passed, passed}, exitHeld, ""},
		{"one failed, and the report says so", []*replay.Run{passed, failed}, exitFailed, ""},
		{"an invalid scenario comes before a failure", []*replay.Run{failed, wrong}, exitInvalid, "first.yaml:3: no"},
		{"an internal error comes before all", []*replay.Run{failed, wrong, broke}, exitInternal, "leeward: first.yaml:3: no\nboom"},
		{"what goes wrong under many seeds is said once", []*replay.Run{broke, broke}, exitInternal, "leeward: boom"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sum results
			for _, r := range c.runs {
				sum.add(r)
			}
			err := sum.exit()
			require.Equal(t, c.code, exitcode.Of(err))
			require.Equal(t, c.text, textOf(err))
		})
	}
}

func TestAnExitIsAnError(t *testing.T) {
	cause := errors.New("boom")
	require.ErrorIs(t, internal(cause), cause)
	require.EqualError(t, invalid(cause), "boom")
	require.EqualError(t, internal(cause), "leeward: boom")
	require.Equal(t, []int{exitInvalid, exitInternal}, []int{exitcode.Of(invalid(cause)), exitcode.Of(internal(cause))})
}

func TestTwoRunsAreTheSameOrDifferInALine(t *testing.T) {
	run := func(profile string, texts ...string) *replay.Run {
		r := &replay.Run{Name: "calm", Profile: profile}
		for _, text := range texts {
			r.Expect(replay.ExpectationResult{Text: text, Passed: true})
		}
		return r
	}
	require.NoError(t, sameRun(run("leeward", "a"), run("leeward", "a")))
	require.EqualError(t, sameRun(run("leeward", "a"), run("leeward", "b")), "not deterministic: two runs differ in line 3:\n  ✓  a\n  ✓  b")
	line, a, b := firstDifference([]byte("x"), []byte("x\ny"))
	require.Equal(t, []any{2, "1 lines", "2 lines"}, []any{line, a, b})
}
