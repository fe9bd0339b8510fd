package podplacement

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// cause is why a node cannot take a shape, as far as that does not depend on what runs there.
type cause uint8

// The causes, in the order of kube-scheduler's filters: the first one that holds is told.
const (
	none cause = iota
	cordoned
	otherNode
	tainted
	unlike
	over
)

var causes = [...]string{
	cordoned:  "node(s) were unschedulable",
	otherNode: "node(s) didn't match the requested node name",
	tainted:   "node(s) had untolerated taint(s)",
	unlike:    "node(s) didn't match Pod's node affinity/selector",
	over:      "node(s) had taint(s) that were tolerated until now",
}

// Other reasons of kube-scheduler.
const (
	noNodes        = "no nodes available to schedule pods"
	notAskedFor    = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
	tooManyPods    = "Too many pods"
	skewed         = "node(s) didn't match pod topology spread constraints"
	noTopology     = "node(s) didn't match pod topology spread constraints (missing required label)"
	preemptInVain  = "Preemption is not helpful for scheduling"
	NothingToEvict = "No preemption victims found for incoming pod"
	mayNotPreempt  = "not eligible due to preemptionPolicy=Never."
)

// fit is what a node is to a shape, as long as the node keeps its version.
type fit struct {
	version   uint32
	cause     cause
	timed     bool // a NoExecute taint is tolerated only for a time
	like      bool // what the affinity asks for
	tolerated bool // no untolerated NoSchedule or NoExecute taint
	soft      int32
	preferred int64
	until     time.Time // until when all NoExecute taints are tolerated, under Exact; zero: for good
}

// cachedWants is for how many ways to ask fits are kept. A storm places pods of thousands of templates that ask alike.
const cachedWants = 64

// fits returns those of a shape, one for each slot; those of another version are stale.
func (f *Fleet) fits(s *Shape) []fit {
	if s.byName && len(s.hard)+len(s.soft) == 0 {
		return f.named(s)
	}
	v, known := f.cache[s.wants]
	if !known {
		if len(f.recent) == cachedWants {
			v = f.cache[f.recent[0]]
			clear(v)
			delete(f.cache, f.recent[0])
			f.recent = append(f.recent[:0], f.recent[1:]...)
		}
		f.recent = append(f.recent, s.wants)
	}
	if more := len(f.nodes) - len(v); more > 0 || !known {
		v = append(v, make([]fit, max(more, 0))...)
		f.cache[s.wants] = v
	}
	return v
}

// named returns the fits of a shape for named nodes. Only those nodes are ever looked at, and each daemon pod asks for another one.
func (f *Fleet) named(s *Shape) []fit {
	if more := len(f.nodes) - len(f.daemon); more > 0 {
		f.daemon = append(f.daemon, make([]fit, more)...)
	}
	for _, name := range s.only {
		if slot, known := f.slots[name]; known {
			f.daemon[slot] = fit{}
		}
	}
	return f.daemon
}

// judge returns what a node is to a shape.
func (p *Planner) judge(s *Shape, v []fit, slot int32) *fit {
	if version := p.fleet.loads[slot].version; v[slot].version != version {
		v[slot] = p.look(s, &p.fleet.nodes[slot])
		v[slot].version = version
	}
	if c := &v[slot]; c.cause == none && !c.until.IsZero() && !p.now.Before(c.until) {
		c.cause = over
	}
	return &v[slot]
}

// unschedulable is what a cordoned node is taken to be tainted with.
var unschedulable = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

// look asks the filters that do not depend on what runs on a node.
func (p *Planner) look(s *Shape, n *node) fit {
	v := fit{like: true}
	if s.hasRequired {
		like, err := s.required.Match(&n.object)
		v.like = like && err == nil // an error is one of its terms, refused by Shape
	}
	v.tolerated = taint.FirstUntolerated(n.taints, s.tolerations, p.rules.Numeric) < 0
	switch {
	case n.unschedulable && taint.FirstUntolerated(unschedulable, s.tolerations, p.rules.Numeric) >= 0:
		v.cause = cordoned
	case s.nodeName != "" && s.nodeName != n.name:
		v.cause = otherNode
	case !v.tolerated:
		v.cause = tainted
	case !v.like:
		v.cause = unlike
	}
	if v.cause != none {
		return v
	}
	v.timed = p.rules.AvoidTimed && timed(n.taints, s.tolerations, p.rules.Numeric)
	if d := taint.Deadline(n.taints, s.tolerations, taint.Rule{Match: messages.MatchMinimum, Numeric: p.rules.Numeric}); p.rules.Exact && d.Outcome == taint.Until {
		v.until = d.At
	}
	v.soft = softTaints(n.taints, s.tolerations, p.rules.Numeric)
	if s.preferred != nil {
		v.preferred = s.preferred.Score(&n.object)
	}
	return v
}

// timed reports whether a NoExecute taint is tolerated for a time only: no toleration without seconds covers it.
func timed(taints []corev1.Taint, tolerations []corev1.Toleration, numeric bool) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectNoExecute && !slices.ContainsFunc(tolerations, func(l corev1.Toleration) bool {
			return l.TolerationSeconds == nil && taint.Tolerates(&l, &t, numeric)
		})
	})
}

// softTaints counts the PreferNoSchedule taints that no toleration covers.
func softTaints(taints []corev1.Taint, tolerations []corev1.Toleration, numeric bool) (n int32) {
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule && !slices.ContainsFunc(tolerations, func(l corev1.Toleration) bool {
			return taint.Tolerates(&l, &taints[i], numeric)
		}) {
			n++
		}
	}
	return n
}

// holds reports whether a node can hold one more pod of a shape.
func (f *Fleet) holds(slot int32, s *Shape) bool {
	l := &f.loads[slot]
	if l.pods >= l.podsAllowed {
		return false
	}
	for i, amount := range s.requests {
		if amount > 0 && amount > l.allocatable[i]-l.used[i] {
			return false
		}
	}
	for _, r := range s.extended {
		n := &f.nodes[slot]
		if r.amount > at(n.more, r.column)-at(n.moreUsed, r.column) {
			return false
		}
	}
	return true
}

func at(columns []int64, column int) int64 {
	if column < len(columns) {
		return columns[column]
	}
	return 0
}

// lacks returns what a node has too little of, and whether it would even with nothing running there.
func (f *Fleet) lacks(slot int32, s *Shape) (reasons []string, forever bool) {
	n, l := &f.nodes[slot], &f.loads[slot]
	if l.pods >= l.podsAllowed {
		reasons = append(reasons, tooManyPods)
	}
	for i, amount := range s.requests {
		if amount > 0 && amount > l.allocatable[i]-l.used[i] {
			reasons = append(reasons, "Insufficient "+string(basicNames[i]))
			forever = forever || amount > l.allocatable[i]
		}
	}
	for _, r := range s.extended {
		if all := at(n.more, r.column); r.amount > all-at(n.moreUsed, r.column) {
			reasons = append(reasons, "Insufficient "+string(f.names[r.column]))
			forever = forever || r.amount > all
		}
	}
	return reasons, forever
}

// Takes reports whether a node can take a pod of a shape, as far as its topology spread does not matter. A shape that is none, nil,
// fits nowhere.
func (p *Planner) Takes(s *Shape, name string) bool {
	slot, known := p.fleet.slots[name]
	if s == nil || !known || !p.fleet.nodes[slot].present {
		return false
	}
	return (!s.byName || slices.Contains(s.only, name)) && p.judge(s, p.fleet.fits(s), slot).cause == none && p.fleet.holds(slot, s)
}

// refusal returns why a node cannot take a pod of a shape, and whether that is so whatever else runs there; no reasons: it can.
func (p *Planner) refusal(s *Shape, v []fit, tallies []tally, slot int32) (reasons []string, forever bool) {
	n := &p.fleet.nodes[slot]
	if s.byName && !slices.Contains(s.only, n.name) {
		return []string{notAskedFor}, true
	}
	switch c := p.judge(s, v, slot).cause; {
	case c == tainted && p.rules.NameTaints:
		t := n.taints[taint.FirstUntolerated(n.taints, s.tolerations, p.rules.Numeric)]
		return []string{fmt.Sprintf("node(s) had untolerated taint {%s: %s}", t.Key, t.Value)}, true
	case c != none:
		return []string{causes[c]}, true
	}
	if reasons, forever = p.fleet.lacks(slot, s); len(reasons) > 0 {
		return reasons, forever
	}
	for i := range tallies {
		switch domain := tallies[i].domain(slot); {
		case domain < 0:
			return []string{noTopology}, true
		case !tallies[i].takes(domain):
			return []string{skewed}, false
		}
	}
	return nil, false
}

// explain says why no node can take a pod of a shape, in the words and the order of kube-scheduler's FailedScheduling. The reasons are
// sorted as text, their counts with them.
func (p *Planner) explain(s *Shape) string {
	f := p.fleet
	v, tallies := f.fits(s), f.tallies(p, s, s.hard)
	filters, preemption := map[string]int{}, map[string]int{}
	for _, slot := range f.order {
		reasons, forever := p.refusal(s, v, tallies, slot)
		for _, reason := range reasons {
			filters[reason]++
		}
		if forever {
			preemption[preemptInVain]++
		} else {
			preemption[NothingToEvict]++
		}
	}
	post := mayNotPreempt
	if !s.neverTake {
		post = p.histogram(preemption)
	}
	return p.histogram(filters) + " preemption: " + post
}

func (p *Planner) histogram(reasons map[string]int) string {
	lines := make([]string, 0, len(reasons))
	for reason, n := range reasons { // order-free: sorted below
		lines = append(lines, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(lines)
	return fmt.Sprintf("0/%d nodes are available: %s.", len(p.fleet.order), strings.Join(lines, ", "))
}
