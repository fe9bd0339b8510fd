package karmada

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/shadow"
)

// tainted is a taint that a cluster got, or lost.
type tainted struct {
	cluster messages.ClusterName
	key     string
	effect  corev1.TaintEffect
	removed bool
}

// opposite is that the cluster lost it, or got it.
func (t tainted) opposite() tainted {
	t.removed = !t.removed
	return t
}

// mostTaints is how many taints are compared at the same time. Those beyond are not.
const mostTaints = 100_000

// taints compare the taints that clusters get and lose, but for those of users. They are not adopted: what the machines decide rests on
// their own.
type taints struct {
	tell func(*shadow.Comparison)
	open map[tainted]*pair
}

// hear hears what the machines decide.
func (t *taints) hear(at time.Time, f messages.Fact, told string) {
	switch f := f.(type) {
	case *messages.TaintAdded:
		t.ours(tainted{f.Cluster, f.Taint.Key, f.Taint.Effect, false}, &f.Cause, at, told)
	case *messages.TaintRemoved:
		t.ours(tainted{f.Cluster, f.Taint.Key, f.Taint.Effect, true}, &f.Cause, at, told)
	}
}

func (t *taints) ours(of tainted, by *api.TaintCause, at time.Time, told string) {
	before := t.open[of.opposite()]
	switch {
	case by.By == api.TaintCauseUser:
	case before != nil && before.theirs == nil: // it was taken back before the other had decided it
		delete(t.open, of.opposite())
	default:
		if p := t.of(of); p != nil {
			p.decide(&shadow.Decision{At: at, By: leeward, Reason: told})
		}
	}
}

// take hears what the other control plane did.
func (t *taints) take(now time.Time, of tainted) {
	if p := t.of(of); p != nil && p.theirs == nil {
		p.theirs = &shadow.Decision{At: now, By: controllers, Reason: of.String()}
	}
}

// String is "taint failed:NoExecute added".
func (t tainted) String() string {
	did := "added"
	if t.removed {
		did = "removed"
	}
	return fmt.Sprintf("taint %s:%s %s", t.key, t.effect, did)
}

func (t *taints) of(of tainted) *pair {
	p := t.open[of]
	if p == nil && len(t.open) < mostTaints {
		p = &pair{}
		t.open[of] = p
	}
	return p
}

// judge tells of the comparisons that can be made.
func (t *taints) judge(now time.Time) {
	var ready []tainted
	for of, p := range t.open { // order-free: sorted below
		switch {
		case p.theirs != nil && p.ours != nil, p.theirs != nil && now.Sub(p.theirs.At) >= delay,
			p.theirs == nil && !p.told && now.Sub(p.ours.At) >= shadow.Patience:
			ready = append(ready, of)
		}
	}
	slices.SortFunc(ready, func(a, b tainted) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.key, b.key), cmp.Compare(a.effect, b.effect))
	})
	for _, of := range ready {
		p := t.open[of]
		t.tell(&shadow.Comparison{
			Time: now, Verdict: shadow.Judge(p.ours, p.theirs), Kind: shadow.Taint, Workload: "Cluster " + string(of.cluster), Cluster: string(of.cluster),
			Ours: p.ours, Theirs: p.theirs,
		})
		if p.told = true; p.theirs != nil {
			delete(t.open, of)
		}
	}
}

// next is when something must be judged after an instant; zero: when there is news.
func (t *taints) next(now time.Time) (next time.Time) {
	for _, p := range t.open { // order-free: the earliest
		at := time.Time{}
		switch {
		case p.theirs != nil:
			at = p.theirs.At.Add(delay)
		case !p.told:
			at = p.ours.At.Add(shadow.Patience)
		}
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
