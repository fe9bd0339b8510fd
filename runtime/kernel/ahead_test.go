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

// far counts how often it is read ahead.
type far struct{ reads, turns int }

func (f *far) ReadAhead() int {
	f.reads++
	return f.reads
}

func (f *far) Receive(time.Time, messages.ToBinding, *actors.Outbox) { f.turns++ }

func TestALaneReadsAhead(t *testing.T) {
	for _, c := range []struct {
		name  string
		order kernel.Order
		ready int
		reads int // of all together
	}{
		{"where many have mail, each before its turn", kernel.FIFO, 64, 64},
		{"not where few have", kernel.FIFO, 15, 0},
		{"not where a seed says whose turn is next", kernel.Seeded, 64, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLane(t, kernel.Config{Order: c.order})
			machines := make([]far, c.ready)
			for i := range machines {
				a := binding(fmt.Sprint(i))
				require.NoError(t, kernel.Host(l.Kernel, a, &machines[i]))
				l.post(a, "ball")
			}
			l.run(0)
			reads := 0
			for _, m := range machines {
				require.Equal(t, 1, m.turns)
				reads += m.reads
			}
			require.Equal(t, c.reads, reads)
		})
	}
}
