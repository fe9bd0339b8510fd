package viewer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/lists"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/report/timeline"
	"leeward/runtime/scenario/replay"
)

// limits bound a run's document, whatever happened. That of workloads holds for nodes and for pods, too.
type limits struct{ facts, workloads, instants int }

// most are the limits of every document: a page with as much still opens.
var most = limits{facts: 2_000_000, workloads: 200_000, instants: 4000}

// Of makes the document of a run, the same for the same run.
func Of(r *replay.Run) *Run { return of(r, most) }

func of(r *replay.Run, l limits) *Run {
	t := timeline.Of(r.Start, r.Events)
	w := &writing{
		run: r, limits: l, strings: map[string]int{}, clusters: map[string]int{}, workloads: map[string]int{}, reasons: map[string]int{}, kinds: map[timeline.Kind]int{},
		parts: parts{start: r.Start, tainted: map[nodeTaint]string{}},
	}
	w.out = &Run{
		Name: r.Name, Description: strings.TrimSpace(r.Description), File: r.File, Line: r.Line, Seed: r.Seed, Profile: r.Profile,
		Passed: r.Passed, Repeat: r.Repeat, Start: r.Start.UTC().Format(time.RFC3339Nano), End: w.at(t.End),
		Expectations: []Expectation{}, Strings: []string{}, Clusters: []Cluster{}, Workloads: []Workload{}, Reasons: [][]Part{}, Regions: []Region{},
	}
	if r.Err != nil {
		w.out.Error = r.Err.Error()
	}
	for i, k := range timeline.Kinds() {
		w.kinds[k] = i
		w.out.Kinds = append(w.out.Kinds, string(k))
	}
	w.expectations()
	w.names(t)
	w.facts(t)
	w.lanes(t)
	f := follow(r, w.clusters)
	w.out.Replicas, w.out.Regions, w.out.PodStates = f.replicas(l.instants), f.regions(l.instants), w.podStates(t.Pods)
	return w.out
}

// writing is a document that is being written.
type writing struct {
	run    *replay.Run
	out    *Run
	limits limits
	// The places of texts, clusters, workloads, nodes, pods, reasons and kinds.
	strings, clusters, workloads, nodes, pods, reasons map[string]int
	kinds                                              map[timeline.Kind]int
	parts                                              parts
	// labels are those of the templates of bindings.
	labels map[string]map[string]string
	// fact is the place in the document of each entry of the journal; -1: it has none.
	fact []int
}

func (w *writing) at(t time.Time) int { return int(t.Sub(w.run.Start).Milliseconds()) }

// text returns the place of a text among all.
func (w *writing) text(s string) int {
	s = journal.Printable(s)
	return placed(w.strings, &w.out.Strings, s, s)
}

// placed returns the place of a value among all, at the end of which it is put where its key is new.
func placed[V any](places map[string]int, all *[]V, key string, value V) int {
	i, known := places[key]
	if !known {
		i = len(*all)
		places[key] = i
		*all = append(*all, value)
	}
	return i
}

func (w *writing) expectations() {
	for _, e := range w.run.Expectations {
		at := int(time.Duration(e.At * float64(time.Second)).Milliseconds())
		w.out.End = max(w.out.End, at)
		w.out.Expectations = append(w.out.Expectations, Expectation{Text: e.Text, Passed: e.Passed, At: at, Reason: e.Reason})
	}
}

// names gives places to all clusters, workloads, nodes and pods.
func (w *writing) names(t *timeline.Timeline) {
	where := located(w.run)
	labels := labelled(w.run.Objects)
	w.labels = labels.bindings
	cluster := func(name string) {
		if _, known := w.clusters[name]; known {
			return
		}
		w.clusters[name] = len(w.out.Clusters)
		at := where[messages.ClusterName(name)]
		w.out.Clusters = append(w.out.Clusters, Cluster{Name: name, Region: at.region, Provider: at.provider, Zones: at.zones, Labels: w.labelsOf(labels.clusters[name]), Tracks: []Track{}})
	}
	for _, l := range t.Clusters {
		cluster(l.Name)
	}
	for _, l := range t.Bindings {
		for _, on := range l.Lanes {
			cluster(on.Name)
		}
		if len(w.workloads) == w.limits.workloads {
			w.out.Omitted.Workloads++
			continue
		}
		w.workloads[l.Name] = len(w.workloads)
	}
	w.nodes, w.out.Omitted.Nodes = w.placesOf(t.Nodes)
	w.pods, w.out.Omitted.Pods = w.placesOf(t.Pods)
}

// placesOf gives places to nodes or pods, and counts those beyond the limit.
func (w *writing) placesOf(lanes []*timeline.Lane) (places map[string]int, omitted int) {
	places = map[string]int{}
	for i, l := range lanes[:min(len(lanes), w.limits.workloads)] {
		places[l.Name] = i
	}
	return places, len(lanes) - len(places)
}

// facts writes the facts that are told, and those that only bars need.
func (w *writing) facts(t *timeline.Timeline) {
	needed := make([]bool, len(w.run.Events))
	for _, l := range all(t) {
		for _, track := range l.Tracks {
			for _, b := range track.Bars {
				for _, f := range b.Facts {
					needed[f] = true
				}
			}
		}
	}
	w.fact = make([]int, len(w.run.Events))
	f := &w.out.Facts
	*f = Facts{At: []int{}, Kind: []int{}, Level: []int{}, Workload: []int{}, Cluster: []int{}, Text: []int{}, Why: []int{}, Reason: []int{}, Due: []int{}}
	for i := range w.run.Events {
		e := &w.run.Events[i]
		told := journal.Tell(w.run.Start, e.Fact)
		level := max(0, int(told.Level)) // debug 0, info 1, warn 2
		w.fact[i] = -1
		switch {
		case level == 0 && !needed[i] && e.Fact.Kind() != "EvictionsPermitted":
			continue
		case len(f.At) == w.limits.facts:
			w.out.Omitted.Facts++
			continue
		}
		w.fact[i] = len(f.At)
		f.At, f.Kind, f.Level = append(f.At, w.at(e.At)), append(f.Kind, w.text(e.Fact.Kind())), append(f.Level, level)
		w.told(told, e.Fact)
	}
}

// told writes what a fact is about, and what it says.
func (w *writing) told(p journal.Phrase, fact messages.Fact) {
	f := &w.out.Facts
	workload, cluster, node, pod, subject := -1, -1, -1, -1, ""
	if c, is := fact.(messages.AboutCluster); is {
		subject = string(c.AboutCluster())
		cluster = place(w.clusters, subject)
	}
	if b, is := fact.(messages.AboutBinding); is {
		subject = string(b.AboutBinding())
		workload = place(w.workloads, subject)
	}
	if p, is := fact.(messages.AboutPod); is {
		subject = "pod " + string(p.AboutPod())
		pod = place(w.pods, string(p.AboutPod()))
	}
	if n, is := fact.(messages.AboutNode); is {
		subject = "node " + string(n.AboutNode())
		node = place(w.nodes, string(n.AboutNode()))
	}
	text := p.Without()
	why := strings.TrimPrefix(strings.TrimPrefix(p.Text(), text), ": ")
	if workload >= 0 || cluster >= 0 || node >= 0 || pod >= 0 {
		text = strings.TrimPrefix(text, journal.Printable(subject)+" ")
	}
	f.Workload, f.Cluster = append(f.Workload, workload), append(f.Cluster, cluster)
	if len(w.nodes)+len(w.pods) > 0 {
		f.Node, f.Pod = append(f.Node, node), append(f.Pod, pod)
	}
	f.Text, f.Why, f.Reason = append(f.Text, w.text(text)), append(f.Why, w.text(why)), append(f.Reason, w.reason(fact))
	f.Due = append(f.Due, w.due(fact))
}

// due is when what a fact tells of goes on by itself; -1: it does not.
func (w *writing) due(fact messages.Fact) int {
	var at time.Time
	switch f := fact.(type) {
	case *messages.EvictionScheduled:
		at = f.Grounds.Deadline
	case *messages.EvictionBlocked:
		at = f.Until
	case *messages.PodEvictionScheduled:
		at = f.Deadline
	case *messages.PodEvictionFailed:
		at = f.Retry
	case *messages.EvictionStarted:
		if k := &f.Task; k.CreationTimestamp != nil && k.GracePeriodSeconds != nil {
			at = k.CreationTimestamp.Add(time.Duration(*k.GracePeriodSeconds) * time.Second)
		}
	}
	if at.IsZero() {
		return -1
	}
	return w.at(at)
}

// reason returns the place of a fact's reason; -1: it has none of parts.
func (w *writing) reason(fact messages.Fact) int {
	parts := w.parts.of(fact)
	if len(parts) == 0 {
		return -1
	}
	written := lists.Of(parts, func(p part) Part { return Part{w.text(p.name), w.text(p.value)} })
	return placed(w.reasons, &w.out.Reasons, fmt.Sprint(written), written)
}

func place(of map[string]int, name string) int {
	if i, known := of[name]; known {
		return i
	}
	return -1
}

// all are the lanes of a timeline, those of bindings on clusters among them.
func all(t *timeline.Timeline) []*timeline.Lane {
	lanes := slices.Concat([]*timeline.Lane{t.Inputs, t.Governor}, t.Clusters, t.Bindings, t.Nodes, t.Pods)
	for _, l := range t.Bindings {
		lanes = append(lanes, l.Lanes...)
	}
	return lanes
}

// lanes writes the bars of all.
func (w *writing) lanes(t *timeline.Timeline) {
	w.out.Inputs, w.out.Governor = w.tracks(t.Inputs), w.tracks(t.Governor)
	for _, l := range t.Clusters {
		w.out.Clusters[w.clusters[l.Name]].Tracks = w.tracks(l)
	}
	for _, l := range t.Bindings {
		if _, has := w.workloads[l.Name]; !has {
			continue
		}
		of := Workload{Name: l.Name, Outcome: outcome(l, w.run.Events), Labels: w.labelsOf(w.labels[l.Name]), Tracks: w.tracks(l), On: []On{}}
		for _, on := range l.Lanes {
			of.On = append(of.On, On{Cluster: w.clusters[on.Name], Tracks: w.tracks(on)})
		}
		w.out.Workloads = append(w.out.Workloads, of)
	}
	for _, l := range t.Nodes[:len(w.nodes)] {
		w.out.Nodes = append(w.out.Nodes, Node{Name: l.Name, Zone: l.Zone, Tracks: w.tracks(l)})
	}
	for _, l := range t.Pods[:len(w.pods)] {
		w.out.Pods = append(w.out.Pods, w.pod(l))
	}
}

func (w *writing) pod(l *timeline.Lane) Pod {
	p := Pod{Name: l.Name, Owner: -1, Outcome: podOutcome(l, w.run.Start, w.run.Events), Nodes: []int{}, Tracks: w.tracks(l)}
	if l.Owner != "" {
		p.Owner = w.text(l.Owner)
	}
	for _, name := range l.Nodes {
		if i := place(w.nodes, name); i >= 0 {
			p.Nodes = append(p.Nodes, i)
		}
	}
	return p
}

func (w *writing) tracks(l *timeline.Lane) []Track {
	tracks := []Track{}
	for _, t := range l.Tracks {
		if len(t.Bars) == 0 {
			continue
		}
		track := Track{Name: w.text(t.Name)}
		for _, b := range t.Bars {
			track.Bars = append(track.Bars, w.bar(b))
		}
		tracks = append(tracks, track)
	}
	return tracks
}

func (w *writing) bar(b *timeline.Bar) Bar {
	kind, known := w.kinds[b.Kind]
	if !known {
		panic(fmt.Sprintf("viewer: bar of kind %q, which timeline.Kinds lacks", b.Kind))
	}
	to := -1
	if !b.To.IsZero() {
		to = w.at(b.To)
	}
	bar := append(make(Bar, 0, 4+len(b.Facts)), kind, w.at(b.From), to, w.text(b.Label))
	for _, f := range b.Facts {
		if w.fact[f] >= 0 {
			bar = append(bar, w.fact[f])
		}
	}
	return bar
}
