package timers_test

import (
	"container/heap"
	"math/rand/v2"
	"testing"

	"leeward/runtime/kernel/timers"
)

// million is how many deadlines each benchmark schedules over ten hours of one-second instants; every
// second one is cancelled, the others fire.
const million = 1_000_000

func instants() []int64 {
	random := rand.New(rand.NewPCG(1, 1))
	at := make([]int64, million)
	for i := range at {
		at[i] = random.Int64N(36_000) * 1e9
	}
	return at
}

// queue is what both contestants do, a million times each.
type queue interface {
	schedule(id int32, at int64)
	cancel(id int32)
	fire(now int64) bool
}

// BenchmarkDeadlines sets Heap against container/heap of pointers, the usual Go answer.
func BenchmarkDeadlines(b *testing.B) {
	b.Run("Heap", func(b *testing.B) { benchmarkQueue(b, func() queue { return new(ours) }) })
	b.Run("container_heap", func(b *testing.B) { benchmarkQueue(b, func() queue { return new(usual) }) })
}

func benchmarkQueue(b *testing.B, empty func() queue) {
	at := instants()
	b.ReportAllocs()
	for b.Loop() {
		q := empty()
		measure(b, "ns/schedule", million, func() {
			for id, at := range at {
				q.schedule(int32(id), at)
			}
		})
		measure(b, "ns/cancel", million/2, func() {
			for id := int32(0); id < million; id += 2 {
				q.cancel(id)
			}
		})
		measure(b, "ns/fire", million/2, func() {
			for now := int64(0); now < 36_000*1e9; now += 1e9 {
				for q.fire(now) {
				}
			}
		})
	}
}

// measure reports what one of n costs, of the last round.
func measure(b *testing.B, unit string, n int, run func()) {
	before := b.Elapsed()
	run()
	b.ReportMetric(float64((b.Elapsed()-before).Nanoseconds())/float64(n), unit)
}

type ours struct{ timers.Heap }

func (q *ours) schedule(id int32, at int64) { q.Set(id, at) }
func (q *ours) cancel(id int32)             { q.Clear(id) }
func (q *ours) fire(now int64) bool {
	_, ok := q.PopDue(now)
	return ok
}

type timer struct {
	at    int64
	id    int32
	index int
}

type pointers []*timer

func (p pointers) Len() int { return len(p) }
func (p pointers) Less(i, j int) bool {
	return p[i].at < p[j].at || p[i].at == p[j].at && p[i].id < p[j].id
}
func (p pointers) Swap(i, j int) {
	p[i], p[j] = p[j], p[i]
	p[i].index, p[j].index = i, j
}

func (p *pointers) Push(x any) {
	t := x.(*timer)
	t.index = len(*p)
	*p = append(*p, t)
}

func (p *pointers) Pop() any {
	last := len(*p) - 1
	t := (*p)[last]
	*p = (*p)[:last]
	return t
}

type usual struct {
	heap pointers
	byID []*timer
}

func (q *usual) schedule(id int32, at int64) {
	t := &timer{at: at, id: id}
	q.byID = append(q.byID, t)
	heap.Push(&q.heap, t)
}

func (q *usual) cancel(id int32) { heap.Remove(&q.heap, q.byID[id].index) }

func (q *usual) fire(now int64) bool {
	if len(q.heap) == 0 || q.heap[0].at > now {
		return false
	}
	heap.Pop(&q.heap)
	return true
}
