package explain

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/actors/rules/placement"
	"leeward/actors/scheduler"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/shadow"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// What can be explained.
const (
	KindBinding = "binding"
	KindCluster = "cluster"
	KindPolicy  = "policy"
	KindNode    = "node"
	KindPod     = "pod"
)

// Kinds are what can be explained.
func Kinds() []string { return []string{KindBinding, KindCluster, KindPolicy, KindNode, KindPod} }

// Config is what is explained.
type Config struct {
	Scenario *scenario.Scenario
	// Kind is one of those above. Name is as users write it, Namespace that of -n; empty: none is named.
	Kind, Name, Namespace string
	// Start is the instant from which everything counts; zero: as replay.StartOf has it.
	Start time.Time
	// At is the instant, from the start; zero: the end of the scenario.
	At time.Duration
	// Profile and Set are on top of what the scenario says.
	Profile string
	Set     []config.Override
	Seed    uint64
}

// Seconds is an instant from the start, which JSON has in seconds.
type Seconds time.Duration

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// String is the instant as timelines show it: 00:01:30.
func (s Seconds) String() string { return journal.Clock(time.Duration(s)) }

// Explanation is the answer. One of its last five is set.
type Explanation struct {
	Kind    string   `json:"kind"`
	Name    string   `json:"name"`
	At      Seconds  `json:"atSeconds"`
	Profile string   `json:"profile"`
	Seed    uint64   `json:"seed"`
	Binding *Binding `json:"binding,omitempty"`
	Cluster *Cluster `json:"cluster,omitempty"`
	Policy  *Policy  `json:"policy,omitempty"`
	Node    *Node    `json:"node,omitempty"`
	Pod     *Pod     `json:"pod,omitempty"`
}

// Run replays the scenario until the instant, and explains. The error is an *forecast.Invalid where the scenario, a setting or the name is
// at fault.
func Run(c Config) (*Explanation, error) { return RunContext(context.Background(), c) }

// RunContext is Run until the context is done.
func RunContext(ctx context.Context, c Config) (*Explanation, error) {
	c.Scenario = c.Nodes()
	if err := c.fits(); err != nil {
		return nil, &forecast.Invalid{Problem: err}
	}
	q := &query{Config: c}
	if c.Kind == KindBinding {
		var err error
		if q.meant, err = bindingsMeant(c.Name, c.Namespace, kindsOf(c.Scenario)); err != nil {
			return nil, &forecast.Invalid{Problem: err}
		}
	}
	played, err := c.played()
	if err != nil {
		return nil, &forecast.Invalid{Problem: err}
	}
	options := replay.Options{Seed: c.Seed, Profile: c.Profile, Set: c.Set, Start: c.Start, Until: c.At, Begun: q.begun, Ended: q.ended}
	run, err := replay.PlayContext(ctx, played, options)
	var wrong *world.Invalid
	switch {
	case errors.As(err, &wrong):
		return nil, &forecast.Invalid{Problem: err}
	case err != nil:
		return nil, err
	case run.Err != nil:
		return nil, run.Err
	case q.problem != nil:
		return nil, &forecast.Invalid{Problem: q.problem}
	}
	q.answer.Kind, q.answer.Profile, q.answer.Seed = c.Kind, run.Profile, c.Seed
	return q.answer, nil
}

// Nodes is the scenario, whose nodes are those of one cluster where plain manifests have Nodes and no Cluster.
func (c *Config) Nodes() *scenario.Scenario {
	has := func(kind string) bool {
		return slices.ContainsFunc(c.Scenario.Objects, func(d manifest.Document) bool { return d.Object.GetObjectKind().GroupVersionKind().Kind == kind })
	}
	if !c.ofNodes() || c.Scenario.Name != "" || !has("Node") || has("Cluster") {
		return c.Scenario
	}
	s := *c.Scenario
	s.OfNodes = true
	return &s
}

func (c *Config) ofNodes() bool { return c.Kind == KindNode || c.Kind == KindPod }

// fits reports whether the scenario has what is explained: clusters, or nodes.
func (c *Config) fits() error {
	switch {
	case c.ofNodes() && !c.Scenario.OfNodes && len(c.Scenario.MemberNodes) == 0:
		return fmt.Errorf("explain %s: there are no nodes: want a scenario with spec.nodes, with clusters that have nodes, or manifests of Nodes and Pods", c.Kind)
	case !c.ofNodes() && c.Scenario.OfNodes:
		return fmt.Errorf("explain %s: want a fleet of clusters; this is a scenario of nodes: explain a %s or a %s", c.Kind, KindNode, KindPod)
	}
	return nil
}

// played is the scenario. Clusters of plain manifests report what others take of them, where copies that run are counted by themselves.
func (c *Config) played() (*scenario.Scenario, error) {
	settings, problems := config.Resolve(cmp.Or(c.Profile, c.Scenario.Profile, config.Default), slices.Concat(c.Scenario.Config, c.Set))
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if c.Scenario.Name != "" || !settings.CapacityReservation {
		return c.Scenario, nil
	}
	s := *c.Scenario
	s.Objects = forecast.Reported(s.Objects)
	return &s, nil
}

// query is one run, and the answer.
type query struct {
	Config
	world *world.World
	// meant are the bindings that the name may mean, the likeliest first; decided are the decisions on them.
	meant   []messages.BindingName
	decided []decision
	// pods are the last decisions on each pod that may be meant: the one that found a node, and the last.
	pods map[messages.PodName]*podDecisions
	// store, start and now are as they are when the run has ended.
	store   *store.Store
	start   time.Time
	now     time.Time
	entries []journal.Entry
	// places and tasks are indices of what there is of each binding; nil: not made yet.
	places  map[messages.BindingName][]int
	tasks   map[messages.BindingName]*api.BindingSpec
	answer  *Explanation
	problem error
}

// decision is what the scheduler decides on a binding at an instant.
type decision struct {
	binding messages.BindingName
	at      time.Time
	*scheduler.Explanation
}

// begun has each decision on what is meant explained as it is made.
func (q *query) begun(w *world.World) {
	q.world = w
	if q.Kind == KindPod {
		q.pods = map[messages.PodName]*podDecisions{}
		w.AttendPods(q.keepPod)
	}
	if len(q.meant) == 0 {
		return
	}
	w.AttendPlacements(func(at time.Time, name messages.BindingName) {
		if slices.Contains(q.meant, name) {
			q.keep(decision{name, at, w.ExplainPlacement(name)})
		}
	})
}

// keep keeps a decision, unless it only follows a change of the fleet and leaves the binding where it is.
func (q *query) keep(d decision) {
	if d.Explanation == nil || d.Suspended {
		return
	}
	follows := d.Calls == "" || d.Calls == placement.CauseAlways
	if follows && d.Placed && shadow.SameClusters(d.Decision.Targets, d.Targets) {
		return
	}
	q.decided = append(q.decided, d)
}

// ended explains, once the run has come to the instant.
func (q *query) ended(w *world.World, end time.Time) {
	q.store, q.now, q.entries, q.start = w.Store(), end, w.Journal().Entries(), w.Journal().Start()
	q.answer = &Explanation{At: q.since(end)}
	switch q.Kind {
	case KindBinding:
		q.explainBinding()
	case KindCluster:
		q.explainCluster()
	case KindPolicy:
		q.explainPolicy()
	case KindNode:
		q.explainNode()
	case KindPod:
		q.explainPod()
	default:
		q.problem = fmt.Errorf("explain %s: want one of %s", q.Kind, strings.Join(Kinds(), ", "))
	}
}

// since is an instant from the start.
func (q *query) since(at time.Time) Seconds { return Seconds(at.Sub(q.start)) }

// settings are those at the instant.
func (q *query) settings() *messages.Settings { return q.world.Settings() }
