package top

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// History is a fleet that goes on, so far as it was seen. The zero value has seen nothing.
type History struct {
	// Of says whose fleet it is.
	Of string

	seen []*Picture
}

// mostSeen is how many pictures a history keeps: those of five minutes in which something changes every second.
const mostSeen = 300

// Append takes the next picture, and tells in it what is other than in the one before. The oldest is forgotten where there are too many.
func (h *History) Append(p *Picture) {
	p.sort()
	if n := len(h.seen); n > 0 {
		p.Told = compare(h.seen[n-1], p)
	}
	if len(h.seen) == mostSeen {
		h.seen = slices.Delete(h.seen, 0, 1)
	}
	h.seen = append(h.seen, p)
}

// Name is whose fleet it is.
func (h *History) Name() string { return h.Of }

// Bounds are the instants of the first and of the last picture.
func (h *History) Bounds() (first, last time.Time) {
	if len(h.seen) == 0 {
		return first, last
	}
	return h.seen[0].At, h.seen[len(h.seen)-1].At
}

// place is that of the last picture until an instant; -1: there is none.
func (h *History) place(at time.Time) int {
	return sort.Search(len(h.seen), func(i int) bool { return h.seen[i].At.After(at) }) - 1
}

// At is the last picture until then.
func (h *History) At(at time.Time) *Picture {
	if i := h.place(at); i >= 0 {
		return h.seen[i]
	}
	return &Picture{At: at}
}

// Changes counts the pictures.
func (h *History) Changes() int { return len(h.seen) }

// Step goes from picture to picture.
func (h *History) Step(from time.Time, n int) time.Time {
	if len(h.seen) == 0 {
		return from
	}
	return h.seen[min(max(h.place(from)+n, 0), len(h.seen)-1)].At
}

// Spans are those of the pictures.
func (h *History) Spans(parts int) []Span {
	spans := make([]Span, parts)
	first, last := h.Bounds()
	whole := last.Sub(first)
	for p := range spans {
		from, to := first.Add(whole*time.Duration(p)/time.Duration(parts)), first.Add(whole*time.Duration(p+1)/time.Duration(parts))
		for i := max(h.place(from), 0); i < len(h.seen) && !h.seen[i].At.After(to); i++ {
			spans[p].worsen(h.seen[i].Replicas)
		}
	}
	return spans
}

// comparing tells what is other in a picture than in the one before.
type comparing struct {
	now  *Picture
	told []Line
}

func (c *comparing) say(s Severity, format string, args ...any) {
	c.told = append(c.told, Line{At: c.now.At, Text: fmt.Sprintf(format, args...), Severity: s})
}

// compare tells it after what the picture before told.
func compare(before, now *Picture) []Line {
	c := &comparing{now: now, told: slices.Clone(before.Told)}
	c.clusters(before.Clusters)
	c.evictions(before.Evictions)
	return c.told[max(0, len(c.told)-mostTold):]
}

func (c *comparing) clusters(before []Cluster) {
	places := map[string]*Cluster{}
	for i := range before {
		places[before[i].Name] = &before[i]
	}
	for i := range c.now.Clusters {
		now, was := &c.now.Clusters[i], &Cluster{}
		if known := places[c.now.Clusters[i].Name]; known != nil {
			was = known
		}
		if now.State != was.State {
			c.say(now.Severity, "%s %s", now.Name, now.State)
		}
		for _, t := range without(now.Taints, was.Taints) {
			c.say(Notable, "%s tainted %s", now.Name, t)
		}
		for _, t := range without(was.Taints, now.Taints) {
			c.say(Calm, "%s untainted %s", now.Name, t)
		}
	}
}

func (c *comparing) evictions(before []Eviction) {
	type key struct{ workload, cluster string }
	known := map[key]*Eviction{}
	for i := range before {
		known[key{before[i].Workload, before[i].Cluster}] = &before[i]
	}
	for i := range c.now.Evictions {
		e := &c.now.Evictions[i]
		k := key{e.Workload, e.Cluster}
		if was := known[k]; was == nil || was.State != e.State {
			text := e.Workload + " " + e.State + " from " + e.Cluster
			if e.Text != "" {
				text += ": " + e.Text
			}
			c.say(e.Severity, "%s", text)
		}
		delete(known, k)
	}
	if c.now.More.Evictions > 0 {
		return // what is gone may be among those that are not shown
	}
	for i := range before {
		if e := &before[i]; known[key{e.Workload, e.Cluster}] != nil {
			c.say(Calm, "%s no longer %s from %s", e.Workload, e.State, e.Cluster)
		}
	}
}

// without are those that others lack.
func without(all, others []string) (list []string) {
	for _, s := range all {
		if !slices.Contains(others, s) {
			list = append(list, s)
		}
	}
	return list
}
