package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
	"leeward/runtime/kernel"
)

// far is a machine that notes before which turn of all it was read ahead, and which was its own.
type far struct {
	turns     *int
	read, own int
}

func (f *far) ReadAhead() int {
	f.read = *f.turns + 1
	return f.read
}

func (f *far) Receive(time.Time, messages.ToBinding, *actors.Outbox) {
	*f.turns++
	f.own = *f.turns
}

func TestALaneReadsAhead(t *testing.T) {
	for _, c := range []struct {
		name  string
		order kernel.Order
		ready int
		least int // of them, that are read in the 16 turns before their own
		most  int
	}{
		{"where many have mail, each before its turn", kernel.FIFO, 64, 64, 64},
		{"not where few have", kernel.FIFO, 15, 0, 0},
		{"where a seed says whose turn is next, nearly each", kernel.Seeded, 1024, 950, 1024 - 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLane(t, kernel.Config{Order: c.order})
			turns := 0
			machines := make([]far, c.ready)
			for i := range machines {
				machines[i].turns = &turns
				a := binding(fmt.Sprint(i))
				require.NoError(t, kernel.Host(l.Kernel, a, &machines[i]))
				l.post(a, "ball")
			}
			l.run(0)
			ahead := 0
			for _, m := range machines {
				require.NotZero(t, m.own)
				if m.read > 0 && m.own-m.read < 16 {
					ahead++
				}
			}
			require.GreaterOrEqual(t, ahead, c.least)
			require.LessOrEqual(t, ahead, c.most)
		})
	}
}
