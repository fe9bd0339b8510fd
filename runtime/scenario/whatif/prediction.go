package whatif

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/rehearsal"
	"leeward/runtime/fleet/span"
	"leeward/runtime/scenario/forecast"
	"leeward/runtime/scenario/replay"
)

// Prediction is what changes would do. Times count from the first instant.
type Prediction struct {
	// IsPrediction is true: nothing of this has happened.
	IsPrediction bool     `json:"prediction"`
	Profile      string   `json:"profile"`
	Seed         uint64   `json:"seed"`
	Clusters     int      `json:"clusters"`
	Workloads    int      `json:"workloads"`
	Changes      []string `json:"changes"`
	// Changed is set where an eviction, a placement or availability differs.
	Changed bool `json:"changed"`
	rehearsal.Prediction
	Placements  []Move              `json:"placements"`
	Unavailable []rehearsal.Trouble `json:"unavailable"`
	// Down are the workloads that have nothing available for a while.
	Down     []messages.BindingName `json:"down"`
	Capacity []Capacity             `json:"capacity"`
	Busiest  *Minute                `json:"busiestMinute,omitempty"`
	// Lowest is the smallest share of available replicas, at LowestAt.
	Lowest   float64      `json:"lowestAvailability"`
	LowestAt span.Seconds `json:"lowestAtSeconds"`
	// AvailableAfter is when all are available again; nil: not within the horizon.
	AvailableAfter *span.Seconds `json:"availableAfterSeconds"`
	By             string        `json:"by"`
	Groups         []Group       `json:"groups"`
	Samples        *Samples      `json:"samples,omitempty"`
}

// Move is a placement that differs in the end.
type Move struct {
	Workload messages.BindingName `json:"workload"`
	Before   []api.TargetCluster  `json:"before"`
	After    []api.TargetCluster  `json:"after"`
}

// Capacity is how much of a resource of a cluster is free.
type Capacity struct {
	Cluster     string `json:"cluster"`
	Resource    string `json:"resource"`
	Allocatable string `json:"allocatable"`
	Before      string `json:"before"`
	After       string `json:"after"`
}

// Minute is the one with the most evictions.
type Minute struct {
	From      span.Seconds `json:"fromSeconds"`
	Evictions int          `json:"evictions"`
}

// Group is what happens to a group.
type Group struct {
	Group         string `json:"group"`
	Evictions     int    `json:"evictions"`
	Replicas      int    `json:"replicas"`
	Unschedulable int    `json:"unschedulable"`
	Unavailable   int    `json:"unavailable"`
}

// Samples are times until all are available again under several seeds.
type Samples struct {
	Seeds  int           `json:"seeds"`
	Median *span.Seconds `json:"medianSeconds"`
	Worst  *span.Seconds `json:"worstSeconds"`
	Never  int           `json:"never"`
}

// summarized is the median and the worst of samples; one that never ends is worse than any.
func summarized(all []*Prediction) *Samples {
	s := &Samples{Seeds: len(all)}
	var after []*span.Seconds
	for _, p := range all {
		if after = append(after, p.AvailableAfter); p.AvailableAfter == nil {
			s.Never++
		}
	}
	slices.SortFunc(after, func(a, b *span.Seconds) int {
		return cmp.Compare(ptr.Deref(a, math.MaxInt64), ptr.Deref(b, math.MaxInt64))
	})
	s.Median, s.Worst = after[(len(after)-1)/2], after[len(after)-1]
	return s
}

// compare reads what the changes did that does not happen without them.
func (p *player) compare(run *replay.Run, base *state) *Prediction {
	end := stateOf(run)
	f := newFollower(p.first())
	f.want = func(b messages.BindingName, n int32) int32 {
		spec := end.bindings[b]
		if spec == nil {
			return 0
		}
		n = min(n, spec.Replicas)
		if base.available != nil {
			n = min(n, base.available[b])
		}
		return n
	}
	f.all(run)
	r := &Prediction{IsPrediction: true, Profile: run.Profile, Seed: run.Seed, Clusters: len(base.clusters), Workloads: len(base.names), By: cmp.Or(p.config.By, forecast.ByNamespace), Lowest: 1}
	for _, c := range p.config.Changes {
		text := c.String()
		if c.Flag == FlagLose {
			text += p.config.Outage.flags()
		}
		r.Changes = append(r.Changes, text)
	}
	without := base.outcome
	if without == nil {
		without = f.rested
	}
	r.Prediction = f.outcome.Beyond(without, p.begins())
	r.Stays, r.Busiest = stays(base, end), busiest(r.Evictions)
	p.troubles(r, f, end)
	r.moves(base, end)
	r.capacity(base, end, p.ready)
	if f.total > 0 {
		r.Lowest = float64(f.lowest) / float64(f.total)
	}
	r.LowestAt = p.since(f.lowestAt)
	if !f.wholeAt.IsZero() {
		r.AvailableAfter = new(p.since(f.wholeAt))
	}
	p.groups(r, base)
	r.Changed = len(r.Evictions)+len(r.Placements)+len(r.Unschedulable)+len(r.Unavailable)+len(r.Down)+len(r.Blocked) > 0 || f.lowest < f.total
	return r
}

func (p *player) since(at time.Time) span.Seconds { return span.Seconds(at.Sub(p.begins())) }

// busiest is the first of the minutes with the most evictions; nil: there are none.
func busiest(all []rehearsal.Eviction) (most *Minute) {
	minutes := map[time.Duration]int{}
	for i := range all {
		from := all[i].At.Length().Truncate(time.Minute)
		minutes[from]++
		if n := minutes[from]; most == nil || n > most.Evictions {
			most = &Minute{span.Seconds(from), n}
		}
	}
	return most
}

// troubles lists the workloads that are not whole in the end, with the reason.
func (p *player) troubles(r *Prediction, f *follower, end *state) {
	for i := range r.Unschedulable {
		of := &r.Unschedulable[i]
		if spec := end.bindings[of.Workload]; spec != nil && of.Missing == 0 {
			of.Missing = max(0, unscheduled(spec), f.target[of.Workload]-f.available[of.Workload])
		}
	}
	for _, b := range end.names {
		if lacks := f.target[b] - f.available[b]; lacks > 0 {
			r.Unavailable = append(r.Unavailable, rehearsal.Trouble{Workload: b, Missing: lacks, Reason: p.why(b, f, end)})
		}
		if f.down[b] {
			r.Down = append(r.Down, b)
		}
	}
	slices.Sort(r.Down)
	order := func(a, b rehearsal.Trouble) int {
		return cmp.Or(cmp.Compare(b.Missing, a.Missing), cmp.Compare(a.Workload, b.Workload))
	}
	slices.SortFunc(r.Unschedulable, order)
	slices.SortFunc(r.Unavailable, order)
}

// unscheduled are the replicas of a workload that no cluster has; below 0 where several have all.
func unscheduled(spec *api.BindingSpec) int32 {
	missing := spec.Replicas
	for _, t := range spec.Clusters {
		missing -= t.Replicas
	}
	return missing
}

// stays tells of the clusters that keep their workloads although they are not Ready, and of which that was not so before.
func stays(base, end *state) (lines []string) {
	known := rehearsal.Stays(base.clusters)
	return slices.DeleteFunc(rehearsal.Stays(end.clusters), func(line string) bool { return slices.Contains(known, line) })
}

// why is why a workload is not available.
func (p *player) why(b messages.BindingName, f *follower, end *state) string {
	if reason, is := f.outcome.Refused(b); is {
		return "unschedulable: " + reason
	}
	spec := end.bindings[b]
	for _, t := range spec.Clusters {
		name := messages.ClusterName(t.Name)
		if reason, is := f.outcome.Blocks(b, name); is {
			return "blocked: " + reason
		}
		cluster := end.named[t.Name]
		if cluster == nil {
			continue
		}
		if cluster.Status.WorkloadsStay != "" {
			return "stays: " + cluster.Status.WorkloadsStay
		}
		if spec.Placement != nil {
			if text := forecast.Tolerated(cluster.Spec.Taints, spec.Placement.ClusterTolerations, &p.ready.Settings, p.begins(), "after the change"); text != "" {
				return text
			}
		}
	}
	return "copies are not available within " + span.String(forecast.Horizon)
}

// moves lists the placements that differ in the end.
func (r *Prediction) moves(base, end *state) {
	sorted := func(s *api.BindingSpec) []api.TargetCluster {
		if s == nil {
			return nil
		}
		return slices.SortedFunc(slices.Values(s.Clusters), func(a, b api.TargetCluster) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, b := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(base.names, end.names)))) {
		if before, after := sorted(base.bindings[b]), sorted(end.bindings[b]); !slices.Equal(before, after) {
			r.Placements = append(r.Placements, Move{b, before, after})
		}
	}
}

// capacity is how much of each cluster is free without and with the changes.
func (r *Prediction) capacity(base, end *state, ready *forecast.Fleet) {
	for _, c := range end.clusters {
		has, others := forecast.CapacityOf(ready.Others(c))
		var all []Capacity
		for what, q := range has { // sorted below
			left := api.Units(what, q) - api.Units(what, others[what])
			before, after := base.used[c.Name][what], end.used[c.Name][what]
			all = append(all, Capacity{c.Name, string(what), q.String(), forecast.Quantity(what, left-before), forecast.Quantity(what, left-after)})
		}
		slices.SortFunc(all, func(a, b Capacity) int { return cmp.Compare(a.Resource, b.Resource) })
		r.Capacity = append(r.Capacity, all...)
	}
}

// groups counts what happens to each group.
func (p *player) groups(r *Prediction, base *state) {
	all := map[string]*Group{}
	group := func(name string) *Group {
		if all[name] == nil {
			all[name] = &Group{Group: name}
		}
		return all[name]
	}
	for _, e := range r.Evictions {
		g := group(p.groupOf(e.Workload, string(e.From), base))
		g.Evictions++
		g.Replicas += int(e.Replicas)
	}
	each := func(troubles []rehearsal.Trouble, count func(*Group)) {
		for _, t := range troubles {
			var seen []string
			for _, cluster := range clustersOf(base.bindings[t.Workload]) {
				if name := p.groupOf(t.Workload, cluster, base); !slices.Contains(seen, name) {
					seen = append(seen, name)
					count(group(name))
				}
			}
		}
	}
	each(r.Unschedulable, func(g *Group) { g.Unschedulable++ })
	each(r.Unavailable, func(g *Group) { g.Unavailable++ })
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r.Groups = append(r.Groups, *all[name])
	}
}

func clustersOf(s *api.BindingSpec) (names []string) {
	if s != nil {
		for _, t := range s.Clusters {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// groupOf is the group of a workload, or of the cluster that it is on.
func (p *player) groupOf(b messages.BindingName, cluster string, base *state) string {
	switch p.config.By {
	case forecast.KindCluster:
		return cluster
	case forecast.KindRegion:
		if c := base.named[cluster]; c != nil {
			return c.Spec.Region
		}
		return ""
	}
	if label, is := strings.CutPrefix(p.config.By, "label:"); is {
		if spec := base.bindings[b]; spec != nil {
			return p.labels[spec.Resource.Key()][label]
		}
		return ""
	}
	namespace, _ := b.Split()
	return namespace
}

// follower reads the facts of a run.
type follower struct {
	// first is the instant of the first change.
	first   time.Time
	outcome *rehearsal.Outcome
	// rested is the outcome before the first change.
	rested *rehearsal.Outcome
	// available replicas; target is how many must be, as there were before and as the end asks for.
	available, target map[messages.BindingName]int32
	// whole is how many of total targets are available.
	whole, total, lowest int
	lowestAt             time.Time
	wholeAt              time.Time
	down                 map[messages.BindingName]bool
	// want caps the targets; nil: there are none.
	want func(messages.BindingName, int32) int32
}

func newFollower(first time.Time) *follower {
	return &follower{
		first: first, outcome: rehearsal.NewOutcome(),
		available: map[messages.BindingName]int32{}, target: map[messages.BindingName]int32{}, down: map[messages.BindingName]bool{}, wholeAt: first,
	}
}

// all reads a run, instant by instant.
func (f *follower) all(run *replay.Run) {
	struck := false
	var touched []messages.BindingName
	for i := range run.Events {
		e := &run.Events[i]
		if !struck && !e.At.Before(f.first) {
			f.strike()
			struck = true
		}
		f.outcome.Hear(e.At, e.Fact)
		touched = f.take(e.Fact, touched)
		if last := i+1 == len(run.Events) || run.Events[i+1].At.After(e.At); last {
			if struck && len(touched) > 0 {
				f.sample(e.At, touched)
			}
			touched = touched[:0]
		}
	}
	if !struck {
		f.strike()
	}
}

// strike takes stock before the first change.
func (f *follower) strike() {
	for b, n := range f.available { // order-free: each by itself
		if f.want != nil {
			n = f.want(b, n)
		}
		f.target[b] = n
		f.whole += int(n)
	}
	f.rested = f.outcome.Rested()
	f.total, f.lowest, f.lowestAt = f.whole, f.whole, f.first
}

// take takes a fact, and returns the workloads whose availability changed.
func (f *follower) take(fact messages.Fact, touched []messages.BindingName) []messages.BindingName {
	a, is := fact.(*messages.AvailabilityChanged)
	if !is {
		return touched
	}
	target := f.target[a.Binding]
	before := min(f.available[a.Binding], target)
	f.available[a.Binding] += a.Available - a.Before
	f.whole += int(min(f.available[a.Binding], target) - before)
	return append(touched, a.Binding)
}

// sample looks at what is available once an instant has settled.
func (f *follower) sample(at time.Time, touched []messages.BindingName) {
	for _, b := range touched {
		if f.available[b] <= 0 && f.target[b] > 0 {
			f.down[b] = true
		}
	}
	if f.whole < f.lowest {
		f.lowest, f.lowestAt = f.whole, at
	}
	switch {
	case f.whole < f.total:
		f.wholeAt = time.Time{}
	case f.wholeAt.IsZero():
		f.wholeAt = at
	}
}
