package timers_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/runtime/kernel/timers"
)

type deadline struct {
	id int32
	at int64
}

// popAll returns what is due at now, in the order it fires.
func popAll(h *timers.Heap, now int64) []int32 {
	var fired []int32
	for id, ok := h.PopDue(now); ok; id, ok = h.PopDue(now) {
		fired = append(fired, id)
	}
	return fired
}

func TestHeap(t *testing.T) {
	const far = 1000
	tests := []struct {
		name  string
		set   []deadline
		clear []int32
		now   int64
		fired []int32
		left  int
	}{
		{name: "an empty heap fires nothing", now: far},
		{name: "an earlier deadline fires first", set: []deadline{{0, 3}, {1, 1}, {2, 2}}, now: far, fired: []int32{1, 2, 0}},
		{name: "equal deadlines fire by id, however they were set", set: []deadline{{3, 7}, {0, 7}, {2, 7}, {1, 7}}, now: far, fired: []int32{0, 1, 2, 3}},
		{name: "a deadline fires at its instant and not before", set: []deadline{{0, 5}, {1, 6}}, now: 5, fired: []int32{0}, left: 1},
		{name: "setting again replaces, to earlier", set: []deadline{{0, 5}, {1, 6}, {1, 4}}, now: far, fired: []int32{1, 0}},
		{name: "setting again replaces, to later", set: []deadline{{0, 5}, {1, 6}, {0, 7}}, now: far, fired: []int32{1, 0}},
		{name: "a cleared deadline does not fire", set: []deadline{{0, 5}, {1, 6}, {2, 7}}, clear: []int32{1}, now: far, fired: []int32{0, 2}},
		{name: "clearing what is not set does nothing", set: []deadline{{0, 5}, {2, 6}}, clear: []int32{1, 99}, now: far, fired: []int32{0, 2}},
		{name: "deadlines before the epoch are deadlines", set: []deadline{{0, 0}, {1, -9}}, now: far, fired: []int32{1, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h timers.Heap
			for _, d := range test.set {
				h.Set(d.id, d.at)
			}
			for _, id := range test.clear {
				h.Clear(id)
			}
			require.Equal(t, test.fired, popAll(&h, test.now))
			require.Equal(t, test.left, h.Len())
		})
	}
}

func TestNextIsTheEarliestDeadline(t *testing.T) {
	var h timers.Heap
	_, ok := h.Next()
	require.False(t, ok)
	h.Set(4, 40)
	h.Set(2, 20)
	at, ok := h.Next()
	require.True(t, ok)
	require.EqualValues(t, 20, at)
	h.Clear(2)
	at, _ = h.Next()
	require.EqualValues(t, 40, at)
}

// sorted is the model: a map that is sorted again for every question.
type sorted map[int32]int64

func (s sorted) due(now int64) []int32 {
	var due []deadline
	for id, at := range s {
		if at <= now {
			due = append(due, deadline{id, at})
		}
	}
	slices.SortFunc(due, func(a, b deadline) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	var ids []int32
	for _, d := range due {
		ids = append(ids, d.id)
	}
	return ids
}

// compare plays steps against a heap and the model, two bytes a step.
func compare(t *testing.T, steps []byte) {
	var h timers.Heap
	model := sorted{}
	for i := 0; i+1 < len(steps); i += 2 {
		id, at := int32(steps[i]%64), int64(steps[i+1])
		switch {
		case steps[i] < 160:
			h.Set(id, at)
			model[id] = at
		case steps[i] < 240:
			h.Clear(id)
			delete(model, id)
		default:
			now := at / 2
			want := model.due(now)
			require.Equal(t, want, popAll(&h, now))
			for _, id := range want {
				delete(model, id)
			}
		}
		require.Equal(t, len(model), h.Len())
		requireSameHead(t, &h, model)
	}
	require.Equal(t, model.due(1000), popAll(&h, 1000))
}

func requireSameHead(t *testing.T, h *timers.Heap, model sorted) {
	t.Helper()
	at, ok := h.Next()
	require.Equal(t, len(model) > 0, ok)
	for _, other := range model {
		require.LessOrEqual(t, at, other)
	}
}

func TestHeapAgreesWithASortedMap(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		steps := make([]byte, 600)
		for i := range steps {
			steps[i] = byte(random.Uint32())
		}
		compare(t, steps)
	}
}

func FuzzHeapAgreesWithASortedMap(f *testing.F) {
	f.Add([]byte{1, 10, 2, 10, 161, 0, 250, 200})
	f.Fuzz(func(t *testing.T, steps []byte) { compare(t, steps[:min(len(steps), 2000)]) })
}

func TestAGrownHeapDoesNotAllocate(t *testing.T) {
	var h timers.Heap
	fill := func() {
		for id := range int32(1000) {
			h.Set(id, int64(id*7919%1000))
		}
		for id := int32(0); id < 1000; id += 2 {
			h.Clear(id)
		}
		for _, ok := h.PopDue(1000); ok; _, ok = h.PopDue(1000) {
		}
	}
	fill()
	require.Zero(t, testing.AllocsPerRun(10, fill))
}
