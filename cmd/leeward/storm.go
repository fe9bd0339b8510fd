package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"leeward/cmd/internal/exitcode"
	"leeward/cmd/internal/logging"
	"leeward/messages/lists"
	"leeward/messages/manifest"
	"leeward/runtime/daemon/hugepages"
	"leeward/runtime/fleet/config"
	pages "leeward/runtime/report/page"
	"leeward/runtime/scenario"
	"leeward/runtime/storm"
)

// storming is one storm command: its flags.
type storming struct {
	clusters, bindings, regions countFlag
	nodes, pods, zones          countFlag
	placements, tolerations     mixFlag
	startup                     spanFlag
	files                       []string
	scenario                    string
	kill                        killFlag
	pattern                     wordFlag
	profile                     string
	set                         overrideFlag
	paced                       bool
	seed                        seedFlag
	lanes                       countFlag
	output                      wordFlag
	compare                     []string
	html                        string
	engine, durable, force      bool
	hugePages                   bool
	simulation                  simulating
}

func stormCommand() *cobra.Command {
	s := &storming{
		clusters: 100, bindings: 10_000, regions: 10, pods: 10_000, zones: 3,
		placements:  mixFlag{storm.Mix{{Kind: "dynamic", Weight: 1}}, storm.IsPlacement},
		tolerations: mixFlag{storm.Mix{{Kind: "none", Weight: 1}}, storm.IsToleration},
		pattern:     wordFlag{storm.Burst, storm.Patterns()},
		seed:        seedFlag{value: 1, set: true},
		lanes:       countFlag(runtime.NumCPU()),
		output:      wordFlag{"text", []string{"text", "json"}},
		simulation:  simulating{seeds: 1000, dir: "."},
	}
	if err := s.kill.Set("30%"); err != nil {
		panic(fmt.Sprintf("storm: %v", err))
	}
	c := &cobra.Command{
		Use:   "storm",
		Short: "Fail a part of a fleet at full speed and measure the failover",
		Long: `Fail a part of a fleet at full speed and measure the failover: how many workloads move a second, how long each
takes until it is evicted, placed, healthy and released, and what that costs.

The fleet is generated, or read from the files that replay takes (-f): manifests, or a scenario, whose timeline
is ignored. It has a virtual clock: tolerations and start-up times take no real time, and the engine is what is
measured. The eviction rates, breakers and other limits of the settings are off unless --paced is given. The
garbage collector runs as with GOGC=400 and GOMEMLIMIT=7GiB, unless they are set. A storm that would take more
memory than GOMEMLIMIT, its control group or the machine has is refused. Every storm ends with a check that
nothing was lost.

With --nodes the storm breaks upon one Kubernetes cluster: kubelets stop, nodes are tainted, pods are evicted when their
tolerations end, their Deployments create others, and the scheduler binds them. There, --tolerations is how long pods
tolerate that their node fails (default: the 300 s of admission). A failover is complete when the other pod is ready.

With --simulate many small fleets and outages are generated at random instead, and the invariants are checked on
each: no eviction before its deadline, none long after it, the last copy kept, capacity never oversold, any order
of messages ends the same. For a seed that breaks an invariant, it prints the command that repeats the run, and
writes the smallest scenario that still breaks it to a file for 'leeward replay'.

Exit codes:
  0  nothing was lost, every invariant held
  1  something was lost, the storm was interrupted, or an invariant was broken
  2  a manifest or the command line is invalid
  3  an internal error, or a file that cannot be read or written`,
		Example: `  leeward storm                                            # 10,000 workloads, 30 of 100 clusters fail
  leeward storm --clusters 200 --bindings 100000 --kill 60
  leeward storm --kill region=region3 --pattern flapping --tolerations none,30s=2,5m
  leeward storm --pattern cascade --placements dynamic=3,duplicated
  leeward storm -f scenarios/nginx-is-evicted-from-a-failed-cluster.yaml --kill 50% # your own manifests
  leeward storm -o json > before.json                      # and later
  leeward storm --compare before.json
  leeward storm --nodes 5000 --pods 150000 --kill zone=a   # the nodes of one Kubernetes cluster
  leeward storm --nodes 100 --pods 3000 --kill 1 --profile kubernetes --paced
  leeward storm --html storm.html                          # a page with charts
  leeward storm --profile karmada --compare before.json --html both.html
  leeward storm --simulate --seed 5000 --for 60s           # as many random fleets as a minute takes`,
		Args: cobra.NoArgs,
		RunE: s.run,
	}
	s.flags(c)
	return c
}

func (s *storming) flags(c *cobra.Command) {
	f := c.Flags()
	f.SortFlags = false
	f.Var(&s.clusters, "clusters", "clusters to generate")
	f.Var(&s.bindings, "bindings", "workloads to generate, of three replicas each on two clusters")
	f.Var(&s.regions, "regions", "regions to generate, region1 and so on")
	f.Var(&s.nodes, "nodes", "nodes to generate, in place of a fleet of clusters: those of one Kubernetes cluster")
	f.Var(&s.pods, "pods", "with --nodes: pods to generate, of Deployments of 100")
	f.Var(&s.zones, "zones", "with --nodes: zones to generate, a, b and so on")
	f.Var(&s.placements, "placements", "mix of placements, with weights: "+strings.Join(storm.Placements(), ", "))
	f.Var(&s.tolerations, "tolerations", "mix of how long a failed cluster is tolerated: none, forever, 30s, 5m ...")
	f.Var(&s.startup, "startup", "virtual time that a copy takes to become healthy")
	f.StringArrayVarP(&s.files, "filename", "f", nil, "manifests, or a scenario, to take the fleet from; may be given again")
	f.Var(&s.kill, "kill", "clusters, or nodes, that fail: how many, a share such as 30%, region=NAME or zone=NAME")
	s.pattern.add(c, "pattern", "", "burst (all together), cascade (ten waves, a minute apart) or flapping (five times)")
	profileFlag(c, &s.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&s.set, "set", "setting to change, as field=value; may be given again")
	f.BoolVar(&s.paced, "paced", false, "apply the eviction rates, breakers and other limits of the settings")
	f.Var(&s.seed, "seed", "seed of the choice of failing clusters and all other random values")
	f.Var(&s.lanes, "lanes", "lanes of actors that run in parallel")
	s.output.add(c, "output", "o", "text or json")
	f.StringArrayVar(&s.compare, "compare", nil, "report in JSON to compare with this one; may be given again")
	f.StringVar(&s.html, "html", "", "file to write the viewer to, with rates over time, waiting times and the load of each cluster, beside those of --compare")
	f.BoolVar(&s.engine, "engine", true, "run the machines alone, without a store")
	f.BoolVar(&s.durable, "durable", false, "run in real time with the daemon's store in a temporary folder: every object, Work and Event is made durable")
	f.BoolVar(&s.hugePages, "huge-pages", false, "ask the kernel to back the heap by huge pages (Linux)")
	f.BoolVar(&s.force, "force", false, "begin a storm even if memory does not suffice for it")
	s.simulation.flags(f)
	complete(c, "placements", storm.Placements())
	complete(c, "tolerations", []string{"none", "forever", "30s", "5m"})
	complete(c, "kill", []string{"10%", "30%", "region=", "zone="})
	scenarioFlag(c, &s.scenario, &s.files)
	completeFilesOf(c, "filename", "yaml", "yml", "json")
}

func (s *storming) run(c *cobra.Command, _ []string) error {
	if err := s.check(c.Flags()); err != nil {
		return misused(c, err)
	}
	if s.simulation.on {
		return s.simulation.run(c.OutOrStdout(), s.seed.value, int(s.lanes))
	}
	others, err := readReports(s.compare)
	if err != nil {
		return ofInput(err)
	}
	manifests, err := readFleet(s.files, s.scenario)
	if err != nil {
		return ofInput(err)
	}
	page, err := createPage(s.html)
	if err != nil {
		return internal(err)
	}
	defer page.discard()
	report, err := s.storm(c, manifests)
	var wrong *storm.Invalid
	switch {
	case errors.As(err, &wrong) && manifests != nil:
		return invalid(err)
	case errors.As(err, &wrong):
		return misused(c, err)
	case err != nil:
		return internal(err)
	}
	if err := errors.Join(s.write(c.OutOrStdout(), report, others), s.draw(page, report, others)); err != nil {
		return internal(fmt.Errorf("write the report: %w", err))
	}
	page.tell(c.ErrOrStderr())
	if report.Interrupted || !report.Passed() {
		return &exitcode.Exit{Code: exitFailed}
	}
	return nil
}

// check reports what makes no sense, or not together.
func (s *storming) check(flags *pflag.FlagSet) error {
	var problems []error
	if both := s.durable && s.engine && flags.Changed("engine"); both || !s.durable && !s.engine {
		problems = append(problems, errors.New("a storm runs the machines alone (--engine) or with the daemon's store (--durable): name one"))
	}
	for _, name := range []string{"clusters", "bindings", "regions", "placements", "tolerations", "startup"} {
		if len(s.files) > 0 && flags.Changed(name) {
			problems = append(problems, fmt.Errorf("--%s is for a generated fleet: omit it with -f", name))
		}
	}
	if len(s.compare) > mostCompared {
		problems = append(problems, fmt.Errorf("--compare: %d reports are more than %d", len(s.compare), mostCompared))
	}
	problems = append(problems, s.checkNodes(flags)...)
	if !flags.Changed("regions") {
		s.regions = min(s.regions, s.clusters)
	}
	return errors.Join(problems...)
}

// checkNodes reports what is not for the nodes of a cluster, and what is for these only.
func (s *storming) checkNodes(flags *pflag.FlagSet) (problems []error) {
	foreign, why := []string{"pods", "zones"}, "is for a storm of nodes: give --nodes"
	if flags.Changed("nodes") {
		foreign = []string{"clusters", "bindings", "regions", "placements", "filename", "scenario", "durable", "engine", "huge-pages", "lanes", "simulate"}
		why = "is not for a storm of nodes: omit it with --nodes"
	}
	for _, name := range foreign {
		if flags.Changed(name) {
			problems = append(problems, fmt.Errorf("--%s %s", name, why))
		}
	}
	return problems
}

// running is a storm of either kind.
type running interface {
	Run(context.Context) (*storm.Report, error)
	Progress() storm.Progress
	Close()
}

// prepare makes the storm that is asked for.
func (s *storming) prepare(flags *pflag.FlagSet, c storm.Config) (running, error) {
	if s.nodes == 0 {
		return storm.New(c)
	}
	c.Nodes = storm.Nodes{Nodes: int(s.nodes), Pods: int(s.pods), Zones: int(s.zones), Startup: time.Duration(s.startup)}
	if flags.Changed("tolerations") {
		c.Nodes.Tolerations = s.tolerations.mix
	}
	return storm.NewOfNodes(c)
}

// storm runs one, with its progress on a terminal, until it ends or is interrupted; a second interrupt ends it immediately.
func (s *storming) storm(c *cobra.Command, manifests *scenario.Scenario) (*storm.Report, error) {
	started := time.Now()
	dir, clean, err := s.folder()
	if err != nil {
		return nil, err
	}
	defer clean()
	var memory storm.Memory
	if !s.force {
		memory = storm.MemoryThere()
	}
	run, err := s.prepare(c.Flags(), storm.Config{
		Dir: dir,
		Fleet: storm.Fleet{
			Clusters: int(s.clusters), Bindings: int(s.bindings), Regions: int(s.regions),
			Placements: s.placements.mix, Tolerations: s.tolerations.mix, Startup: time.Duration(s.startup), Seed: s.seed.value,
		},
		Manifests: manifests, Kill: s.kill.kill, Pattern: s.pattern.word, Profile: s.profile, Set: s.set, Paced: s.paced,
		Seed: s.seed.value, Lanes: int(s.lanes), Memory: memory, HugePages: hugepages.Wanted(s.hugePages), Clock: func() time.Duration { return time.Since(started) },
	})
	if err != nil {
		return nil, s.advised(err)
	}
	defer run.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer context.AfterFunc(ctx, stop)()
	if w := c.ErrOrStderr(); logging.IsTerminal(w) {
		defer watch(w, run)()
	}
	report, err := run.Run(ctx)
	if err != nil {
		return nil, err
	}
	report.Command = s.command(c.Flags())
	report.Set = overrides(s.set)
	return report, nil
}

// advised says what can be done about a storm that does not fit.
func (s *storming) advised(err error) error {
	var large *storm.TooLarge
	if !errors.As(err, &large) {
		return err
	}
	advice := "use --force to begin anyway"
	if large.Bindings > 0 && len(s.files) == 0 && s.nodes == 0 {
		advice = fmt.Sprintf("use --bindings %d, or --force to begin anyway", large.Bindings)
	}
	return &storm.Invalid{Problem: fmt.Errorf("%w: %s", large, advice)}
}

// folder is an empty one for the daemon's store, if that takes part, and what removes it.
func (s *storming) folder() (dir string, clean func(), err error) {
	if !s.durable {
		return "", func() {}, nil
	}
	dir, err = os.MkdirTemp("", "leeward-storm-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// watch shows the progress until its result is called, and then takes it off the screen.
func watch(w io.Writer, run running) (end func()) {
	ticker, done, gone := time.NewTicker(200*time.Millisecond), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		before, at := run.Progress(), time.Now()
		say(w, before.Line(before, 0))
		for {
			select {
			case <-done:
				say(w, "\r\x1b[K")
				return
			case now := <-ticker.C:
				p := run.Progress()
				say(w, "\r\x1b[K"+p.Line(before, now.Sub(at)))
				before, at = p, now
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-gone
	}
}

// write writes the report in the form that is asked for.
func (s *storming) write(w io.Writer, report *storm.Report, others []*storm.Report) error {
	if s.output.word == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	if err := storm.Write(w, report); err != nil {
		return err
	}
	for i, other := range others {
		if _, err := fmt.Fprintf(w, "\ncompared with %s\n", s.compare[i]); err != nil {
			return err
		}
		if err := storm.Compare(w, report, other); err != nil {
			return err
		}
	}
	return nil
}

// draw writes the page, if one is asked for.
func (s *storming) draw(page *pageFile, report *storm.Report, others []*storm.Report) error {
	if page == nil {
		return nil
	}
	if err := pages.WriteStorm(page, report, others...); err != nil {
		return err
	}
	return page.finish()
}

// command returns what repeats a storm: all that its figures depend on.
func (s *storming) command(flags *pflag.FlagSet) string {
	words := []string{"leeward", "storm"}
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "filename", "set", "output", "compare", "html", "engine", "force":
		case "paced":
			words = append(words, "--paced")
		default:
			words = append(words, "--"+f.Name, shellWord(f.Value.String()))
		}
	})
	for _, name := range s.files {
		words = append(words, "-f", shellWord(name))
	}
	for _, o := range overrides(s.set) {
		words = append(words, "--set", shellWord(o))
	}
	return strings.Join(words, " ")
}

func overrides(set []config.Override) []string {
	return lists.Of(set, func(o config.Override) string { return fmt.Sprintf("%s=%v", o.Field, o.Value) })
}

// mostCompared is how many reports a storm is compared with: more cannot be told apart on a chart.
const mostCompared = 4

// readReports reads reports that were written as JSON.
func readReports(names []string) (all []*storm.Report, err error) {
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		r := &storm.Report{}
		if err := json.Unmarshal(text, r); err != nil {
			return nil, fmt.Errorf("%s: read a report: %w", name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// readFleet reads the manifests of all files, or the one scenario among them, or that of a name, with what it includes. Without
// files there is none.
func readFleet(files []string, name string) (*scenario.Scenario, error) {
	if len(files) == 0 {
		return nil, nil
	}
	source := scenario.Disk
	source.Scenario = name
	fleet, problems := source.Fleet(files)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	return fleet, nil
}

func joined(problems manifest.Problems) error {
	v := &validating{}
	v.report(problems)
	return errors.Join(v.problems...)
}
