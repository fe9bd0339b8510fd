// Mutants measures how well the tests of Leeward would notice a fault. It plants small faults into the code of the
// packages that decide and store, one at a time, runs the cheapest tests that execute the line, and prints how many were
// killed (a test failed) and which survived.
//
//	go run . -root ../..                              # all packages: a night's work
//	go run . -root ../.. -packages 'actors/binding'   # one
//	go run . -root ../.. -packages rules/ -own        # by the tests of the packages themselves: minutes
//	go run . -root ../.. -for 60s -seed 20261122      # a sample, drawn by a seed
//	go run . -root ../.. -packages rules/ -own -only 'reaching: |spreader.go'   # what was survived, once more
//
// An interrupt ends it with the table of what was tried.
//
// All faults of a package are compiled together and one is switched on by an environment variable (switch.go.txt), so
// that a fault costs a run of tests and no compilation. A first run of every test records which faults it executes: what
// no test executes has survived already, and what one does is asked only of those that do.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// targets are the packages whose faults matter most, each with the layers that would notice, cheapest first. Tests of the
// package itself are always the first.
var targets = []target{
	{"actors/rules/...", []string{"scenarios"}},
	{"actors/binding", []string{"scenarios", "simulation"}},
	{"actors/cluster", []string{"scenarios", "simulation"}},
	{"actors/governor", []string{"scenarios", "simulation"}},
	{"actors/scheduler", []string{"scenarios", "simulation"}},
	{"actors/podscheduler", nil},
	{"actors/owner", nil},
	{"runtime/daemon/live", nil},
	{"runtime/daemon/engine", []string{"runtime/daemon/etcd", "runtime/daemon/live"}},
	{"runtime/daemon/engine/wal", []string{"runtime/daemon/engine"}},
}

type target struct {
	pattern string
	layers  []string
}

// wanted reports whether a target may hold a package that was asked for.
func (t target) wanted(packages string) bool {
	return strings.HasSuffix(t.pattern, "/...") || asked(t.pattern, packages)
}

// asked reports whether the path of a package contains one of those that were asked for.
func asked(path, packages string) bool {
	return slices.ContainsFunc(strings.Split(packages, ","), func(part string) bool { return strings.Contains(path, part) })
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "the module's folder")
	flag.StringVar(&o.packages, "packages", "", "only packages whose path contains one of these, between commas")
	flag.StringVar(&o.only, "only", "", "only faults whose place or text contains one of these, between bars")
	flag.DurationVar(&o.time, "for", 0, "try a sample for this long, not counting compilation; 0: all faults")
	flag.Uint64Var(&o.seed, "seed", 1, "the order in which faults are tried")
	flag.IntVar(&o.parallel, "parallel", 2, "how many faults are tried at the same time")
	flag.BoolVar(&o.own, "own", false, "ask only the tests of the package itself, not those of what uses it, nor scenarios")
	flag.BoolVar(&o.list, "list", false, "list the faults and plant none")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "mutants: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

type options struct {
	root, packages, only string
	time                 time.Duration
	seed                 uint64
	parallel             int
	own, list            bool
}

func run(ctx context.Context, o options) error {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	equivalent, err := readEquivalent(filepath.Join(root, ".ci", "mutants", "equivalent.txt"))
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)

	var packages []*mutated
	for _, t := range targets {
		if !t.wanted(o.packages) {
			continue
		}
		found, err := plant(root, t)
		if err != nil {
			return err
		}
		for _, m := range found {
			m.leaveOut(o.only, equivalent)
			if asked(m.name, o.packages) {
				packages = append(packages, m)
			}
		}
	}
	for _, key := range equivalent.stale() {
		if o.packages != "" {
			break
		}
		fmt.Fprintf(os.Stderr, "mutants: equivalent.txt has a fault that is planted nowhere: %s\n", key)
	}
	if o.list {
		for _, m := range packages {
			for i := range m.faults {
				fmt.Println(&m.faults[i])
			}
		}
		return nil
	}
	rng := rand.New(rand.NewPCG(o.seed, 0))
	left, part := o.time, max(turn, o.time/time.Duration(max(1, len(packages))))
	if o.time > 0 {
		draw(rng, packages)
	}
	var scores []score
	for _, m := range packages {
		j, err := newJudge(root, filepath.Join(scratch, strings.ReplaceAll(m.name, "/", "_")), m, o)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if o.time > 0 {
			if err := j.prepare(ctx); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		limit, cancel := ctx, context.CancelFunc(func() {})
		if o.time > 0 {
			limit, cancel = context.WithTimeout(ctx, min(left, part))
			left -= part
		}
		s, err := j.try(limit, rng, os.Stdout)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		scores = append(scores, s)
		if ctx.Err() != nil || o.time > 0 && left <= 0 {
			break
		}
	}
	printTable(os.Stdout, scores)
	return ctx.Err()
}

// turn is how long a sample tries the faults of one package at least, where there is time for few.
const turn = 20 * time.Second

// draw puts packages into an order in which one with more faults is likely to come sooner.
func draw(rng *rand.Rand, packages []*mutated) {
	at := map[*mutated]float64{}
	for _, m := range packages {
		at[m] = rng.ExpFloat64() / float64(len(m.faults)+1)
	}
	slices.SortFunc(packages, func(a, b *mutated) int { return cmp.Compare(at[a], at[b]) })
}

// printTable prints killed and survived by package, and of all. Equivalent faults are beside the count.
func printTable(w io.Writer, scores []score) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "killed\tsurvived\tof these not executed\ttried\tof\tkilled %\tequivalent\t  package")
	all := score{name: "all"}
	for i := range scores {
		s := &scores[i]
		s.row(t)
		all.tried += s.tried
		all.killed += s.killed
		all.total += s.total
		all.unreach += s.unreach
		all.equivalent += s.equivalent
	}
	all.row(t)
	_ = t.Flush()
}

func (s *score) row(w io.Writer) {
	share := 0.0
	if s.tried > 0 {
		share = 100 * float64(s.killed) / float64(s.tried)
	}
	fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1f\t%d\t  %s\n", s.killed, s.tried-s.killed, s.unreach, s.tried, s.total, share, s.equivalent, s.name)
}
