package governor

import (
	"cmp"
	"container/heap"

	"leeward/messages"
)

type key struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

// queue is a heap of requests that knows where each one is.
type queue struct {
	items []*messages.RequestEviction
	at    map[key]int
}

func keyOf(r *messages.RequestEviction) key { return key{r.Binding, r.Cluster} }

// put adds a request, or replaces the one for the same binding and cluster.
func (q *queue) put(r *messages.RequestEviction) {
	if i, known := q.at[keyOf(r)]; known {
		q.items[i] = r
		heap.Fix(q, i)
		return
	}
	heap.Push(q, r)
}

func (q *queue) drop(k key) {
	if i, known := q.at[k]; known {
		heap.Remove(q, i)
	}
}

func (q *queue) next() *messages.RequestEviction { return heap.Pop(q).(*messages.RequestEviction) }

func (q *queue) Len() int { return len(q.items) }

// Less puts the higher priority first, then the longer wait, then the name.
func (q *queue) Less(i, j int) bool {
	a, b := q.items[i], q.items[j]
	return cmp.Or(
		-cmp.Compare(a.Priority, b.Priority),
		a.Since.Compare(b.Since),
		cmp.Compare(a.Binding, b.Binding),
		cmp.Compare(a.Cluster, b.Cluster),
	) < 0
}

func (q *queue) Swap(i, j int) {
	q.items[i], q.items[j] = q.items[j], q.items[i]
	q.at[keyOf(q.items[i])], q.at[keyOf(q.items[j])] = i, j
}

// Push is for package heap.
func (q *queue) Push(x any) {
	r := x.(*messages.RequestEviction)
	q.at[keyOf(r)] = len(q.items)
	q.items = append(q.items, r)
}

// Pop is for package heap.
func (q *queue) Pop() any {
	last := len(q.items) - 1
	r := q.items[last]
	q.items[last] = nil
	q.items = q.items[:last]
	delete(q.at, keyOf(r))
	return r
}
