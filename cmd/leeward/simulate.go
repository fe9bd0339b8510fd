package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/pflag"

	"leeward/cmd/internal/exitcode"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm/simulation"
)

// simulating is the part of a storm command that draws fleets and outages at random and holds each to the invariants of
// every fleet.
type simulating struct {
	on    bool
	seeds countFlag
	lasts spanFlag
	dir   string
}

func (s *simulating) flags(f *pflag.FlagSet) {
	f.BoolVar(&s.on, "simulate", false, "generate small fleets, nodes and outages at random, from --seed on, and check the invariants on each")
	f.Var(&s.seeds, "seeds", "with --simulate: how many seeds to try")
	f.Var(&s.lasts, "for", "with --simulate: how long to try seeds, instead of how many, such as 60s")
	f.StringVar(&s.dir, "out", s.dir, "with --simulate: directory for the shrunk scenarios that broke an invariant")
}

// batch is how many seeds are tried between two looks at the clock.
const batch = 64

// heapGrowth is by how many percent the heap may grow until garbage is collected. A case leaves ten times the memory behind that
// it has at any time, so that to collect at twice that, as Go does, takes a third of all work. The process stays below 200 MB.
const heapGrowth = 1000

// run tries seeds until one breaks an invariant, all are tried or the time is up.
func (s *simulating) run(out io.Writer, seed uint64, jobs int) error {
	if _, set := os.LookupEnv("GOGC"); !set {
		defer debug.SetGCPercent(debug.SetGCPercent(heapGrowth))
	}
	started, tally := time.Now(), trial{out: out, dir: s.dir}
	for first := seed; s.goesOn(time.Since(started), tally.seeds) && !tally.failed; first += batch {
		n := batch
		if s.lasts == 0 {
			n = min(n, int(s.seeds)-tally.seeds)
		}
		err := replay.InOrder(jobs, n, func(i int) tried { return try(first + uint64(i)) }, func(_ int, t tried) error { return tally.add(t) })
		if err != nil {
			return internal(err)
		}
	}
	if err := tally.sum(seed, time.Since(started)); err != nil {
		return internal(err)
	}
	if tally.failed {
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

func (s *simulating) goesOn(since time.Duration, seeds int) bool {
	if s.lasts > 0 {
		return since < time.Duration(s.lasts)
	}
	return seeds < int(s.seeds)
}

// tried is what came of one seed, and of which of its cases.
type tried struct {
	seed    uint64
	draw    func(uint64) *simulation.Case
	lasts   time.Duration
	finding *simulation.Finding
}

// try tries the fleet of a seed, and then its nodes and pods.
func try(seed uint64) tried {
	one := tried{seed: seed}
	for _, draw := range []func(uint64) *simulation.Case{simulation.Draw, simulation.DrawNodes} {
		c := draw(seed)
		one.draw, one.lasts = draw, one.lasts+c.Duration
		if one.finding = simulation.Try(c); one.finding != nil {
			break
		}
	}
	return one
}

// trial is what came of all seeds so far.
type trial struct {
	out    io.Writer
	dir    string
	seeds  int
	lasts  time.Duration
	failed bool
}

func (t *trial) add(one tried) error {
	t.seeds++
	t.lasts += one.lasts
	if one.finding == nil {
		return nil
	}
	t.failed = true
	return t.tell(one)
}

// shrinksFor bounds how long a case is made smaller: one that runs for seconds would be tried for the better part of an hour.
const shrinksFor = time.Minute

// tell says what a seed broke and how to see it again, and writes the smallest scenario that breaks it, too.
func (t *trial) tell(one tried) error {
	_, err := fmt.Fprintf(t.out, "seed %d breaks: %s\n  %s\n  repeat: leeward storm --simulate --seed %d --seeds 1\n",
		one.seed, one.finding.Invariant, one.finding.Detail, one.seed)
	if err != nil {
		return err
	}
	whole, began := one.draw(one.seed), time.Now()
	small := simulation.Shrink(one.draw(one.seed), one.finding.Invariant, func(c *simulation.Case) *simulation.Finding {
		if time.Since(began) > shrinksFor {
			return nil
		}
		return simulation.Try(c)
	})
	file := filepath.Join(t.dir, fmt.Sprintf("seed-%d.yaml", one.seed))
	if err := os.MkdirAll(t.dir, 0o750); err != nil {
		return fmt.Errorf("make the folder of --out: %w", err)
	}
	if err := os.WriteFile(file, small.YAML("Broken: "+one.finding.Invariant+"."), 0o600); err != nil {
		return fmt.Errorf("write the shrunk scenario of seed %d: %w", one.seed, err)
	}
	_, err = fmt.Fprintf(t.out, "  shrunk from %d parts to %d: leeward replay %s\n", whole.Size(), small.Size(), shellWord(file))
	return err
}

func (t *trial) sum(first uint64, took time.Duration) error {
	verdict := "every invariant held"
	if t.failed {
		verdict = "an invariant was broken"
	}
	_, err := fmt.Fprintf(t.out, "%d seeds from %d on, %.0f simulated hours in %s, %.0f a minute: %s\n",
		t.seeds, first, t.lasts.Hours(), took.Round(time.Millisecond), t.lasts.Hours()/took.Minutes(), verdict)
	return err
}
