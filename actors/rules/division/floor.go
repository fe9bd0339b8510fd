package division

import (
	"cmp"
	"math/bits"
	"slices"

	"leeward/actors/rules/draw"
)

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
