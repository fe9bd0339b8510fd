// Package division shares the replicas of one workload out among clusters: by fixed weights, by what
// each cluster can still take, or onto as few clusters as possible. What a workload already has stays
// where it is unless that is too much or a fresh division is asked for. Which clusters may take part
// is decided before, by the rules of placement.
//
// Everything is exact and repeatable: shares come from the Sainte-Laguë method, whose ties depend on
// the workload's UID alone. Sources: the Karmada documents on replica scheduling, and recordings of a
// Karmada control plane for what they leave open.
package division

import (
	"cmp"
	"math/bits"
	"slices"

	"leeward/actors/rules/draw"
	"leeward/messages"
)

// Candidate is one cluster that may take replicas.
type Candidate struct {
	// Rank is the cluster's position by name, unique among the candidates. Ties fall by it.
	Rank int32
	// Prev is the number of replicas that it has, and Turn its place in the list that says so.
	Prev, Turn int32
	// Free is the number of replicas that it can take beyond those. At least zero.
	Free int64
	// Weight is its share in a division by weight. At least zero. Dynamic and Aggregated set it.
	Weight int64
	// Order ranks clusters that can take equally much; the lowest comes first.
	Order uint64
	// Seats is the result: how many replicas it is to have.
	Seats int32
}

// Demand is what must be divided.
type Demand struct {
	Replicas int32
	// UID is the workload's; it decides ties.
	UID string
	// Fresh divides everything again, as if the workload's own replicas were free capacity.
	Fresh bool
}

// Divider divides. Its fields say how; besides them it keeps only scratch space, so that a division
// does not allocate. The zero value divides as Karmada does since 1.16.
type Divider struct {
	// Method is messages.DivideWebster (also where it is empty) or messages.DivideFloor.
	Method string
	// Seed decides the ties of messages.DivideFloor, together with the UID.
	Seed uint64

	claims claims
}

// Static divides by the candidates' weights, whatever they have or can take. Who has no weight gets
// nothing, unless no cluster has any: then all weigh the same.
func (v *Divider) Static(d Demand, c []Candidate) {
	weighted := false
	for i := range c {
		weighted = weighted || c[i].Weight > 0
	}
	for i := range c {
		if !weighted {
			c[i].Weight = 1
		}
	}
	v.share(d.Replicas, d.UID, c)
}

// Dynamic divides in proportion to what the candidates can take. It returns how many replicas find no
// capacity; unless that is zero, the result is void.
func (v *Divider) Dynamic(d Demand, c []Candidate) (missing int64) {
	m := weigh(d, c)
	if m.missing == 0 {
		v.settle(m, d.UID, c)
	}
	return m.missing
}

// Aggregated divides among as few candidates as possible, those that already run the workload first.
// It returns how many replicas find no capacity; unless that is zero, the result is void.
func (v *Divider) Aggregated(d Demand, c []Candidate) (missing int64) {
	m := weigh(d, c)
	if m.missing == 0 {
		v.narrow(m, c)
		v.settle(m, d.UID, c)
	}
	return m.missing
}

// move is the part of a demand that must be divided by weight.
type move struct {
	replicas int32
	// grows: the replicas come on top of those that the candidates have.
	grows bool
	// shrinks: the weights are what the candidates have.
	shrinks bool
	missing int64
}

// weigh decides what must be divided, and sets the weights by which. A workload that has just its
// replicas keeps them: nothing is divided. One that has too few gets the difference by free capacity.
// One that has too many is cut in proportion.
func weigh(d Demand, c []Candidate) move {
	var assigned, weights int64
	for i := range c {
		assigned += int64(c[i].Prev)
	}
	want := int64(d.Replicas)
	m := move{replicas: d.Replicas, grows: !d.Fresh && assigned <= want}
	m.shrinks = !d.Fresh && !m.grows
	if m.grows {
		m.replicas = int32(want - assigned)
	}
	for i := range c {
		switch {
		case m.grows:
			c[i].Weight = c[i].Free
		case m.shrinks:
			c[i].Weight = int64(c[i].Prev)
		default:
			c[i].Weight = c[i].Free + int64(c[i].Prev)
		}
		weights += c[i].Weight
	}
	m.missing = max(0, int64(m.replicas)-weights)
	return m
}

// settle divides by weight and adds what must be kept.
func (v *Divider) settle(m move, uid string, c []Candidate) {
	v.share(m.replicas, uid, c)
	if !m.grows {
		return
	}
	for i := range c {
		c[i].Seats += c[i].Prev
	}
}

// narrow takes the weight from all candidates but the fewest that suffice: in growth first those that
// have replicas, then those of most weight, then by order (or, in shrinking, by turn).
func (v *Divider) narrow(m move, c []Candidate) {
	v.claims = v.claims[:0]
	for i := range c {
		k := claim{worth: float64(c[i].Weight), tie: c[i].Order, at: int32(i)}
		if m.shrinks {
			k.tie = uint64(c[i].Turn)
		}
		if m.grows && c[i].Prev > 0 {
			k.worth += first
		}
		v.claims = append(v.claims, k)
	}
	v.claims.order()
	for left := int64(m.replicas); left > 0; {
		left -= c[v.claims[0].at].Weight
		v.claims.drop()
	}
	for i := range v.claims {
		c[v.claims[i].at].Weight = 0
	}
}

// first lifts a weight above all others; weights are below it, so none loses a digit.
const first = 1 << 40

// share divides by the method that the divider is set to.
func (v *Divider) share(replicas int32, uid string, c []Candidate) {
	if v.Method == messages.DivideFloor {
		v.Floor(replicas, uid, c)
		return
	}
	v.Webster(replicas, Descending(uid), c)
}

// Floor divides seats by weight as Karmada did up to 1.15: to each candidate the whole part of its
// share; what remains goes one seat each to the candidates of most weight, then of most replicas so
// far, then as a toss falls. Karmada tosses with a random number, which no replay can repeat; here
// the toss depends on the seed, the UID and the candidate. Without any weight no candidate gets a seat.
func (v *Divider) Floor(seats int32, uid string, c []Candidate) {
	var total, most uint64
	for i := range c {
		most = max(most, uint64(c[i].Weight))
		c[i].Seats = 0
	}
	shift := max(0, bits.Len64(most)+bits.Len(uint(len(c)))-64) // so that the sum keeps within 64 bits
	for i := range c {
		total += uint64(c[i].Weight) >> shift
	}
	if total == 0 {
		return
	}
	left := seats
	for i := range c {
		hi, lo := bits.Mul64(uint64(c[i].Weight)>>shift, uint64(seats))
		share, _ := bits.Div64(hi, lo, total)
		c[i].Seats = int32(share)
		left -= c[i].Seats
	}
	v.claims = v.claims[:0]
	toss := draw.Hash(v.Seed, uid)
	for i := range c {
		v.claims = append(v.claims, claim{tie: draw.Mix(toss ^ uint64(c[i].Rank)), at: int32(i)})
	}
	slices.SortFunc(v.claims, func(a, b claim) int {
		x, y := &c[a.at], &c[b.at]
		return cmp.Or(cmp.Compare(y.Weight, x.Weight), cmp.Compare(y.Prev, x.Prev), cmp.Compare(a.tie, b.tie))
	})
	for i := range v.claims[:left] {
		c[v.claims[i].at].Seats++
	}
}

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
