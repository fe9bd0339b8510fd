package division

import "math"

// Descending reports whether the ties of a workload fall to the later cluster name instead of the
// earlier: where the FNV-1a hash of its UID (32 bits) is odd. An empty UID has no hash.
//
// Only the hash's lowest bit is wanted. It starts odd, takes each byte by exclusive or, and stays as
// it is when multiplied by an odd number; so it is a parity and needs no multiplication.
func Descending(uid string) bool {
	odd := byte(1)
	for i := range len(uid) {
		odd ^= uid[i]
	}
	return uid != "" && odd&1 == 1
}

// Webster divides seats by weight with the Sainte-Laguë method: as if they were given one at a time,
// each to the candidate with the highest weight/(2*seats+1), in a tie to the one with fewer seats,
// then to the earlier name (or the later, if descending). Without any weight nobody gets a seat.
//
// It takes O(n log n) for n candidates however many the seats: all but about n/2 of them are given at
// once. A property test holds it to the loop of one seat at a time.
func (v *Divider) Webster(seats int32, descending bool, c []Candidate) {
	given := headStart(seats, c)
	if given == seats {
		return
	}
	flip := uint32(0)
	if descending {
		flip = math.MaxUint32
	}
	v.claims = v.claims[:0]
	for i := range c {
		if c[i].Weight > 0 {
			v.claims = append(v.claims, claimOf(&c[i], i, flip))
		}
	}
	if len(v.claims) == 0 {
		return
	}
	v.claims.order()
	for ; given < seats; given++ {
		top := &v.claims[0]
		winner := &c[top.at]
		winner.Seats++
		*top = claimOf(winner, int(top.at), flip)
		v.claims.sink(0)
	}
}

// claimOf is a candidate's claim to its next seat. Quotients are compared as 64-bit floats, as in
// Karmada; equal fractions are equal floats.
func claimOf(c *Candidate, at int, flip uint32) claim {
	return claim{
		worth: float64(c.Weight) / float64(2*int64(c.Seats)+1),
		tie:   uint64(c.Seats)<<32 | uint64(uint32(c.Rank)^flip),
		at:    int32(at),
	}
}

// headStart gives at once seats that the candidates are certain to get, and returns how many.
//
// It aims at a number of seats and gives each candidate weight*aim/total of them, rounded half up:
// all those whose quotient reaches total/(2*aim). If they are no more than the seats there are, they
// come before all others. At the aim itself rounding may give a few too many; it then tries once more
// with so many fewer, and at last with half a seat less for every candidate, which always fits.
func headStart(seats int32, c []Candidate) (given int32) {
	total := totalWeight(seats, c)
	aim := int64(seats)
	for _, retreat := range [...]bool{false, false, true} {
		if retreat {
			aim = int64(seats) - int64(len(c)+1)/2
		}
		if total == 0 || aim <= 0 {
			break
		}
		sum := int64(0)
		for i := range c {
			// Both sides are whole and below 2^53, so that the float's whole part is exact.
			c[i].Seats = int32(float64(2*c[i].Weight*aim+total) / float64(2*total))
			sum += int64(c[i].Seats)
		}
		if sum <= int64(seats) {
			return int32(sum)
		}
		aim -= sum - int64(seats)
	}
	for i := range c {
		c[i].Seats = 0
	}
	return 0
}

// totalWeight adds the weights up; zero if there are none, or if they are too large for headStart to
// be exact.
func totalWeight(seats int32, c []Candidate) (total int64) {
	const exact = 1 << 51
	most := exact / (2*int64(seats) + 1)
	for i := range c {
		if c[i].Weight > most-total {
			return 0
		}
		total += c[i].Weight
	}
	return total
}
