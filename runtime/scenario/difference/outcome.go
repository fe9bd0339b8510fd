package difference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"leeward/actors"
	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/messages/spelling"
	"leeward/runtime/fleet/failover"
	"leeward/runtime/fleet/store"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// mostWorkloads bounds how many workloads a difference names; the figures count all.
const mostWorkloads = 1000

// Workload is what differs of one.
type Workload struct {
	Name    messages.BindingName `json:"name"`
	Verdict Verdict              `json:"verdict"`
	// Figures are those that differ.
	Figures []Figure `json:"figures,omitempty"`
	// PlacementA and PlacementB are where it runs at the end, of so many replicas on each cluster, where that differs.
	PlacementA string `json:"placementA,omitempty"`
	PlacementB string `json:"placementB,omitempty"`
	// ReasonA and ReasonB say why replicas are unschedulable or unavailable at the end.
	ReasonA string `json:"reasonA,omitempty"`
	ReasonB string `json:"reasonB,omitempty"`
}

// workload is what came of one under one side.
type workload struct {
	// available replicas now; target is how many must be: as many as ever were, and no more than it asks for.
	available, target, wants int32
	// serving is how many of the target were available when the last instant had settled.
	serving int32
	lowest  float64
	down    bool
	// shortfall adds up unavailable replicas in milliseconds, until since.
	shortfall int64
	since     time.Time
	recovery
	evictions       int
	missing         int32
	reason, blocked string
	placement       string
}

// outcome is what came of a run.
type outcome struct {
	by map[messages.BindingName]*workload
	// target and available are the sums of all workloads.
	target, available int
	lowest            float64
	recovery
	from    time.Time
	fold    failover.Fold
	touched map[messages.BindingName]bool
}

// follow reads the facts of a run. Figures count from an offset to an end, of a workload that has replicas unavailable then, too.
func follow(r *replay.Run, s *scenario.Scenario, from, end time.Duration) *outcome {
	o := &outcome{by: map[messages.BindingName]*workload{}, lowest: 1, from: r.Start.Add(from), fold: failover.Fold{}, touched: map[messages.BindingName]bool{}}
	o.seed(s)
	for _, object := range r.Objects {
		if b := store.AsBinding(object); b != nil {
			w := o.of(b.Name())
			w.wants, w.placement = b.Spec.Replicas, placed(b.Spec.Clusters)
		}
	}
	for i := range r.Events {
		e := &r.Events[i]
		o.take(e.At, e.Fact)
		if i+1 == len(r.Events) || r.Events[i+1].At.After(e.At) {
			o.sample(e.At)
		}
	}
	for _, w := range o.by { // order-free: each by itself
		w.lasts(o.from, r.Start.Add(end))
	}
	return o
}

// seed takes over the handovers that were under way when a recording began.
func (o *outcome) seed(s *scenario.Scenario) {
	if s.Began == nil {
		return
	}
	for _, object := range s.Began.Objects {
		if b := store.AsBinding(object); b != nil && len(b.Spec.GracefulEvictionTasks) > 0 {
			o.fold[b.Name()] = failover.Stored(b.Name(), b.Spec)
		}
	}
}

func (o *outcome) of(name messages.BindingName) *workload {
	w := o.by[name]
	if w == nil {
		w = &workload{lowest: 1}
		o.by[name] = w
	}
	return w
}

// placed is where replicas are: "eu-1:2, us-1:1".
func placed(clusters []api.TargetCluster) string {
	texts := lists.Of(clusters, func(t api.TargetCluster) string { return fmt.Sprintf("%s:%d", t.Name, t.Replicas) })
	slices.Sort(texts)
	return cmp.Or(strings.Join(texts, ", "), "no cluster")
}

// take takes in a fact.
func (o *outcome) take(at time.Time, f messages.Fact) {
	switch f := f.(type) {
	case *messages.AvailabilityChanged:
		w := o.of(f.Binding)
		o.touched[f.Binding] = true
		w.available += f.Available - f.Before
	case *messages.ScheduleFailed:
		w := o.of(f.Binding)
		w.missing, w.reason = f.Missing, f.Message
	case *messages.Scheduled:
		w := o.of(f.Binding)
		w.missing, w.reason = 0, ""
	case *messages.BindingDeleted:
		w := o.of(f.Binding)
		w.available, w.wants, w.missing, w.reason, w.blocked = 0, 0, 0, "", ""
		o.touched[f.Binding] = true
	}
	o.fold.Take(at, f, o.step)
}

// step follows a failover.
func (o *outcome) step(at time.Time, s failover.Step, f *failover.Failover) {
	w := o.of(f.Binding)
	switch s {
	case failover.Blocked:
		w.blocked = f.BlockedBy.Reason + ": " + f.BlockedBy.Message
	case failover.Evicted:
		w.blocked = ""
		if !at.Before(o.from) {
			w.evictions++
		}
	case failover.Cancelled:
		w.blocked = ""
	}
}

// lasts adds up what was unavailable until an instant, of what counts from another one on.
func (w *workload) lasts(from, until time.Time) {
	if begun := actors.Later(w.since, from); !w.since.IsZero() && until.After(begun) {
		w.shortfall += int64(w.target-w.serving) * until.Sub(begun).Milliseconds()
	}
	w.since = until
}

// sample looks at what is available once an instant has settled.
func (o *outcome) sample(at time.Time) {
	for name := range o.touched { // order-free: sums
		w := o.by[name]
		o.settle(w, at)
	}
	if len(o.touched) == 0 {
		return
	}
	clear(o.touched)
	if at.Before(o.from) || o.target == 0 {
		return
	}
	o.lowest = min(o.lowest, float64(o.available)/float64(o.target))
	o.sees(o.available < o.target, at)
}

// settle takes in what is available of a workload from an instant on. What was unavailable before is counted with what it was.
func (o *outcome) settle(w *workload, at time.Time) {
	was := w.serving
	w.lasts(o.from, at)
	before := w.target
	w.target = min(max(w.target, w.available), w.wants)
	w.serving = max(0, min(w.available, w.target))
	o.target += int(w.target - before)
	o.available += int(w.serving - was)
	if at.Before(o.from) || w.target == 0 {
		return
	}
	w.lowest = min(w.lowest, float64(w.serving)/float64(w.target))
	w.down = w.down || w.serving == 0
	w.sees(w.serving < w.target, at)
}

// recovery is when replicas were first unavailable, and when they last were all available again.
type recovery struct{ lackedAt, wholeAt time.Time }

// sees takes in whether replicas are unavailable from an instant on.
func (r *recovery) sees(lacks bool, at time.Time) {
	switch {
	case lacks:
		r.wholeAt = time.Time{}
		if r.lackedAt.IsZero() {
			r.lackedAt = at
		}
	case r.wholeAt.IsZero():
		r.wholeAt = at
	}
}

// again is how long after replicas were first unavailable all were available for good; nil: never.
func (r *recovery) again() *float64 {
	switch {
	case r.lackedAt.IsZero():
		return number(0)
	case r.wholeAt.IsZero():
		return nil
	}
	return whole(r.wholeAt.Sub(r.lackedAt).Seconds())
}

// unschedulable is how many replicas no cluster can take at the end.
func (w *workload) unschedulable() int32 {
	if w.reason == "" {
		return 0
	}
	return max(w.missing, w.target-w.serving)
}

// why is why replicas are unavailable or unschedulable at the end.
func (w *workload) why() string {
	if w.reason == "" && w.serving == w.target {
		return ""
	}
	return cmp.Or(w.reason, w.blocked)
}

// measures are the figures of one workload.
func (w *workload) measures() measures {
	return measures{
		Unschedulable: number(float64(w.unschedulable())), Unavailable: number(float64(w.target - w.serving)),
		lacking:        number(float64(max(w.unschedulable(), w.target-w.serving))),
		Unavailability: whole(float64(w.shortfall) / 1000), Lowest: number(w.lowest),
		AvailableAgain: w.again(), Evictions: number(float64(w.evictions)),
	}
}

// measures are the figures of all workloads together.
func (o *outcome) measures() measures {
	sums := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(o.by)) {
		w := o.by[name]
		of := w.measures()
		for _, figure := range []string{Unschedulable, Unavailable, Unavailability, Evictions, lacking} {
			sums[figure] += *of[figure]
		}
		if w.down {
			sums[Down]++
		}
	}
	all := measures{Lowest: number(o.lowest), AvailableAgain: o.again()}
	for _, figure := range []string{Unschedulable, Unavailable, Unavailability, Down, Evictions, lacking} {
		all[figure] = number(sums[figure])
	}
	return all
}

// compare holds the outcome of B against that of A.
func (d *Difference) compare(a, b *outcome) {
	d.Fleet = figures(a.measures(), b.measures())
	all := maps.Clone(a.by)
	maps.Copy(all, b.by)
	d.Verdict, d.By = conclude(d.Fleet)
	d.note("A", len(all)-len(b.by))
	d.note("B", len(all)-len(a.by))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w := contrast(name, a.of(name), b.of(name))
		if w == nil {
			continue
		}
		d.Workloads = append(d.Workloads, *w)
		d.add(w.Verdict, w.Figures)
	}
	slices.SortStableFunc(d.Workloads, func(x, y Workload) int { return cmp.Compare(y.weight(), x.weight()) })
	d.Differ = len(d.Workloads) > 0
	if more := len(d.Workloads) - mostWorkloads; more > 0 {
		d.Workloads, d.Unnamed = slices.Clip(d.Workloads[:mostWorkloads]), more
	}
}

// note tells of workloads that the other side has not.
func (d *Difference) note(side string, n int) {
	if n > 0 {
		d.Notes = append(d.Notes, spelling.Count(n, "workload is", "workloads are")+" in "+side+" only")
	}
}

// add takes the verdict on a part into that on the whole: what is worse for one workload is not made good by another.
func (d *Difference) add(v Verdict, all []Figure) {
	if v != Better && v != Worse && v != Mixed {
		return
	}
	_, by := conclude(all)
	if evictionsOnly := slices.Equal(by, []string{Evictions}); evictionsOnly && d.Verdict != Same && !slices.Contains(d.By, Evictions) {
		return
	}
	d.Verdict = d.Verdict.and(v)
	for _, name := range by {
		if !slices.Contains(d.By, name) {
			d.By = append(d.By, name)
		}
	}
}

// contrast is what differs of a workload; nil: nothing does.
func contrast(name messages.BindingName, a, b *workload) *Workload {
	w := &Workload{Name: name}
	for _, f := range figures(a.measures(), b.measures()) {
		if f.Verdict != Same {
			w.Figures = append(w.Figures, f)
		}
	}
	w.Verdict, _ = conclude(w.Figures)
	if a.placement != b.placement {
		w.PlacementA, w.PlacementB = cmp.Or(a.placement, "no binding"), cmp.Or(b.placement, "no binding")
	}
	if len(w.Figures) == 0 && w.PlacementA == "" {
		return nil
	}
	if w.Verdict == Same {
		w.Verdict = Differs
	}
	w.ReasonA, w.ReasonB = a.why(), b.why()
	return w
}

// weight orders workloads: by how much their unavailability differs.
func (w *Workload) weight() float64 {
	for _, f := range w.Figures {
		if f.Name == Unavailability {
			return max(*f.A-*f.B, *f.B-*f.A)
		}
	}
	return 0
}
