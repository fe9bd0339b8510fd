package member

import (
	"fmt"
	"time"

	"leeward/actors/rules/draw"
	"leeward/messages"
)

// startup is the instant at which a copy's replicas will all serve.
type startup struct {
	at      time.Time
	binding messages.BindingName
}

// startup is how long a copy takes to become healthy here: anywhere between the bounds, in steps of a
// millisecond, always the same for one seed, binding, cluster and size.
func (m *Member) startup(c *copyState) time.Duration {
	if m.behaviour.StartupMax <= m.behaviour.StartupMin {
		return m.behaviour.StartupMin
	}
	number := draw.Hash(0, fmt.Sprintf("%d/%s/%s/%d", m.seed, m.cluster, c.binding, c.replicas))
	return draw.Between(number, m.behaviour.StartupMin, m.behaviour.StartupMax)
}

// starting is a heap of start-ups, the next one first; those of one instant in order of their names.
type starting []startup

// next is the instant of the next start-up; zero: none.
func (s starting) next() time.Time {
	if len(s) == 0 {
		return time.Time{}
	}
	return s[0].at
}

func (s starting) Len() int { return len(s) }

func (s starting) Less(i, j int) bool {
	if !s[i].at.Equal(s[j].at) {
		return s[i].at.Before(s[j].at)
	}
	return s[i].binding < s[j].binding
}

func (s starting) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push is for package heap.
func (s *starting) Push(x any) { *s = append(*s, x.(startup)) }

// Pop is for package heap.
func (s *starting) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}
