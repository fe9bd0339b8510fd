package policy

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// Ruling is one policy's verdict on a cluster, with the taints it is about.
type Ruling struct {
	Policy messages.PolicyName
	Verdict
	Taints []api.PolicyTaint
}

// TaintChange is one taint that came or went, and which policy wanted it so, for which cause.
type TaintChange struct {
	Taint  corev1.Taint
	Added  bool
	Policy messages.PolicyName
	Cause  string
}

// Apply carries out rulings, in the order they have, as one change: within a policy add comes before
// remove, and a later policy overrules an earlier one. Only the net result counts. A taint that was
// there before and is there after is the same one, with its timeAdded, whatever happened in between; a
// taint that came and went never was. What is removed is removed whatever its value, and has the value of
// who added it last. New taints go to the end, in the order of their decisions, added at now.
//
// Barred are the taints that no policy may remove. Spared lists those of them that the last word on them
// would have gone, each with who spoke it.
//
// Changes lists what went, in the order of the taints, then what came. Without changes the taints come
// back as they are.
//
// Karmada removes and adds one by one, so that an older remover and a younger adder of one taint give
// it a fresh timeAdded each time any condition changes. That is not followed: a toleration would start
// again with every heartbeat.
func Apply(taints, barred []corev1.Taint, ordered []Ruling, now time.Time) (after []corev1.Taint, changes, spared []TaintChange) {
	d := docket{taints: taints}
	for i := range ordered {
		if ordered[i].Add {
			d.decide(&ordered[i], true)
		}
		if ordered[i].Remove {
			d.decide(&ordered[i], false)
		}
	}
	return d.close(barred, now)
}

// docket is what was decided so far: the last word on each taint, in the order in which it was spoken.
type docket struct {
	taints []corev1.Taint
	last   []word
}

// word is the last one on a taint, with the removal that it overruled, if it did.
type word struct {
	TaintChange
	removed *TaintChange
}

// decide takes one half of a ruling down. Adding what is present, or removing what is absent, says nothing.
func (d *docket) decide(r *Ruling, add bool) {
	cause := r.RemoveCause
	if add {
		cause = r.AddCause
	}
	for _, t := range r.Taints {
		wanted := corev1.Taint{Key: t.Key, Value: t.Value, Effect: t.Effect}
		if d.present(&wanted) == add {
			continue
		}
		next := word{TaintChange: TaintChange{Taint: wanted, Added: add, Policy: r.Policy, Cause: cause}}
		if i := d.word(&wanted); i >= 0 {
			if overruled := d.last[i].TaintChange; add {
				next.removed = &overruled
			}
			d.last = slices.Delete(d.last, i, i+1)
		}
		d.last = append(d.last, next)
	}
}

func (d *docket) present(t *corev1.Taint) bool {
	if i := d.word(t); i >= 0 {
		return d.last[i].Added
	}
	return taint.Find(d.taints, t.Key, t.Effect) >= 0
}

// word returns the index of the last word on a taint, -1 if none was spoken.
func (d *docket) word(t *corev1.Taint) int {
	return slices.IndexFunc(d.last, func(c word) bool { return taint.Same(&c.Taint, t) })
}

// close keeps of all that was decided what differs from before, and may.
func (d *docket) close(barred []corev1.Taint, now time.Time) (after []corev1.Taint, changes, spared []TaintChange) {
	for i := range d.taints {
		t := &d.taints[i]
		w, free := d.word(t), taint.Find(barred, t.Key, t.Effect) < 0
		if w < 0 || d.last[w].Added && !(free && d.last[w].revalues(t)) {
			after = append(after, *t)
			continue
		}
		gone := d.last[w].removal()
		gone.Taint = *t
		if free {
			changes = append(changes, gone)
			continue
		}
		after, spared = append(after, *t), append(spared, gone)
	}
	for _, c := range d.last {
		if c.Added && taint.Find(after, c.Taint.Key, c.Taint.Effect) < 0 {
			c.Taint.TimeAdded = d.since(&c.Taint, now)
			after = append(after, c.Taint)
			changes = append(changes, c.TaintChange)
		}
	}
	if len(changes) == 0 {
		return d.taints, nil, spared
	}
	return after, changes, spared
}

// revalues reports whether a taint was removed and added again with another value.
func (w *word) revalues(t *corev1.Taint) bool { return w.removed != nil && w.Taint.Value != t.Value }

// removal is who removed the taint last.
func (w *word) removal() TaintChange {
	if w.removed != nil {
		return *w.removed
	}
	return w.TaintChange
}

// since is when a taint was added: before, if one of its key and effect was there.
func (d *docket) since(t *corev1.Taint, now time.Time) *metav1.Time {
	if i := taint.Find(d.taints, t.Key, t.Effect); i >= 0 && d.taints[i].TimeAdded != nil {
		return d.taints[i].TimeAdded
	}
	return &metav1.Time{Time: now}
}

// Birth is what orders a policy among others.
type Birth struct {
	Name    messages.PolicyName
	Created time.Time
}

// Order is the order in which policies act: by creation, in whole seconds as the API stores it, oldest
// first, so that the youngest has the last word.
type Order struct {
	// Tie orders policies of the same second: messages.TieByName, or messages.TieUndefined, which
	// differs from seed to seed as it differs from run to run in Karmada.
	Tie  string
	Seed uint64
}

// Compare returns less than zero where a acts before b. It is zero only for policies of one name and
// one second, hence total over the policies of a fleet.
func (o Order) Compare(a, b Birth) int {
	if c := cmp.Compare(a.Created.Unix(), b.Created.Unix()); c != 0 {
		return c
	}
	if o.Tie == messages.TieUndefined {
		if c := cmp.Compare(o.lot(a.Name), o.lot(b.Name)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Name, b.Name)
}

// lot draws a policy's number from the seed. The name goes in first: FNV spreads only what is followed
// by more.
func (o Order) lot(name messages.PolicyName) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write(binary.LittleEndian.AppendUint64(nil, o.Seed))
	return h.Sum64()
}
