// Package assess is contingency analysis: it fails every cluster of a fleet, every region, zone and provider, and every two of
// them, each on a copy of the fleet and on a virtual clock, and ranks what that would do to its workloads.
//
// The machines, policies and settings are the fleet's own. The state before the failure is computed once and shared by
// all copies. Nothing is written: what is reported is a prediction.
package assess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/span"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// Horizon is how far each contingency looks ahead.
const Horizon = forecast.Horizon

// lead is how long the fleet runs undisturbed before anything fails.
const lead = forecast.Lead

// ByNamespace is the word for groups by namespace.
const ByNamespace = forecast.ByNamespace

// mostContingencies bounds an assessment: every two of 300 clusters, with their regions.
const mostContingencies = 50_000

// Config is what is assessed, and how.
type Config struct {
	// Fleet are the objects, members, profile and settings. Its timeline and expectations are ignored.
	Fleet *scenario.Scenario
	// Profile and Set are on top of what the fleet says.
	Profile string
	Set     []config.Override
	Seed    uint64
	// Outage is what fails: power, network or API server. Required.
	Outage messages.OutageKind
	// Startup is how long a copy takes to start on clusters of which the fleet does not say it.
	Startup time.Duration
	// Pairs adds every two of a kind.
	Pairs bool
	// By groups workloads by a label of theirs, in place of their namespace. Zero: by namespace.
	By string
	// Jobs is how many contingencies run at the same time; 0: one.
	Jobs int
	// Progress hears how many are done, in order; nil: there is no listener.
	Progress func(done, of int)
}

// Invalid says what is wrong with a fleet, or with its settings.
type Invalid = forecast.Invalid

// fleet is the state before any failure, which all contingencies share and none changes.
type fleet struct {
	settings  messages.Settings
	seed      uint64
	outage    messages.OutageKind
	members   map[messages.ClusterName]messages.MemberBehaviour
	now       time.Time
	objects   []api.Object
	clusters  []*api.Cluster
	workloads []workload
	// index finds a workload by its binding.
	index map[messages.BindingName]int
	// unhealthy are the copies that are not healthy before any failure.
	unhealthy []copyHealth
	// moving are the workloads that are evicted within rest before any failure.
	moving map[messages.BindingName]bool
	// evicting are the old copies during handovers: bindings do not start them again.
	evicting []copyHealth
	// groups are those of workloads.
	groups []string
	// before is how much of each cluster is requested.
	before forecast.Usage
}

// copyHealth is the health of one copy.
type copyHealth struct {
	binding messages.BindingName
	cluster messages.ClusterName
	health  api.ResourceHealth
	// replicas of the copy, of which so many are ready; of one that evicting names.
	replicas, ready int32
}

// workload is one binding as it is before any failure.
type workload struct {
	name  messages.BindingName
	spec  *api.BindingSpec
	owner messages.PropagationName
	group int // its index
	// unschedulable is set where replicas have no cluster even before anything fails.
	unschedulable bool
}

// Run assesses a fleet. The error is an *Invalid where the fleet or the settings are at fault.
func Run(ctx context.Context, c Config) (*Assessment, error) {
	f, profile, err := settle(ctx, &c)
	if err != nil {
		return nil, err
	}
	all := contingencies(f.clusters, c.Pairs)
	if len(all) > mostContingencies {
		return nil, &Invalid{Problem: fmt.Errorf("%d contingencies are more than %d: omit pairs", len(all), mostContingencies)}
	}
	outcomes, err := f.tryAll(ctx, all, &c)
	if err != nil {
		return nil, err
	}
	a := &Assessment{
		Prediction: true, Profile: profile, Seed: c.Seed, Outage: c.Outage, Startup: span.Seconds(c.Startup),
		By: cmp.Or(c.By, ByNamespace), Fleet: f.shape(),
		Contingencies: outcomes,
	}
	a.rank()
	a.Advice = f.advise(a, c.Fleet.Objects)
	for _, o := range a.Contingencies {
		o.cut()
	}
	return a, nil
}

// settle brings the fleet to rest as it is before any failure.
func settle(ctx context.Context, c *Config) (*fleet, string, error) {
	ready, err := forecast.Prepare(c.Fleet, c.Profile, c.Set, c.Startup)
	if err != nil {
		return nil, "", err
	}
	start := ready.Start
	f := &fleet{settings: ready.Settings, seed: c.Seed, outage: c.Outage, members: ready.Members, now: start.Add(lead)}
	f.moving = map[messages.BindingName]bool{}
	w := world.New(world.Config{Settings: ready.Settings, Seed: c.Seed, Start: start, Members: f.members, Hear: func(at time.Time, fact messages.Fact) {
		if e, is := fact.(*messages.EvictionStarted); is && f.now.Sub(at) < forecast.Rest {
			f.moving[e.Binding] = true
		}
	}})
	defer w.Close()
	defer context.AfterFunc(ctx, w.Interrupt)()
	if err := w.ApplyAll(ready.Objects); err != nil {
		return nil, "", &Invalid{Problem: err}
	}
	if err := w.Settle(start); err != nil {
		return nil, "", err
	}
	if err := w.EachDue(ctx, f.now.Add(-1), w.Settle); err != nil {
		return nil, "", err
	}
	if err := f.read(w.Store(), ready, c.By); err != nil {
		return nil, "", err
	}
	return f, ready.Profile, nil
}

// read takes the objects of a fleet that has settled.
func (f *fleet) read(s *store.Store, ready *forecast.Fleet, by string) error {
	for _, o := range s.List("Cluster") {
		f.clusters = append(f.clusters, ready.Others(o.(*api.Cluster)))
	}
	if len(f.clusters) == 0 {
		return &Invalid{Problem: errors.New("holds no Cluster: nothing can fail")}
	}
	f.objects = slices.DeleteFunc(s.Objects(), isTemplate)
	f.index = map[messages.BindingName]int{}
	of := map[string]int{}
	for _, b := range s.Bindings() {
		group := groupOf(s, b, by)
		if _, known := of[group]; !known {
			of[group] = len(f.groups)
			f.groups = append(f.groups, group)
		}
		for _, item := range b.Status.AggregatedStatus {
			if item.Health != "" && item.Health != api.Healthy {
				f.unhealthy = append(f.unhealthy, copyHealth{binding: b.Name(), cluster: messages.ClusterName(item.ClusterName), health: item.Health})
			}
		}
		f.evicting = append(f.evicting, oldCopies(b)...)
		spec := *b.Spec
		f.index[b.Name()] = len(f.workloads)
		f.workloads = append(f.workloads, workload{
			name: b.Name(), spec: &spec, owner: b.Owner(), group: of[group], unschedulable: missing(b) > 0,
		})
	}
	f.before = forecast.Used(s)
	return nil
}

// isTemplate reports whether an object is a workload of which the binding says all that decisions go by.
func isTemplate(o api.Object) bool {
	switch k := api.KeyOf(o); k.APIVersion {
	case api.ClusterGroupVersion, api.WorkGroupVersion, api.AppsGroupVersion, api.LeewardGroupVersion:
		return false
	case api.PolicyGroupVersion:
		return k.Kind == "PropagationPolicy" || k.Kind == "ClusterPropagationPolicy"
	}
	return true
}

// oldCopies are the copies of a binding that it is evicted from, as they were last reported.
func oldCopies(b *store.Binding) (all []copyHealth) {
	for i := range b.Spec.GracefulEvictionTasks {
		k := &b.Spec.GracefulEvictionTasks[i]
		if item := b.Status.Of(k.FromCluster); item != nil && api.FindTarget(b.Spec.Clusters, k.FromCluster) < 0 {
			ready := store.ReadyReplicas(item)
			all = append(all, copyHealth{b.Name(), messages.ClusterName(k.FromCluster), item.Health, max(ready, ptr.Deref(k.Replicas, 0)), ready})
		}
	}
	return all
}

// groupOf is the group of a workload: its namespace, or the value of a label, which its binding may have in its place.
func groupOf(s *store.Store, b *store.Binding, label string) string {
	if label == "" || label == ByNamespace {
		namespace, _ := b.Name().Split()
		return namespace
	}
	if template := s.Get(b.Spec.Resource.Key()); template != nil {
		return template.GetLabels()[label]
	}
	return b.Meta.Labels[label]
}

// missing is how many replicas of a binding no cluster has. With Duplicated each cluster has all.
func missing(b *store.Binding) (n int32) {
	for _, t := range b.Spec.Clusters {
		n += t.Replicas
	}
	return max(0, b.Spec.Replicas-n)
}

// shape counts what is assessed.
func (f *fleet) shape() Shape {
	s := Shape{Clusters: len(f.clusters), Workloads: len(f.workloads), Groups: len(f.groups), Moving: len(f.moving)}
	regions := map[string]bool{}
	for _, c := range f.clusters {
		if c.Spec.Region != "" {
			regions[c.Spec.Region] = true
		}
	}
	s.Regions = len(regions)
	for i := range f.workloads {
		for _, t := range f.workloads[i].spec.Clusters {
			s.Replicas += int(t.Replicas)
		}
		if f.workloads[i].unschedulable {
			s.Unschedulable++
		}
	}
	return s
}

// tryAll tries each contingency on a copy, several at the same time, and returns their outcomes in order. The same clusters are
// failed once, whatever they are called.
func (f *fleet) tryAll(ctx context.Context, all []Contingency, c *Config) ([]*Outcome, error) {
	type result struct {
		*Outcome
		err error
	}
	first := map[string]int{}
	for i := range all {
		if _, known := first[all[i].key()]; !known {
			first[all[i].key()] = i
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	try := func(i int) (r result) {
		if first[all[i].key()] == i {
			r.Outcome, r.err = f.try(ctx, &all[i])
		}
		return r
	}
	outcomes := make([]*Outcome, len(all))
	return outcomes, replay.InOrder(max(1, c.Jobs), len(all), try, func(i int, r result) error {
		switch same := first[all[i].key()]; {
		case ctx.Err() != nil:
			return ctx.Err()
		case r.err != nil:
			return fmt.Errorf("assess the loss of %s: %w", all[i].Name, r.err)
		case same != i:
			again := *outcomes[same]
			again.Contingency, again.SameAs = all[i], all[same].Name
			r.Outcome = &again
		}
		outcomes[i] = r.Outcome
		if c.Progress != nil {
			c.Progress(i+1, len(all))
		}
		return nil
	})
}
