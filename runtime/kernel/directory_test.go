package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestACellFillsACacheLine(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Sizeof(cell{}))
}

// TestDirectoryAgreesWithAMap lets actors come and go among more addresses than the directory starts
// with, and asks for all of them.
func TestDirectoryAgreesWithAMap(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		var cells slab
		d := newDirectory(&cells)
		model := map[messages.Address]int32{}
		for range 1000 {
			a := messages.Address{Kind: messages.Kind(random.IntN(3)), Name: fmt.Sprint(random.IntN(60))}
			if id, ok := model[a]; ok {
				d.remove(a)
				cells.remove(id)
				delete(model, a)
			} else {
				model[a] = cells.add(cell{kind: a.Kind, name: a.Name})
				d.enter(a, model[a])
			}
			if random.IntN(20) == 0 {
				requireSameDirectory(t, model, &d)
			}
		}
		requireSameDirectory(t, model, &d)
		require.LessOrEqual(t, int(cells.used), 180, "slots are used again")
		require.Equal(t, len(model), cells.live())
	}
}

func requireSameDirectory(t *testing.T, model map[messages.Address]int32, d *directory) {
	t.Helper()
	require.Equal(t, len(model), d.n)
	for kind := range messages.Kind(3) {
		for name := range 60 {
			a := messages.Address{Kind: kind, Name: fmt.Sprint(name)}
			id, ok := d.find(a)
			want, there := model[a]
			if ok != there || ok && id != want {
				require.FailNow(t, "directory and map disagree", "%s: %d %t, want %d %t", a, id, ok, want, there)
			}
		}
	}
}

// TestDirectoryFindsWhatProbesPastTheEnd empties a directory that is as full as it gets, one by one.
func TestDirectoryFindsWhatProbesPastTheEnd(t *testing.T) {
	var cells slab
	d := newDirectory(&cells)
	for i := range 12 {
		a := messages.Address{Name: fmt.Sprint(i)}
		d.enter(a, cells.add(cell{name: a.Name}))
	}
	require.Len(t, d.entries, 16, "three quarters full, every gap counts")
	for i := range 12 {
		d.remove(messages.Address{Name: fmt.Sprint(i)})
		for j := i + 1; j < 12; j++ {
			id, ok := d.find(messages.Address{Name: fmt.Sprint(j)})
			require.True(t, ok)
			require.EqualValues(t, j, id)
		}
	}
	require.Equal(t, make([]entry, 16), d.entries)
}

func TestReadyListHandsOutEachOnce(t *testing.T) {
	for _, order := range []Order{FIFO, Seeded} {
		r := newReadyList(order, 1)
		var got []int32
		for i := range int32(100) {
			r.push(i)
			if i%3 == 0 {
				got = append(got, r.pop())
			}
		}
		for r.n > 0 {
			got = append(got, r.pop())
		}
		require.Len(t, got, 100)
		seen := map[int32]bool{}
		for i, id := range got {
			seen[id] = true
			require.True(t, order == Seeded || id == int32(i), "FIFO keeps the order")
		}
		require.Len(t, seen, 100)
	}
}

func TestLettersAreUsedAgain(t *testing.T) {
	var l letters
	var a, b mailbox
	for range 100 {
		l.push(&a, woken, noSender)
		l.push(&b, &bomb{}, noSender)
		l.push(&a, &bomb{}, noSender)
		require.IsType(t, &messages.Woken{}, l.first(a))
		l.pop(&a)
		require.IsType(t, &bomb{}, l.first(a))
		require.EqualValues(t, 1, l.drop(&a))
		require.EqualValues(t, 1, l.drop(&b))
		require.True(t, a.empty() && b.empty())
		require.Zero(t, l.queued)
	}
	require.Len(t, l.pool, 4)
	for _, letter := range l.pool {
		require.Nil(t, letter.message, "a free letter keeps no message alive")
	}
}
