package member

import (
	"time"

	"leeward/messages"
)

// startup is a copy that will serve with so many replicas at an instant.
type startup struct {
	at       time.Time
	binding  messages.BindingName
	replicas int32
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
