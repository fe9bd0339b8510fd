// Package timers keeps deadlines: one per actor, a million of them at a time.
package timers

// Heap holds at most one deadline per id and gives back the earliest. Ids are small integers that
// their owner hands out densely from 0; deadlines are nanoseconds since the Unix epoch, or any other
// int64 that orders what is to come first.
//
// Equal deadlines fire in the order of their ids, so the order never depends on the order in which
// they were set. The zero Heap is empty and ready for use. It belongs to one goroutine.
//
// Set, Clear and PopDue take O(log n), Next O(1); none of them allocates except to grow: 16 bytes per
// deadline and 4 per id. Every node has four children rather than two: a sift then touches half as
// many cache lines.
type Heap struct {
	nodes []node
	place []int32 // by id: 1 + its index in nodes, or 0 if it has no deadline
}

type node struct {
	at int64
	id int32
}

func (n node) before(m node) bool { return n.at < m.at || n.at == m.at && n.id < m.id }

// Len returns how many deadlines are set.
func (h *Heap) Len() int { return len(h.nodes) }

// Set gives id the deadline at, in place of any earlier one.
func (h *Heap) Set(id int32, at int64) {
	for int(id) >= len(h.place) {
		h.place = append(h.place, 0)
	}
	n := node{at: at, id: id}
	i := int(h.place[id]) - 1
	if i < 0 {
		i = len(h.nodes)
		h.nodes = append(h.nodes, n)
	}
	h.settle(i, n)
}

// Clear takes id's deadline away, if it has one.
func (h *Heap) Clear(id int32) {
	if int(id) >= len(h.place) || h.place[id] == 0 {
		return
	}
	h.remove(int(h.place[id]) - 1)
}

// Next returns the earliest deadline, and false if there is none.
func (h *Heap) Next() (at int64, ok bool) {
	if len(h.nodes) == 0 {
		return 0, false
	}
	return h.nodes[0].at, true
}

// PopDue removes the earliest deadline if it is not after now and returns whose it was, or false if
// nothing is due.
func (h *Heap) PopDue(now int64) (id int32, ok bool) {
	if len(h.nodes) == 0 || h.nodes[0].at > now {
		return 0, false
	}
	id = h.nodes[0].id
	h.remove(0)
	return id, true
}

// remove fills the hole at i with the last node.
func (h *Heap) remove(i int) {
	h.place[h.nodes[i].id] = 0
	end := len(h.nodes) - 1
	last := h.nodes[end]
	h.nodes = h.nodes[:end]
	if i < end {
		h.settle(i, last)
	}
}

// settle writes n where it belongs, starting from the hole at i.
func (h *Heap) settle(i int, n node) {
	if i > 0 && n.before(h.nodes[(i-1)/4]) {
		h.rise(i, n)
	} else {
		h.sink(i, n)
	}
}

func (h *Heap) rise(i int, n node) {
	for i > 0 {
		parent := (i - 1) / 4
		if !n.before(h.nodes[parent]) {
			break
		}
		h.put(i, h.nodes[parent])
		i = parent
	}
	h.put(i, n)
}

func (h *Heap) sink(i int, n node) {
	for {
		child := h.firstChild(i)
		if child < 0 || !h.nodes[child].before(n) {
			break
		}
		h.put(i, h.nodes[child])
		i = child
	}
	h.put(i, n)
}

// firstChild returns the index of i's earliest child, or -1 if it has none.
func (h *Heap) firstChild(i int) int {
	from := 4*i + 1
	if from >= len(h.nodes) {
		return -1
	}
	first := from
	for c := from + 1; c < min(from+4, len(h.nodes)); c++ {
		if h.nodes[c].before(h.nodes[first]) {
			first = c
		}
	}
	return first
}

func (h *Heap) put(i int, n node) {
	h.nodes[i] = n
	h.place[n.id] = int32(i) + 1
}
