package kernel

import (
	"math/bits"
	"math/rand/v2"
)

// Order decides which of the actors that have mail gets the next turn. A turn is one message, the
// oldest in its mailbox.
type Order uint8

const (
	// FIFO serves actors in the order in which they became ready. The daemon runs so.
	FIFO Order = iota
	// Seeded picks one at random, each as likely as the others, by a generator that Config.Seed starts.
	Seeded
)

// readyList holds the actors that have mail, once each, except the one whose turn it is.
type readyList struct {
	order  Order
	random *rand.PCG
	ring   []int32 // its length is a power of two
	head   int
	n      int
}

func newReadyList(order Order, seed uint64) readyList {
	return readyList{order: order, random: rand.NewPCG(seed, 0), ring: make([]int32, 16)}
}

func (r *readyList) push(id int32) {
	if r.n == len(r.ring) {
		r.grow()
	}
	*r.at(r.n) = id
	r.n++
}

// pop takes the next actor off a list that is not empty.
func (r *readyList) pop() int32 {
	first := r.at(0)
	if r.order == Seeded {
		pick, _ := bits.Mul64(r.random.Uint64(), uint64(r.n))
		chosen := r.at(int(pick))
		*first, *chosen = *chosen, *first
	}
	r.head++
	r.n--
	return *first
}

func (r *readyList) at(i int) *int32 { return &r.ring[(r.head+i)&(len(r.ring)-1)] }

func (r *readyList) grow() {
	wider := make([]int32, 2*len(r.ring))
	for i := range r.n {
		wider[i] = *r.at(i)
	}
	r.ring, r.head = wider, 0
}
