package incident

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/manifest"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/scenario"
)

// Under is what an incident is replayed under.
type Under struct {
	// With are objects that exist from the beginning, in place of those of the recording.
	With []manifest.Document
	// Profile takes the place of the recorded one; empty: it holds. Set are settings that do not change.
	Profile string
	Set     []config.Override
}

// Scenario is what people and agents did in the incident, without what its control plane decided. It lasts a little longer
// than that, for what was decided last.
func (i *Incident) Scenario(u Under) *scenario.Scenario {
	c := &conversion{
		incident: i, under: u, own: store.ClusterUsage{}, reports: map[messages.ClusterName]*api.ResourceSummary{}, existing: map[api.Key]api.Object{}, pinned: map[api.Key]bool{}, authors: observed.Authors{Policies: map[string]*api.ClusterTaintPolicy{}},
		copies: map[placed]*copyState{}, leases: map[messages.ClusterName]*renewal{},
		startups: map[messages.ClusterName][]time.Duration{}, rooms: map[placed]int32{},
	}
	for _, d := range u.With {
		c.pinned[api.KeyOf(d.Object)] = true
	}
	c.scenario = &scenario.Scenario{
		Name: strings.TrimSuffix(filepath.Base(i.File), filepath.Ext(i.File)), File: i.File, Line: 1, Seed: world.DaemonSeed,
		Description: fmt.Sprintf("Recorded from %s on for %s.", i.Start.Format(time.RFC3339), i.Duration.Round(time.Second)),
		Profile:     i.Profile, Config: i.Config, Duration: i.Duration + Apart, Objects: u.With,
	}
	c.settle()
	c.begin()
	for n := range i.Changes {
		c.change(&i.Changes[n])
	}
	c.finish()
	return c.scenario
}

// conversion is an incident on its way to becoming a scenario.
type conversion struct {
	incident *Incident
	scenario *scenario.Scenario
	// line and at are those of the change that is being looked at.
	line int
	at   time.Duration
	// existing are the objects that existed at the start.
	existing map[api.Key]api.Object
	// pinned are objects that are given with the incident.
	pinned map[api.Key]bool
	under  Under
	// own is what copies take of clusters; reserves is set where the scheduler of the replay is to see what clusters report
	// without it, because it reserves capacity for what it places.
	own      store.ClusterUsage
	reserves bool
	// reports are what agents reported last of the capacity of their clusters.
	reports map[messages.ClusterName]*api.ResourceSummary
	authors observed.Authors
	// copies and leases are how agents were heard last; rooms are for how many replicas of a copy there was capacity, where
	// some could not start; startups is how long copies took to serve.
	copies   map[placed]*copyState
	leases   map[messages.ClusterName]*renewal
	rooms    map[placed]int32
	startups map[messages.ClusterName][]time.Duration
}

// begin takes over what existed at the start. Works and leases are told by what follows from them.
func (c *conversion) begin() {
	began := &scenario.Beginning{At: c.incident.Start}
	c.scenario.Began = began
	for _, o := range c.incident.Stood {
		c.existing[api.KeyOf(o)] = o
		switch o := o.(type) {
		case *api.Cluster:
			c.reports[messages.ClusterName(o.Name)] = o.Status.ResourceSummary
		case *api.Work:
			c.work(nil, o)
		}
		c.authors.Note(nil, o)
		c.lease(nil, o)
		c.own.Count(store.AsBinding(o), 1)
		if plays(o) {
			began.Objects = append(began.Objects, o)
		}
	}
	if c.reserves {
		store.WithoutOwn(began.Objects)
	}
	for _, o := range c.incident.Stood {
		began.Inputs = append(began.Inputs, c.running(o)...)
	}
}

// plays reports whether an object is one of those that a world has.
func plays(o api.Object) bool {
	switch catalog.Of(api.KeyOf(o)) {
	case catalog.Events, catalog.Namespaces, catalog.Leases, catalog.Works:
		return false
	}
	return true
}

func (c *conversion) change(n *ObjectChange) {
	c.line, c.at = n.Line, n.At
	if c.pinned[n.Key()] {
		return
	}
	switch catalog.Of(n.Key()) { // other APIs, too, have a Cluster or a Work
	case catalog.Events, catalog.Namespaces:
	case catalog.Clusters:
		c.cluster(n)
	case catalog.Leases:
		c.lease(n.Before, n.Now)
	case catalog.Works:
		c.work(n.Before, n.Now)
	case catalog.Bindings, catalog.ClusterBindings:
		c.binding(n)
	case catalog.Governors:
		c.governor(n)
		c.settings(n)
	default:
		c.object(n)
	}
}

// step adds what happened at an instant.
func (c *conversion) step(at time.Duration, action scenario.Action) {
	c.scenario.Timeline = append(c.scenario.Timeline, scenario.Step{
		At: max(0, at), Action: action, Recorded: true, File: c.incident.File, Line: max(1, c.line),
	})
}

// tell adds what was said to a cluster.
func (c *conversion) tell(cluster string, what ...messages.ToCluster) {
	if len(what) > 0 {
		c.step(c.at, &scenario.RecordedInput{Cluster: messages.ClusterName(cluster), ToIt: what})
	}
}

// object applies or deletes what people write. That the control plane wrote its status, or whose it is, is no change.
func (c *conversion) object(n *ObjectChange) {
	c.authors.Note(n.Before, n.Now)
	c.write(n, observed.Written(n.Before), observed.Written(n.Now))
}

// write has people write an object, or delete it: also one that only waits for finalizers is gone.
func (c *conversion) write(n *ObjectChange, before, now api.Object) {
	switch {
	case now == nil && before == nil:
	case now == nil:
		c.step(c.at, &scenario.Delete{Object: n.Key()})
	case before == nil || !equality.Semantic.DeepEqual(before, now):
		c.step(c.at, &scenario.Apply{Documents: []manifest.Document{{Object: now, Place: manifest.Place{File: c.incident.File}}}, MayFail: true})
	}
}

// binding passes on what people said of the evictions of a binding; the rest of it the control plane decided.
func (c *conversion) binding(n *ObjectChange) {
	c.taken(store.AsBinding(n.Before), store.AsBinding(n.Now))
	if n.Now == nil {
		return
	}
	key := n.Key()
	name := messages.NameBinding(key.Namespace, key.Name)
	var before map[string]string
	if n.Before != nil {
		before = n.Before.GetAnnotations()
	}
	c.holds(messages.HoldScope{Binding: name}, before, n.Now.GetAnnotations())
	if reason := n.Now.GetAnnotations()[api.AnnotationRelease]; reason != before[api.AnnotationRelease] {
		c.step(c.at, &scenario.Release{Binding: name, Reason: reason})
	}
}

// governor passes on that people paused evictions; the rest of it the control plane decided.
func (c *conversion) governor(n *ObjectChange) {
	var was, is *api.Hold
	if g, ok := n.Before.(*api.Governor); ok {
		was = g.Spec.Pause
	}
	if g, ok := n.Now.(*api.Governor); ok {
		is = g.Spec.Pause
	}
	c.held(messages.HoldScope{}, was, is)
}

// holds has evictions within a scope wait, or go on, as annotations say.
func (c *conversion) holds(of messages.HoldScope, before, now map[string]string) {
	was, _ := api.HoldIn(before) // what cannot be read holds nothing
	is, _ := api.HoldIn(now)
	c.held(of, was, is)
}

func (c *conversion) held(of messages.HoldScope, was, is *api.Hold) {
	if equality.Semantic.DeepEqual(was, is) {
		return
	}
	hold := &scenario.Hold{Scopes: []messages.HoldScope{of}}
	if is != nil {
		hold.Reason = is.Reason
		if is.Until != nil {
			hold.Until = is.Until.Sub(c.incident.Start)
		}
	}
	c.step(c.at, hold)
}

// finish sorts what happened, and says how members behave: as their copies did.
func (c *conversion) finish() {
	for _, cluster := range slices.Sorted(maps.Keys(c.leases)) {
		c.silence(cluster, c.leases[cluster], c.incident.Duration, false)
	}
	c.neverServed()
	s := c.scenario
	slices.SortStableFunc(s.Timeline, func(a, b scenario.Step) int { return cmp.Compare(a.At, b.At) })
	s.Members = map[messages.ClusterName]messages.MemberBehaviour{}
	var all []time.Duration
	for _, name := range slices.Sorted(maps.Keys(c.startups)) {
		all = append(all, c.startups[name]...)
	}
	usual := median(all)
	for name := range c.clusters() {
		startup := usual
		if own := c.startups[name]; len(own) > 0 {
			startup = median(own)
		}
		s.Members[name] = messages.MemberBehaviour{StartupMin: startup, StartupMax: startup, Health: api.Healthy}
	}
}

// clusters are all that there were.
func (c *conversion) clusters() map[messages.ClusterName]bool {
	all := map[messages.ClusterName]bool{}
	for _, o := range c.incident.Stood {
		if k, ok := o.(*api.Cluster); ok {
			all[messages.ClusterName(k.Name)] = true
		}
	}
	for i := range c.incident.Changes {
		if k, ok := c.incident.Changes[i].Now.(*api.Cluster); ok {
			all[messages.ClusterName(k.Name)] = true
		}
	}
	return all
}

// median is the middle one of some spans; zero of none.
func median(spans []time.Duration) time.Duration {
	if len(spans) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(spans))[len(spans)/2].Round(time.Millisecond)
}
