package division

import (
	"cmp"
	"slices"

	"leeward/messages"
)

// Outline says how a demand is divided: what candidates keep, what must be divided, and by which weights.
type Outline struct {
	// Method is messages.DivideWebster or messages.DivideFloor; empty: nothing is divided.
	Method string
	// Asked are all replicas, Kept those that candidates have and keep, Divided the others.
	Asked, Kept, Divided int64
	// By is what the weights are.
	By Basis
	// Fewest is set where as few candidates as possible get replicas.
	Fewest bool
	// Missing is how many of Divided find no capacity.
	Missing int64
}

// Basis is what weights are taken from.
type Basis string

// The bases.
const (
	ByStaticWeight Basis = "static weight"
	ByFreeCapacity Basis = "free capacity"
	ByReplicas     Basis = "replicas that run"
	ByWhole        Basis = "free capacity and replicas that run"
)

// Outline returns how Dynamic, or with fewest Aggregated, divides among all candidates together. It changes nothing.
func (v *Divider) Outline(d Demand, c []Candidate, fewest bool) Outline {
	m := weigh(d, slices.Clone(c))
	o := Outline{Method: v.method(), Asked: int64(d.Replicas), Divided: int64(m.replicas), Fewest: fewest, Missing: m.missing, By: ByWhole}
	switch {
	case m.grows:
		o.By = ByFreeCapacity
	case m.shrinks:
		o.By = ByReplicas
	}
	o.Kept = o.Asked - o.Divided
	return o
}

// OutlineStatic returns how Static divides.
func (v *Divider) OutlineStatic(d Demand, _ []Candidate) Outline {
	return Outline{Method: v.method(), Asked: int64(d.Replicas), Divided: int64(d.Replicas), By: ByStaticWeight}
}

func (v *Divider) method() string { return cmp.Or(v.Method, messages.DivideWebster) }
