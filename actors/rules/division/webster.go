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
// then to the earlier name (or the later, if descending). Without any weight no candidate gets a seat.
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

// claimOf is a candidate's claim to its next seat.
func claimOf(c *Candidate, at int, flip uint32) claim {
	return claim{
		worth: quotient(c.Weight, int64(c.Seats)),
		tie:   uint64(c.Seats)<<32 | uint64(uint32(c.Rank)^flip),
		at:    int32(at),
	}
}

// headStart gives in one step the seats that the candidates are certain to get, and returns how many: all but about half a seat for
// each candidate, whatever the weights.
//
// It aims at a number of seats and gives each candidate those whose quotient reaches total/(2*aim), which come before all
// others; in exact numbers these are weight*aim/total, rounded half up. Any aim will do by which there are no more of them
// than seats. At the aim itself rounding may give a few too many; it then tries once more with so many fewer, and at last
// with half a seat less for every candidate, which always fits.
func headStart(seats int32, c []Candidate) (given int32) {
	total := 0.0
	for i := range c {
		total += float64(max(0, c[i].Weight))
	}
	aim := float64(seats)
	for _, retreat := range [...]bool{false, false, true} {
		if retreat {
			aim = float64(seats) - float64(len(c))/2 - 1
		}
		if total == 0 || aim <= 0 {
			break
		}
		sum, least := int64(0), total/(2*aim)
		for i := range c {
			c[i].Seats = reaching(least, c[i].Weight, seats)
			sum += int64(c[i].Seats)
		}
		if sum <= int64(seats) {
			return int32(sum)
		}
		aim -= float64(sum - int64(seats))
	}
	for i := range c {
		c[i].Seats = 0
	}
	return 0
}

// reaching counts the claims to a seat, up to most, whose quotient reaches the least. The sum may be a claim off, as it
// is rounded; the quotients themselves decide.
func reaching(least float64, weight int64, most int32) int32 {
	if weight <= 0 {
		return 0
	}
	n := int64(min((float64(weight)/least+1)/2, float64(most)))
	for n < int64(most) && quotient(weight, n) >= least {
		n++
	}
	for n > 0 && quotient(weight, n-1) < least {
		n--
	}
	return int32(n)
}

// quotient is what a candidate with some seats can say for another one. It is a 64-bit float, as in Karmada; equal
// fractions are equal floats.
func quotient(weight, seats int64) float64 { return float64(weight) / float64(2*seats+1) }
