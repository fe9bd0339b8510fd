package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leeward/cmd/internal/exitcode"
	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/config"
	pages "leeward/runtime/report/page"
	"leeward/runtime/scenario/assess"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
	"leeward/runtime/storm"
)

// assessing is one assess command: its flags.
type assessing struct {
	from    fleetSource
	profile string
	set     overrideFlag
	seed    seedFlag
	kind    wordFlag
	startup spanFlag
	pairs   bool
	failOn  []string
	// conditions are what failOn says.
	conditions []failCondition
	jobs       countFlag
	output     wordFlag
	by         string
	html       string
}

func assessCommand() *cobra.Command {
	a := &assessing{
		seed: seedFlag{value: 1, set: true}, jobs: countFlag(runtime.NumCPU()), startup: spanFlag(30 * time.Second),
		kind:   outageFlag(),
		output: wordFlag{"text", []string{"text", "wide", "json", "yaml"}},
	}
	c := &cobra.Command{
		Use:   "assess [-f FILE|DIR...]",
		Short: "Predict what the loss of each cluster, region, zone and provider would do",
		Long: `Predict what the loss of each cluster, region, zone and provider would do to the workloads of a fleet, and what to
change. Each contingency is played on a copy of the fleet, on a virtual clock, with its own policies, tolerations, spread
constraints, capacities, budgets and settings; the worst come first. Nothing is written, and each line that is a
prediction says so.

` + fromFleetDoc + ` Where nothing
says how long copies take to start, --startup does. What all clusters have in common, such as the only region, is not failed.

Exit codes:
  0  no contingency does what --fail-on names: without a condition, leave workloads unavailable or unschedulable
  1  one does
  2  a manifest, a scenario or the command line is invalid
  3  an internal error, or a file that cannot be read`,
		Example: `  leeward assess                                                 # the fleet of the current kubeconfig
  leeward assess -f docs/examples/fleet.yaml
  leeward assess -f docs/examples/fleet.yaml -o wide           # every contingency and workload
  leeward assess -f docs/examples/fleet.yaml --fail-on cluster # in CI: any single cluster may be lost
  leeward assess -f docs/examples/fleet.yaml --fail-on any:down # no workload may be without a replica, even for a while
  leeward assess -f docs/examples/fleet.yaml --kind network --pairs --fail-on pair -o json
  leeward assess -f docs/examples/fleet.yaml --html assessment.html # a heat map, with details
  kubectl get clusters,clustertaintpolicies,propagationpolicies,resourcebindings,deployments -A -o yaml > dump.yaml && leeward assess -f dump.yaml --profile karmada`,
		Args: filesByFlag,
		RunE: a.run,
	}
	f := c.Flags()
	f.SortFlags = false
	a.from.add(c)
	a.from.addScenario(c)
	profileFlag(c, &a.profile, "profile of settings (default: the scenario's, or leeward)")
	f.Var(&a.set, "set", "setting to change, as field=value; may be given again")
	f.Var(&a.seed, "seed", "seed of start-up times and of what Karmada leaves to chance")
	a.kind.add(c, "kind", "", "what fails: power (copies die), network (the cluster is silent) or apiserver")
	f.Var(&a.startup, "startup", "virtual time that a copy takes to become healthy, where a scenario does not say it")
	f.BoolVar(&a.pairs, "pairs", false, "fail every two clusters, regions, zones and providers, too")
	f.StringSliceVar(&a.failOn, "fail-on", nil, "exit with 1 if such a loss leaves workloads unavailable or unschedulable ("+strings.Join(failWords(), ", ")+"), or with :down or :overflow does that, too")
	f.Var(&a.jobs, "jobs", "contingencies that run at the same time")
	f.StringVar(&a.by, "by", assess.ByNamespace, "what the page and -o json group workloads by: namespace, or the key of a label of theirs, such as tier")
	f.StringVar(&a.html, "html", "", "file to write the viewer to, with a heat map, each contingency, and the lanes of the worst")
	a.output.add(c, "output", "o", "text, wide, json or yaml")
	complete(c, "fail-on", failWords())
	return c
}

// Words of --fail-on that are no kind of contingency.
const (
	failPair = "pair"
	failAny  = "any"
)

// failWords are what --fail-on takes.
func failWords() []string { return append(forecast.Kinds(), failPair, failAny) }

func (a *assessing) run(c *cobra.Command, _ []string) error {
	if err := a.check(); err != nil {
		return misused(c, err)
	}
	defer storm.CollectRarely(storm.MemoryThere())()
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	stderr := c.ErrOrStderr()
	fleet, err := a.from.read(ctx, stderr)
	if err != nil {
		return err
	}
	page, err := createPage(a.html)
	if err != nil {
		return internal(err)
	}
	defer page.discard()
	config := assess.Config{
		Fleet: fleet, Profile: a.profile, Set: a.set, Seed: a.seed.value, Outage: messages.OutageKind(a.kind.word),
		Startup: time.Duration(a.startup), Pairs: a.pairs, By: a.by, Jobs: int(a.jobs),
	}
	progress, wipe := progressOn(stderr)
	config.Progress = progress
	assessment, err := assess.Run(ctx, config)
	wipe()
	if err != nil {
		return unfinished(err, &a.from, "assessed to its end")
	}
	if page != nil {
		if err := a.draw(ctx, page, &config, assessment); err != nil {
			return unfinished(err, &a.from, "assessed to its end")
		}
	}
	err = printed(c.OutOrStdout(), a.output.word, assessment, func(out io.Writer) error { return assess.WriteText(out, assessment, a.output.word == "wide") })
	if err != nil {
		return err
	}
	page.tell(stderr)
	return a.verdict(assessment)
}

// check reports what makes no sense.
func (a *assessing) check() error {
	a.conditions = nil
	for _, text := range a.failOn {
		f, err := parseFailOn(text)
		if err != nil {
			return err
		}
		if f.word == failPair && !a.pairs {
			return errors.New("--fail-on pair needs --pairs")
		}
		a.conditions = append(a.conditions, f)
	}
	_, problems := config.Resolve(a.profile, a.set)
	return errors.Join(append(problems, a.from.check())...)
}

const (
	// mostLanes is how many contingencies the page has lanes of, the worst first, and mostLaneWorkloads how many workloads they may
	// have together: each is played again, and a page of more is slow to open.
	mostLanes         = 12
	mostLaneWorkloads = 20_000
)

// draw writes the page: with the lanes of the worst contingencies, as many as are affordable.
func (a *assessing) draw(ctx context.Context, page *pageFile, c *assess.Config, result *assess.Assessment) error {
	left := min(mostLanes, mostLaneWorkloads/max(1, result.Fleet.Workloads))
	var lanes []*replay.Run
	for _, o := range result.Contingencies {
		if len(lanes) == left {
			break
		}
		if o.SameAs != "" || !o.Changes() {
			continue
		}
		run, err := played(ctx, c, o)
		if err != nil {
			return err
		}
		lanes = append(lanes, run)
	}
	if err := pages.WriteAssessment(page, &pages.Assessment{Command: a.command(), Losing: a.losing(), Assessment: result}, lanes); err != nil {
		return err
	}
	return page.finish()
}

// played is a contingency as a run.
func played(ctx context.Context, c *assess.Config, o *assess.Outcome) (*replay.Run, error) {
	clusters := lists.Of(o.Clusters, func(name string) messages.ClusterName { return messages.ClusterName(name) })
	s, err := c.Losing(clusters, 0)
	if err != nil {
		return nil, err
	}
	run, err := replay.PlayContext(ctx, s, replay.Options{Seed: c.Seed, Unwatched: true})
	if err != nil {
		return nil, err
	}
	run.Name, run.File, run.Description = o.Name, "", fmt.Sprintf("What the loss of %s (%s) would lead to, on a virtual clock: nothing of this has happened.", o.Name, c.Outage)
	return run, nil
}

// words begin a command on the same fleet, whose settings a flag of it changes.
func (a *assessing) words(command, set string) []string {
	words := append([]string{"leeward " + command}, a.from.words()...)
	if a.profile != "" {
		words = append(words, "--profile "+a.profile)
	}
	for _, o := range overrides(a.set) {
		words = append(words, set+" "+o)
	}
	return append(words, "--seed "+a.seed.String(), "--kind "+a.kind.word, "--startup "+a.startup.String())
}

// losing plays one contingency again: what is lost is still missing.
func (a *assessing) losing() string {
	return strings.Join(append(a.words("what-if", "--config"), "--lose"), " ")
}

// command repeats the assessment.
func (a *assessing) command() string {
	words := a.words("assess", "--set")
	if a.pairs {
		words = append(words, "--pairs")
	}
	if a.by != assess.ByNamespace {
		words = append(words, "--by "+a.by)
	}
	return strings.Join(words, " ")
}

// verdict fails the command where a contingency does what --fail-on names.
func (a *assessing) verdict(result *assess.Assessment) error {
	var hurt []string
	for _, o := range result.Contingencies {
		if slices.ContainsFunc(a.conditions, func(f failCondition) bool { return f.met(o) }) {
			hurt = append(hurt, o.Name)
		}
	}
	if len(hurt) == 0 {
		return nil
	}
	return &exitcode.Exit{Code: exitFailed, Err: fmt.Errorf("leeward: --fail-on %s: predicted of %s; the worst: %s", strings.Join(a.failOn, ","), spelling.Count(len(hurt), "loss", "losses"), hurt[0])}
}

// failCondition is what --fail-on asks for: which contingencies must not do what to a workload.
type failCondition struct{ word, what string }

// What a contingency must not do.
const (
	failUnavailable = "unavailable"
	failDown        = "down"
	failOverflow    = "overflow"
)

var failWhat = []string{failUnavailable, failDown, failOverflow}

// parseFailOn reads "cluster", "any single cluster" or "cluster:down".
func parseFailOn(text string) (failCondition, error) {
	word, what, named := strings.Cut(strings.TrimPrefix(text, "any single "), ":")
	if !named {
		what = failUnavailable
	}
	if !slices.Contains(failWords(), word) || !slices.Contains(failWhat, what) {
		return failCondition{}, fmt.Errorf("--fail-on %q: must be one of %s, with :%s or nothing behind it", text, strings.Join(failWords(), ", "), strings.Join(failWhat, ", :"))
	}
	return failCondition{word, what}, nil
}

// met reports whether a contingency does what the condition names.
func (f failCondition) met(o *assess.Outcome) bool {
	switch f.word {
	case failAny:
	case failPair:
		if !o.Pair() {
			return false
		}
	default:
		if f.word != o.Kind || o.Pair() {
			return false
		}
	}
	switch f.what {
	case failDown:
		return o.Down > 0
	case failOverflow:
		return len(o.Overflows) > 0
	}
	return o.Hurts()
}
