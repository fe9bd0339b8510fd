package expect

import (
	"fmt"
	"math"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/journal"
	"leeward/runtime/fleet/store"
)

// Result is the verdict on one expectation.
type Result struct {
	// Text is the expectation as a sentence, with its source line.
	Text   string `json:"text"`
	Passed bool   `json:"passed"`
	// At is when it was met or failed, in seconds from the start.
	At float64 `json:"at"`
	// Reason says what was seen instead; empty where it passed.
	Reason string `json:"reason,omitempty"`
	// Line is where it is written; 0 is unknown.
	Line int `json:"-"`
	// About is the object that one which failed is about; the zero key: none, or any.
	About api.Key `json:"-"`
}

// Checker judges the expectations of one run, instant by instant.
type Checker struct {
	start   time.Time
	watches []*watch // in the order written
	// What a fact can be about: an event of its kind, a cluster, a binding.
	events   map[string][]*watch
	clusters map[messages.ClusterName][]*watch
	bindings map[messages.BindingName][]*watch
	// vague are those on events of whatever object.
	vague []*watch
	// others are those on objects of other kinds: no fact says that these changed.
	others  []*watch
	states  []*watch
	touched []*watch
	// all is set where a fact may be about any object.
	all     bool
	outages outages
	objects objects
	// at is the last instant that was judged; waiting are those that are looked at from their window on only.
	at      time.Duration
	waiting []*watch
}

// NewChecker returns a checker of a run that begins at start.
func NewChecker(expectations []Expectation, start time.Time) *Checker {
	c := &Checker{
		start:    start,
		all:      true,
		events:   map[string][]*watch{},
		clusters: map[messages.ClusterName][]*watch{},
		bindings: map[messages.BindingName][]*watch{},
		outages:  outages{open: map[messages.ClusterName]int{}},
	}
	for i := range expectations {
		w := &watch{Expectation: &expectations[i]}
		c.watches = append(c.watches, w)
		switch subject := w.Subject.(type) {
		case *Event:
			w.event = subject
			c.events[subject.Kind] = append(c.events[subject.Kind], w)
			if w.nearest = newNearest(subject); w.nearest != nil {
				c.vague = append(c.vague, w)
			}
		case State:
			w.state, w.key = subject, subject.ObjectKey()
			c.states = append(c.states, w)
			if w.waits() {
				c.waiting = append(c.waiting, w)
			}
			c.index(w)
		}
	}
	return c
}

// OfNodes has expectations on nodes and pods look at those. It is called before the first instant of a scenario of nodes.
func (c *Checker) OfNodes(nodes Nodes) { c.objects.nodes = nodes }

func (c *Checker) index(w *watch) {
	switch w.key.Kind {
	case "Cluster":
		name := messages.ClusterName(w.key.Name)
		c.clusters[name] = append(c.clusters[name], w)
	case "ResourceBinding", "ClusterResourceBinding":
		name := messages.NameBinding(w.key.Namespace, w.key.Name)
		c.bindings[name] = append(c.bindings[name], w)
	default:
		c.others = append(c.others, w)
	}
}

// Settled judges the instant now, at which nothing remains to do: s holds the objects as they are,
// entries are those that the journal got since the last call. Instants come in order; those at which
// nothing happened need not come at all.
func (c *Checker) Settled(now time.Time, s *store.Store, entries []journal.Entry) {
	for i := range entries {
		c.notice(&entries[i])
	}
	at := now.Sub(c.start)
	c.objects.Store, c.at = s, at
	if c.all {
		c.touched = append(c.touched[:0], c.states...)
	} else {
		c.touched = append(c.touched, c.others...)
	}
	for _, w := range c.touched {
		if !w.done {
			w.look(at, &c.objects)
			w.blame(&c.objects)
		}
	}
	c.touched, c.all = c.touched[:0], false
}

// Verdict returns whether the expectation of an index is decided as of the last instant that was judged, and whether it holds then.
func (c *Checker) Verdict(i int) (decided, passed bool) {
	w := *c.watches[i]
	if !w.done && c.at > w.Until {
		w.finish(c.at)
	}
	return w.done, w.passed
}

// Next is the next instant that must be judged though nothing may happen at it; false: there is none.
func (c *Checker) Next() (next time.Time, more bool) {
	first := time.Duration(-1)
	for _, w := range c.waiting {
		if !w.done && w.From > c.at && (first < 0 || w.From < first) {
			first = w.From
		}
	}
	return c.start.Add(first), first >= 0
}

// notice takes in one fact: it counts as an event, and what it is about is looked at again.
func (c *Checker) notice(e *journal.Entry) {
	if f, ok := e.Fact.(*messages.WorkloadsStay); ok {
		c.outages.notice(e.At.Sub(c.start), f)
	}
	for _, w := range c.vague {
		if !w.done && e.At.Sub(c.start) <= w.Until {
			w.nearest.notice(e.Fact)
		}
	}
	for _, w := range c.events[e.Fact.Kind()] {
		w.happened(e.At.Sub(c.start), e.Fact)
	}
	about := false
	if f, ok := e.Fact.(messages.AboutBinding); ok {
		about = true
		c.touched = append(c.touched, c.bindings[f.AboutBinding()]...)
	}
	if f, ok := e.Fact.(messages.AboutCluster); ok {
		about = true
		c.touched = append(c.touched, c.clusters[f.AboutCluster()]...)
	}
	if _, ofPod := e.Fact.(aboutPod); ofPod {
		about = true
		c.objects.podFacts++
	}
	if _, ofNode := e.Fact.(aboutNode); ofNode {
		about = true
		c.objects.podFacts++
	}
	c.all = c.all || !about
}

// Finish judges what is still open at the end of the run, and returns a result for every expectation
// in the order written.
func (c *Checker) Finish(end time.Time) []Result {
	at := end.Sub(c.start)
	results := make([]Result, len(c.watches))
	for i, w := range c.watches {
		if !w.done {
			w.finish(at)
			w.blame(&c.objects)
		}
		results[i] = Result{Text: w.String(), Passed: w.passed, At: w.at.Seconds(), Reason: w.reason, Line: w.line()}
		if !w.passed {
			results[i].About = w.about
			results[i].Reason += c.outages.during(w.at)
		}
	}
	return results
}

// mostOutages is how many outages the reason of one expectation tells of.
const mostOutages = 3

// outages are the clusters from which nothing evicts although they are not Ready, in the order in which that began.
// People who expect workloads to move are told of them.
type outages struct {
	all []outage
	// open is the index of the outage of each cluster that has not ended.
	open map[messages.ClusterName]int
}

type outage struct {
	first, last time.Duration // both inclusive
	fact        *messages.WorkloadsStay
}

// notice takes in that workloads stay for a reason, or no longer do.
func (o *outages) notice(at time.Duration, f *messages.WorkloadsStay) {
	if i, open := o.open[f.Cluster]; open {
		o.all[i].last = at - 1
		delete(o.open, f.Cluster)
	}
	if f.Reason != "" {
		o.open[f.Cluster] = len(o.all)
		o.all = append(o.all, outage{at, math.MaxInt64, f})
	}
}

// during tells of the outages at an instant, each on a line of its own.
func (o *outages) during(at time.Duration) string {
	var text strings.Builder
	told := 0
	for i := range o.all {
		if at < o.all[i].first || at > o.all[i].last {
			continue
		}
		if told++; told <= mostOutages {
			fmt.Fprintf(&text, "\n%s", journal.Tell(time.Time{}, o.all[i].fact).Text())
		}
	}
	if told > mostOutages {
		fmt.Fprintf(&text, "\nand so for %d more clusters", told-mostOutages)
	}
	return text.String()
}
