package top

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"leeward/runtime/report/timeline"
	"leeward/runtime/report/viewer"
)

// recorded shows a run that is over.
type recorded struct {
	run   *viewer.Run
	start time.Time
	// changes are the instants of facts that a timeline tells, in milliseconds from the start.
	changes []int
	kinds   []timeline.Kind
}

// Of is the source of a run.
func Of(run *viewer.Run) (Source, error) {
	start, err := time.Parse(time.RFC3339Nano, run.Start)
	if err != nil {
		return nil, fmt.Errorf("start of the run %s: %w", run.Name, err)
	}
	r := &recorded{run: run, start: start}
	for i, at := range run.Facts.At {
		if run.Facts.Level[i] > 0 && (len(r.changes) == 0 || r.changes[len(r.changes)-1] != at) {
			r.changes = append(r.changes, at)
		}
	}
	for _, k := range run.Kinds {
		r.kinds = append(r.kinds, timeline.Kind(k))
	}
	return r, nil
}

func (r *recorded) Name() string {
	verdict := "passed"
	switch {
	case r.run.Error != "":
		verdict = "ended early: " + r.run.Error
	case !r.run.Passed:
		verdict = "FAILED"
	}
	return fmt.Sprintf("%s (profile %s, seed %d) %s", r.run.Name, r.run.Profile, r.run.Seed, verdict)
}

func (r *recorded) Bounds() (first, last time.Time) { return r.start, r.instant(r.run.End) }

func (r *recorded) instant(ms int) time.Time {
	return r.start.Add(time.Duration(ms) * time.Millisecond)
}

func (r *recorded) Changes() int { return len(r.changes) }

func (r *recorded) Step(from time.Time, n int) time.Time {
	ms := int(from.Sub(r.start).Milliseconds())
	if len(r.changes) == 0 {
		return from
	}
	i, at := slices.BinarySearch(r.changes, ms)
	forward := n > 0
	if forward && !at {
		n--
	}
	to := r.instant(r.changes[min(max(i+n, 0), len(r.changes)-1)])
	if forward == to.Before(from) {
		return from
	}
	return to
}

func (r *recorded) Spans(parts int) []Span {
	spans := make([]Span, parts)
	all := &r.run.Replicas
	for p := range spans {
		from, to := r.run.End*p/parts, r.run.End*(p+1)/parts
		first := max(sort.SearchInts(all.At, from+1)-1, 0)
		for i := first; i < len(all.At) && (i == first || all.At[i] < to); i++ {
			spans[p].worsen(Replicas{all.Placed[i], all.Available[i], all.Evicting[i], all.Unschedulable[i]})
		}
	}
	return spans
}

// worsen takes in figures.
func (s *Span) worsen(r Replicas) {
	if !s.Known {
		s.Replicas, s.Known = r, true
		return
	}
	s.Placed, s.Available = min(s.Placed, r.Placed), min(s.Available, r.Available)
	s.Evicting, s.Unschedulable = max(s.Evicting, r.Evicting), max(s.Unschedulable, r.Unschedulable)
}

func (r *recorded) At(at time.Time) *Picture {
	w := &looking{recorded: r, ms: int(at.Sub(r.start).Milliseconds()), out: &Picture{At: at}}
	w.replicas()
	w.workloads()
	w.clusters()
	for i := range r.run.Governor {
		if b := w.bar(&r.run.Governor[i]); b != nil {
			w.out.Governor = append(w.out.Governor, w.label(b))
		}
	}
	w.told()
	w.out.sort()
	return w.out
}

// looking is a picture that is being made.
type looking struct {
	*recorded
	ms  int
	out *Picture
	// on and from count, by cluster, workloads and evictions.
	on, from map[int]int
}

func (w *looking) replicas() {
	all := &w.run.Replicas
	if i := sort.SearchInts(all.At, w.ms+1) - 1; i >= 0 {
		w.out.Replicas = Replicas{all.Placed[i], all.Available[i], all.Evicting[i], all.Unschedulable[i]}
	}
}

// bar returns what is so on a track; nil: nothing, or a mark.
func (w *looking) bar(t *viewer.Track) viewer.Bar {
	i := sort.Search(len(t.Bars), func(i int) bool { return t.Bars[i][1] > w.ms }) - 1
	if i < 0 {
		return nil
	}
	if to := t.Bars[i][2]; to >= 0 && to <= w.ms {
		return nil
	}
	return t.Bars[i]
}

func (w *looking) kind(b viewer.Bar) timeline.Kind { return w.kinds[b[0]] }

func (w *looking) label(b viewer.Bar) string { return w.run.Strings[b[3]] }

func (w *looking) workloads() {
	w.on, w.from = map[int]int{}, map[int]int{}
	for i := range w.run.Workloads {
		workload := &w.run.Workloads[i]
		w.out.Workloads++
		for k := range workload.Tracks {
			if b := w.bar(&workload.Tracks[k]); b != nil && w.kind(b) == timeline.Unschedulable {
				w.eviction(workload.Name, "", b)
			}
		}
		for o := range workload.On {
			on := &workload.On[o]
			for k := range on.Tracks {
				w.onCluster(workload.Name, on.Cluster, w.bar(&on.Tracks[k]))
			}
		}
	}
}

// onCluster takes in what is so of a workload on a cluster.
func (w *looking) onCluster(workload string, cluster int, b viewer.Bar) {
	if b == nil {
		return
	}
	switch w.kind(b) {
	case timeline.Placed:
		w.on[cluster]++
	case timeline.Countdown, timeline.Blocked, timeline.Evicting:
		w.from[cluster]++
		w.eviction(workload, w.run.Clusters[cluster].Name, b)
	}
}

func (w *looking) eviction(workload, cluster string, b viewer.Bar) {
	state, text, more := strings.Cut(w.label(b), ": ")
	if !more {
		text = ""
	}
	e := Eviction{Workload: workload, Cluster: cluster, State: state, Text: text, Since: w.instant(b[1])}
	switch w.kind(b) {
	case timeline.Unschedulable, timeline.Blocked:
		e.Severity = Bad
	case timeline.Evicting:
		e.Severity = Notable
	}
	e.Reason = w.reason(b)
	if f := w.fact(b); f >= 0 && w.run.Facts.Due[f] >= 0 {
		e.Due = w.instant(w.run.Facts.Due[f])
	}
	w.out.Evictions = append(w.out.Evictions, e)
}

// fact is the last one until now that a bar has with a reason; -1: none.
func (w *looking) fact(b viewer.Bar) int {
	last := -1
	for _, f := range b[4:] {
		if w.run.Facts.At[f] <= w.ms && w.run.Facts.Reason[f] >= 0 {
			last = f
		}
	}
	return last
}

// reason is the one that a bar's fact has.
func (w *looking) reason(b viewer.Bar) (lines []Line) {
	f := w.fact(b)
	if f < 0 {
		return nil
	}
	for _, part := range w.run.Reasons[w.run.Facts.Reason[f]] {
		lines = append(lines, Line{Name: w.run.Strings[part[0]], Text: w.run.Strings[part[1]]})
	}
	return lines
}

func (w *looking) clusters() {
	for i := range w.run.Clusters {
		of := &w.run.Clusters[i]
		c := Cluster{Name: of.Name, Region: of.Region, Workloads: w.on[i], Evictions: w.from[i]}
		var states []string
		for k := range of.Tracks {
			b := w.bar(&of.Tracks[k])
			if b == nil {
				continue
			}
			switch kind := w.kind(b); kind {
			case timeline.NoSchedule, timeline.NoExecute:
				c.Taints = append(c.Taints, w.label(b))
				c.Severity = max(c.Severity, Notable)
			case timeline.Good:
				states = append(states, w.label(b))
			case timeline.Bad, timeline.Unknown, timeline.Evicting, timeline.Slowed:
				states = slices.Insert(states, 0, w.label(b))
				c.Severity = Bad
			default:
				states = append(states, w.label(b))
			}
			c.Reason = append(c.Reason, w.reason(b)...)
		}
		c.State = strings.Join(states, ", ")
		w.out.Clusters = append(w.out.Clusters, c)
	}
}

// mostTold is how many lines of the transcript a picture has.
const mostTold = 200

func (w *looking) told() {
	f := &w.run.Facts
	for i := sort.SearchInts(f.At, w.ms+1) - 1; i >= 0 && len(w.out.Told) < mostTold; i-- {
		if f.Level[i] == 0 {
			continue
		}
		w.out.Told = append(w.out.Told, w.line(i))
	}
	slices.Reverse(w.out.Told)
}

// line is a fact as the transcript tells it.
func (w *looking) line(i int) Line {
	f := &w.run.Facts
	var words []string
	switch {
	case f.Workload[i] >= 0:
		words = append(words, w.run.Workloads[f.Workload[i]].Name)
	case f.Cluster[i] >= 0:
		words = append(words, w.run.Clusters[f.Cluster[i]].Name)
	}
	text := strings.Join(append(words, w.run.Strings[f.Text[i]]), " ")
	if why := w.run.Strings[f.Why[i]]; why != "" {
		text += ": " + why
	}
	line := Line{At: w.instant(f.At[i]), Text: text}
	if f.Level[i] == 2 {
		line.Severity = Bad
	}
	return line
}
