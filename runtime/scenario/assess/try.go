package assess

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
	"leeward/runtime/fleet/world"
	"leeward/runtime/kernel"
	"leeward/runtime/scenario/forecast"
)

// try fails clusters on a copy of the fleet, and follows what comes of it until nothing more is due, or the horizon.
func (f *fleet) try(ctx context.Context, c *Contingency) (*Outcome, error) {
	r := f.begin(c)
	w := world.New(world.Config{Settings: f.settings, Seed: f.seed, Start: f.now, Hear: r.hear})
	defer w.Close()
	defer context.AfterFunc(ctx, w.Interrupt)()
	if err := f.restore(w); err != nil {
		return nil, err
	}
	r.strike()
	for _, name := range c.Clusters {
		w.TellMember(messages.ClusterName(name), &messages.OutagesSet{Outages: outages(f.outage)})
	}
	settle := func(at time.Time) error {
		err := w.Settle(at)
		r.sample(at)
		return err
	}
	if err := settle(f.now); err != nil {
		return nil, err
	}
	if err := w.EachDue(ctx, f.now.Add(Horizon), settle); err != nil {
		if errors.Is(err, kernel.ErrInterrupted) {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return r.conclude(w.Store()), nil
}

// restore makes a world the copy of the fleet as it is before any failure. Its members know no copies yet: they start them without
// taking time, those that were unhealthy as unhealthy, and only then they take the time that new copies take.
func (f *fleet) restore(w *world.World) error {
	objects := lists.Of(f.objects, api.Shallow)
	w.Load(store.WithoutRows(objects))
	for _, u := range f.unhealthy { // before they start, or a handover would end for the moment in which they are healthy
		w.TellMember(u.cluster, &messages.HealthForced{Binding: u.binding, Health: u.health})
	}
	w.Recover()
	for _, e := range f.evicting {
		w.TellMember(e.cluster, &messages.RunCopy{Binding: e.binding, Replicas: e.replicas, Adopt: true, Found: messages.CopyFound{Health: e.health, Ready: e.ready}})
	}
	if err := w.Settle(f.now); err != nil {
		return err
	}
	for _, c := range f.clusters {
		if b, known := f.members[messages.ClusterName(c.Name)]; known {
			w.TellMember(messages.ClusterName(c.Name), &messages.MemberConfigured{Behaviour: b})
		}
	}
	return w.Settle(f.now)
}

// outages are what a cluster has that fails in a way.
func outages(kind messages.OutageKind) messages.Outages {
	return messages.Outages{
		Power: kind == messages.OutagePower, Network: kind == messages.OutageNetwork, APIServer: kind == messages.OutageAPIServer,
	}
}

// run follows one contingency.
type run struct {
	*fleet
	outcome *Outcome
	failed  map[messages.ClusterName]bool
	fold    failover.Fold
	// struck is set once the clusters have failed: what happens before is no consequence.
	struck bool
	// available replicas of each workload; target is how many of them must be: as many as there were before, and as it asks for.
	available, target []int32
	// lost marks workloads that had copies on the clusters; down says when workloads had nothing available.
	lost []bool
	down []downtime
	// whole, and of each group, is how many of the targets are available.
	whole, all     int
	wholeOf, allOf []int
	lowestOf       []float64
	wholeLost      int
	allLost        int
	availableAt    time.Time
	// lacked are the replicas that were unavailable since the last sample, at sampled; shortfall adds them up, in milliseconds.
	lacked           int
	sampled          time.Time
	shortfall        int64
	touched          []int
	evicted, rescued map[messages.BindingName]bool
	// refused and blocked are the last word on workloads that no cluster can take, and on evictions that wait.
	refused map[messages.BindingName]refusal
	blocked map[messages.BindingName]string
	stays   map[messages.ClusterName]string
	fill
}

// downtime is for how long a workload had nothing available in all, and since when it has nothing; the zero time: it has.
type downtime struct {
	total time.Duration
	since time.Time
}

// is takes in whether a workload has nothing available from an instant on.
func (d *downtime) is(down bool, at time.Time) {
	switch {
	case down && d.since.IsZero():
		d.since = at
	case !down && !d.since.IsZero():
		d.total += at.Sub(d.since)
		d.since = time.Time{}
	}
}

// length is how long it lasts: beyond all bounds where it does not end.
func (d *downtime) length() time.Duration {
	if !d.since.IsZero() {
		return math.MaxInt64
	}
	return d.total
}

// refusal is why no cluster can take replicas.
type refusal struct {
	missing int32
	message string
}

// begin prepares to follow a contingency.
func (f *fleet) begin(c *Contingency) *run {
	n := len(f.workloads)
	r := &run{
		fleet: f, outcome: &Outcome{Contingency: *c, Lowest: 1, LowestWorkloads: 1}, failed: map[messages.ClusterName]bool{}, fold: failover.Fold{},
		available: make([]int32, n), target: make([]int32, n), lost: make([]bool, n), down: make([]downtime, n),
		wholeOf: make([]int, len(f.groups)), allOf: make([]int, len(f.groups)), lowestOf: make([]float64, len(f.groups)),
		evicted: map[messages.BindingName]bool{}, rescued: map[messages.BindingName]bool{}, refused: map[messages.BindingName]refusal{},
		blocked: map[messages.BindingName]string{}, stays: map[messages.ClusterName]string{},
	}
	r.fill = newFill(f)
	for _, name := range c.Clusters {
		r.failed[messages.ClusterName(name)] = true
	}
	return r
}

// strike takes stock of what is there before the clusters fail.
func (r *run) strike() {
	r.struck = true
	for i := range r.workloads {
		w := &r.workloads[i]
		r.target[i] = min(r.available[i], w.spec.Replicas)
		r.whole += int(r.target[i])
		r.wholeOf[w.group] += int(r.target[i])
		var gone int32
		for _, t := range w.spec.Clusters {
			if r.failed[messages.ClusterName(t.Name)] {
				r.lost[i], gone = true, gone+t.Replicas
			}
		}
		if r.lost[i] {
			r.outcome.Lost.add(gone)
			r.allLost += int(r.target[i])
		}
	}
	r.all, r.wholeLost = r.whole, r.allLost
	copy(r.allOf, r.wholeOf)
	for n := range r.lowestOf {
		r.lowestOf[n] = 1
	}
	r.availableAt, r.sampled = r.now, r.now
}

// hear takes a fact.
func (r *run) hear(at time.Time, f messages.Fact) {
	if f, is := f.(*messages.AvailabilityChanged); is {
		r.serves(f)
		return
	}
	if !r.struck {
		return
	}
	r.fold.Take(at, f, r.step)
	switch f := f.(type) {
	case *messages.ScheduleFailed:
		r.refuse(f.Binding, f.Reason, f.Message, f.Missing)
	case *messages.Scheduled:
		delete(r.refused, f.Binding)
		if i, known := r.index[f.Binding]; known {
			r.takes(&r.workloads[i], f.Clusters)
		}
	case *messages.WorkloadsStay:
		r.stays[f.Cluster] = f.Reason
	case *messages.GovernorChanged:
		if f.EvictionsPerSecond != nil {
			r.governed(f)
		}
	case *messages.BreakerChanged:
		r.governed(f)
	}
}

// serves counts the replicas that serve users.
func (r *run) serves(f *messages.AvailabilityChanged) {
	i, known := r.index[f.Binding]
	if !known {
		return
	}
	before := min(r.available[i], r.target[i])
	r.available[i] += f.Available - f.Before
	if !r.struck {
		return
	}
	by := int(min(r.available[i], r.target[i]) - before)
	if by == 0 {
		return
	}
	group := r.workloads[i].group
	r.whole += by
	r.wholeOf[group] += by
	if r.lost[i] {
		r.wholeLost += by
	}
	r.touched = append(r.touched, i)
}

// sample looks at what is available once an instant has settled.
func (r *run) sample(at time.Time) {
	for _, i := range r.touched {
		r.down[i].is(r.available[i] <= 0 && r.target[i] > 0, at)
		n := r.workloads[i].group
		r.lowestOf[n] = min(r.lowestOf[n], share(r.wholeOf[n], r.allOf[n]))
	}
	if len(r.touched) == 0 {
		return
	}
	r.touched = r.touched[:0]
	r.lacks(at)
	r.outcome.Lowest = min(r.outcome.Lowest, share(r.whole, r.all))
	r.outcome.LowestWorkloads = min(r.outcome.LowestWorkloads, share(r.wholeLost, r.allLost))
	switch {
	case r.whole < r.all:
		r.availableAt = time.Time{}
	case r.availableAt.IsZero():
		r.availableAt = at
	}
}

// lacks adds up what was unavailable until an instant.
func (r *run) lacks(at time.Time) {
	r.shortfall += int64(r.lacked) * at.Sub(r.sampled).Milliseconds()
	r.lacked, r.sampled = r.all-r.whole, at
}

// share is a part of a whole; all of nothing.
func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// governed notes that the governor slows evictions down or stops them.
func (r *run) governed(f messages.Fact) {
	text := journal.Tell(r.now, f).Text()
	if b, is := f.(*messages.BreakerChanged); is && b.State == closed {
		return
	}
	if !slices.Contains(r.outcome.Breakers, text) {
		r.outcome.Breakers = append(r.outcome.Breakers, text)
	}
}

// step follows a failover.
func (r *run) step(_ time.Time, s failover.Step, f *failover.Failover) {
	switch s {
	case failover.Blocked:
		if !r.refuse(f.Binding, f.BlockedBy.Reason, f.BlockedBy.Message, 0) {
			r.blocked[f.Binding] = f.BlockedBy.Reason + ": " + f.BlockedBy.Message
		}
	case failover.Evicted:
		r.outcome.Evicted.Replicas += int(ptr.Deref(f.Eviction.Task.Replicas, 0))
		if !r.evicted[f.Binding] {
			r.evicted[f.Binding] = true
			r.outcome.Evicted.Workloads++
		}
		delete(r.refused, f.Binding)
		delete(r.blocked, f.Binding)
	case failover.Placed:
		if len(f.To) == 0 {
			return
		}
		for _, t := range f.To {
			r.outcome.Rescheduled.Replicas += int(t.Replicas)
		}
		if !r.rescued[f.Binding] {
			r.rescued[f.Binding] = true
			r.outcome.Rescheduled.Workloads++
		}
	case failover.Cancelled:
		delete(r.refused, f.Binding)
		delete(r.blocked, f.Binding)
	}
}

// refuse notes a workload that no cluster can take, if the reason says so.
func (r *run) refuse(b messages.BindingName, reason, message string, missing int32) bool {
	is := api.IsUnschedulable(reason)
	if is {
		r.refused[b] = refusal{missing, message}
	}
	return is
}

// fill follows in which order clusters become full.
type fill struct {
	named map[string]*api.Cluster
	// requested is what is requested of clusters, and at are the clusters of the workloads that were placed again.
	requested forecast.Usage
	at        map[messages.BindingName][]api.TargetCluster
	// order are the clusters that became full, the first first.
	order []string
}

func newFill(f *fleet) fill {
	l := fill{named: map[string]*api.Cluster{}, requested: forecast.Usage{}, at: map[messages.BindingName][]api.TargetCluster{}}
	for _, c := range f.clusters {
		l.named[c.Name] = c
	}
	for name, of := range f.before { // order-free: each by itself
		l.requested[name] = maps.Clone(of)
	}
	return l
}

// takes notes that a workload is placed on other clusters, and which of them are full by that.
func (l *fill) takes(w *workload, clusters []api.TargetCluster) {
	before, moved := l.at[w.name]
	if !moved {
		before = w.spec.Clusters
	}
	for _, t := range before {
		l.requested.Add(t.Name, w.spec, -int64(t.Replicas))
	}
	l.at[w.name] = slices.Clone(clusters)
	for _, t := range clusters {
		l.requested.Add(t.Name, w.spec, int64(t.Replicas))
		if c := l.named[t.Name]; c != nil && !slices.Contains(l.order, t.Name) && fills(c, l.requested[t.Name]) {
			l.order = append(l.order, t.Name)
		}
	}
}

// fills reports whether a cluster is full of any resource.
func fills(c *api.Cluster, requested forecast.UsageOf) bool {
	for what := range requested { // order-free: any
		if isFull(c, what, requested[what]) {
			return true
		}
	}
	return false
}

// turn is when a cluster became full, among the others; those that were before come last.
func (l *fill) turn(cluster string) int {
	if i := slices.Index(l.order, cluster); i >= 0 {
		return i
	}
	return len(l.order)
}
