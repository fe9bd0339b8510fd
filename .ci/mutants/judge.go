package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

//go:embed switch.go.txt
var switchSource []byte

// check is a command that passes on sound code: a test, or what a layer runs.
type check struct {
	binary, dir string
	args        []string
	test        string // empty: the arguments say all
	took        time.Duration
	reaches     map[int]bool
}

// score is what came of one package.
type score struct {
	name                          string
	tried, killed, total, unreach int
	survived                      []fault
}

// judge tries the faults of one package.
type judge struct {
	root, scratch string
	mutated       *mutated
	parallel      int
	layers        [][]*check
}

// prepare compiles the layers that would notice a fault, and records which faults each of their checks executes.
func (j *judge) prepare(ctx context.Context) error {
	overlay, err := j.mutated.overlay(j.root, j.scratch)
	if err != nil {
		return err
	}
	for _, layer := range append([]string{j.mutated.name}, j.mutated.layers...) {
		checks, err := build(ctx, j.root, j.scratch, overlay, layer)
		if err != nil {
			return fmt.Errorf("build %s: %w", layer, err)
		}
		if err := record(ctx, checks, j.parallel); err != nil {
			return err
		}
		j.layers = append(j.layers, checks)
	}
	return nil
}

// try tries the faults, in an order that the generator draws, until the context is done.
func (j *judge) try(ctx context.Context, rng *rand.Rand) score {
	faults := j.mutated.faults
	s := score{name: j.mutated.name, total: len(faults)}
	order := rng.Perm(len(faults))
	verdicts := make([]verdict, len(faults))
	each(j.parallel, len(order), func(i int) {
		if ctx.Err() == nil {
			verdicts[order[i]] = try(ctx, j.layers, faults[order[i]].id)
		}
	})
	for i, v := range verdicts {
		s.count(&faults[i], v)
	}
	return s
}

type verdict int

const (
	untried verdict = iota
	killed
	survived
	unreached
)

func (s *score) count(f *fault, v verdict) {
	switch v {
	case killed:
		s.killed++
	case survived:
		s.survived = append(s.survived, *f)
	case unreached:
		f.kind += " (no test executes it)"
		s.survived = append(s.survived, *f)
		s.unreach++
	default:
		return
	}
	s.tried++
}

// overlay writes the mutated sources, and the file that tells the compiler to take them.
func (m *mutated) overlay(root, scratch string) (string, error) {
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(path string, text []byte) error {
		to := filepath.Join(scratch, strconv.Itoa(len(replace))+".go")
		replace[path] = to
		return os.WriteFile(to, text, 0o600)
	}
	if err := put(filepath.Join(root, "mutant", "mutant.go"), switchSource); err != nil {
		return "", err
	}
	for path, text := range m.files {
		if err := put(path, text); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(scratch, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// build compiles a layer: the scenarios, the simulation, or the tests of a package, each of which is a check.
func build(ctx context.Context, root, scratch, overlay, layer string) ([]*check, error) {
	switch layer {
	case "scenarios", "simulation":
		binary := filepath.Join(scratch, "leeward")
		if err := command(ctx, root, "go", "build", "-overlay", overlay, "-o", binary, "./cmd/leeward"); err != nil {
			return nil, err
		}
		args := []string{"replay", "scenarios"}
		if layer == "simulation" {
			args = []string{"storm", "--simulate", "--seeds", "300", "--out", scratch}
		}
		return []*check{{binary: binary, dir: root, args: args}}, nil
	}
	binary := filepath.Join(scratch, strings.ReplaceAll(layer, "/", "_")+".test")
	if err := command(ctx, root, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+layer); err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) { // a package without tests
		return nil, nil
	}
	dir := filepath.Join(root, layer)
	list := exec.CommandContext(ctx, binary, "-test.list", "^(Test|Example|Fuzz)")
	list.Dir = dir
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list the tests: %w", err)
	}
	var checks []*check
	for name := range strings.FieldsSeq(string(names)) {
		checks = append(checks, &check{binary: binary, dir: dir, test: name})
	}
	return checks, nil
}

func command(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// record runs every check once, without a fault, to see how long it takes and which faults it executes.
func record(ctx context.Context, checks []*check, parallel int) error {
	var lock sync.Mutex
	var failed error
	each(parallel, len(checks), func(i int) {
		if err := checks[i].record(ctx); err != nil {
			lock.Lock()
			defer lock.Unlock()
			failed = errors.Join(failed, err)
		}
	})
	return failed
}

// sound is how long a check may take without a fault.
var sound = limits{cpu: 10 * time.Minute, wall: 20 * time.Minute}

func (c *check) record(ctx context.Context) error {
	f, err := os.CreateTemp("", "reached-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	passed, out, took := execute(ctx, []*check{c}, sound, "LEEWARD_MUTANTS_REACHED="+f.Name())
	if !passed {
		return fmt.Errorf("%s %s fails without a fault:\n%s", c.binary, c.test, out)
	}
	c.took, c.reaches = took, map[int]bool{}
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for field := range strings.FieldsSeq(string(text)) {
		if id, err := strconv.Atoi(field); err == nil {
			c.reaches[id] = true
		}
	}
	return f.Close()
}

// try runs the checks that execute a fault, those that take least first, until one fails.
func try(ctx context.Context, layers [][]*check, id int) verdict {
	v := unreached
	for _, layer := range layers {
		var reaching []*check
		for _, c := range layer {
			if c.reaches[id] {
				reaching = append(reaching, c)
			}
		}
		slices.SortStableFunc(reaching, func(a, b *check) int { return int(a.took - b.took) })
		for n := 8; len(reaching) > 0; n *= 4 {
			some := reaching[:min(n, len(reaching))]
			reaching = reaching[len(some):]
			var took time.Duration
			for _, c := range some {
				took += c.took
			}
			limit := limits{cpu: 5*took + 5*time.Second, wall: 10*took + time.Minute}
			passed, _, _ := execute(ctx, some, limit, "LEEWARD_MUTANT="+strconv.Itoa(id))
			switch {
			case ctx.Err() != nil:
				return untried
			case !passed:
				return killed
			}
			v = survived
		}
	}
	return v
}

// limits of a run of checks: a fault may make them loop, wait, or ask for memory without end.
type limits struct{ cpu, wall time.Duration }

const memory = 8 << 20 // KiB

// execute runs checks of one layer in one process, and returns what they printed and the processor time they took.
func execute(ctx context.Context, checks []*check, l limits, env string) (passed bool, out []byte, took time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, l.wall)
	defer cancel()
	c := checks[0]
	args := c.args
	if c.test != "" {
		names := make([]string, len(checks))
		for i := range checks {
			names[i] = checks[i].test
		}
		args = []string{"-test.failfast", "-test.short", "-test.run", "^(" + strings.Join(names, "|") + ")$"}
	}
	script := fmt.Sprintf(`ulimit -d %d -t %d; exec "$0" "$@"`, memory, int(l.cpu.Seconds()))
	p := exec.CommandContext(ctx, "sh", append([]string{"-c", script, c.binary}, args...)...)
	p.Dir, p.Env = c.dir, append(os.Environ(), env)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what a test starts ends with it
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = time.Second
	out, err := p.CombinedOutput()
	if p.ProcessState != nil {
		took = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	}
	return err == nil, out, took
}

// each calls something for 0 to n-1, several at the same time.
func each(parallel, n int, do func(i int)) {
	var group sync.WaitGroup
	next := make(chan int)
	for range max(1, parallel) {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
