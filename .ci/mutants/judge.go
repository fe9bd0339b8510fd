package main

import (
	"bytes"
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
	name                                      string
	tried, killed, total, unreach, equivalent int
}

// judge tries the faults of one package.
type judge struct {
	root, scratch, overlay string
	mutated                *mutated
	parallel               int
	layers                 []*layer
}

// layer is what would notice a fault: the tests of a package, the scenarios, or the simulation.
type layer struct {
	name   string
	once   sync.Once
	checks []*check
	err    error
}

// newJudge writes the mutated sources. Nothing is compiled yet.
func newJudge(root, scratch string, m *mutated, o options) (*judge, error) {
	overlay, err := m.overlay(root, scratch)
	if err != nil {
		return nil, err
	}
	j := &judge{root: root, scratch: scratch, overlay: overlay, mutated: m, parallel: o.parallel}
	layers := append([]string{m.name}, m.layers...)
	if o.own {
		layers = layers[:1]
	}
	for _, name := range layers {
		j.layers = append(j.layers, &layer{name: name})
	}
	return j, nil
}

// prepare prepares all layers, for a sample whose time is not to go into compilation.
func (j *judge) prepare(ctx context.Context) error {
	for _, l := range j.layers {
		j.ready(ctx, l)
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// ready compiles a layer when it is first needed, and records which faults each of its checks executes.
func (j *judge) ready(ctx context.Context, l *layer) []*check {
	l.once.Do(func() {
		if l.checks, l.err = build(ctx, j.root, j.scratch, j.overlay, l.name); l.err == nil {
			l.err = record(ctx, l.checks, j.parallel)
		}
		if l.err != nil {
			l.err = fmt.Errorf("%s: %w", l.name, l.err)
		}
	})
	return l.checks
}

// try tries the faults, in an order that the generator draws, until the context is done, and lists those that survive.
func (j *judge) try(ctx context.Context, rng *rand.Rand, survivors io.Writer) (score, error) {
	faults := j.mutated.faults
	s := score{name: j.mutated.name, total: len(faults), equivalent: j.mutated.equivalent}
	order := rng.Perm(len(faults))
	var lock sync.Mutex
	each(j.parallel, len(order), func(i int) {
		if ctx.Err() != nil {
			return
		}
		f := &faults[order[i]]
		v := j.ask(ctx, f.id)
		lock.Lock()
		defer lock.Unlock()
		s.count(v)
		switch v {
		case survived:
			fmt.Fprintf(survivors, "survived %s\n", f)
		case unreached:
			fmt.Fprintf(survivors, "survived %s (no test executes it)\n", f)
		case killed, untried:
		}
	})
	var err error
	for _, l := range j.layers {
		if ctx.Err() == nil {
			err = errors.Join(err, l.err)
		}
	}
	return s, err
}

// ask asks layer after layer about a fault, until one kills it.
func (j *judge) ask(ctx context.Context, id int) verdict {
	v := unreached
	for _, l := range j.layers {
		checks := j.ready(ctx, l)
		if l.err != nil {
			return untried
		}
		switch found := try(ctx, checks, id); found {
		case killed, untried:
			return found
		case survived:
			v = survived
		case unreached:
		}
	}
	return v
}

type verdict int

const (
	untried verdict = iota
	killed
	survived
	unreached
)

func (s *score) count(v verdict) {
	switch v {
	case untried:
		return
	case killed:
		s.killed++
	case unreached:
		s.unreach++
	case survived:
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
		if layer == "simulation" {
			args := []string{"storm", "--simulate", "--seeds", "300", "--out", scratch}
			return []*check{{binary: binary, dir: root, args: args}}, nil
		}
		return replays(root, binary)
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

// replays are a check for each folder of scenarios, since few of them execute a given fault.
func replays(root, binary string) ([]*check, error) {
	transcripts, err := filepath.Glob(filepath.Join(root, "scenarios", "*", "*.golden"))
	if err != nil {
		return nil, err
	}
	var checks []*check
	for i, t := range transcripts {
		folder := filepath.Dir(t)
		if i == 0 || folder != filepath.Dir(transcripts[i-1]) {
			checks = append(checks, &check{binary: binary, dir: root, args: []string{"replay", "--jobs", "1", folder}})
		}
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

// try runs those of a layer's checks that execute a fault, the quickest first, until one fails.
func try(ctx context.Context, checks []*check, id int) verdict {
	var reaching []*check
	for _, c := range checks {
		if c.reaches[id] {
			reaching = append(reaching, c)
		}
	}
	slices.SortStableFunc(reaching, func(a, b *check) int { return int(a.took - b.took) })
	v := unreached
	for n := 8; len(reaching) > 0; n *= 4 {
		if reaching[0].test == "" { // a command runs alone
			n = 1
		}
		some := reaching[:min(n, len(reaching))]
		reaching = reaching[len(some):]
		var took time.Duration
		for _, c := range some {
			took += c.took
		}
		limit := limits{cpu: 5*took + 2*time.Second, wall: 10*took + 10*time.Minute}
		passed, _, _ := execute(ctx, some, limit, "LEEWARD_MUTANT="+strconv.Itoa(id))
		switch {
		case ctx.Err() != nil:
			return untried
		case !passed:
			return killed
		}
		v = survived
	}
	return v
}

// limits of a run of checks: a fault may make them loop, or ask for memory, without end. A busy machine may keep them from what they
// need for long; those that only wait are given up by watch.
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
	script := fmt.Sprintf(`ulimit -d %d && ulimit -t %d && exec "$0" "$@"`, memory, int(l.cpu.Seconds()))
	p := exec.CommandContext(ctx, "sh", append([]string{"-c", script, c.binary}, args...)...)
	p.Dir, p.Env = c.dir, append(os.Environ(), env)
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what a test starts ends with it
	p.Cancel = func() error { return syscall.Kill(-p.Process.Pid, syscall.SIGKILL) }
	p.WaitDelay = time.Second
	var said bytes.Buffer
	p.Stdout, p.Stderr = &said, &said
	err := p.Start()
	if err == nil {
		go watch(ctx, p.Process.Pid, cancel)
		err = p.Wait()
	}
	if p.ProcessState != nil {
		took = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	}
	return err == nil, said.Bytes(), took
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
