package division

// claim is what one candidate can say for itself: the more worth, the sooner it is served; among
// claims of equal worth, the lower tie.
type claim struct {
	worth float64
	tie   uint64
	at    int32 // the candidate's index
}

func (a *claim) before(b *claim) bool {
	return a.worth > b.worth || a.worth == b.worth && a.tie < b.tie
}

// claims is a binary heap with the claim to be served next at its root. container/heap would do, at
// several times the cost: it calls three methods through an interface for every step.
type claims []claim

// order turns any claims into a heap.
func (h claims) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// drop removes the root.
func (h *claims) drop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	*h = (*h)[:last]
	h.sink(0)
}

// sink moves claim i down to where it belongs.
func (h claims) sink(i int) {
	if i >= len(h) {
		return
	}
	moved := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(&h[child]) {
			child++
		}
		if !h[child].before(&moved) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moved
}
