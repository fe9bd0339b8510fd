package member

import "iter"

// shelfRow is how many copies stand side by side.
const shelfRow = 64

// shelf keeps copies in rows that never move: one slice would be copied whole whenever it grows, which for 1 400 copies
// is 370 bytes for each that a storm adds. Where one is taken out a gap remains, for the next that comes.
type shelf struct {
	rows []*[shelfRow]copyState
	n    int // places that are, or were, taken
	gaps []int
}

func (s *shelf) at(i int) *copyState { return &s.rows[i/shelfRow][i%shelfRow] }

// add puts a copy into a gap, or else at the end, and returns its index.
func (s *shelf) add(c copyState) (i int) {
	if last := len(s.gaps) - 1; last >= 0 {
		i, s.gaps = s.gaps[last], s.gaps[:last]
	} else {
		i = s.n
		s.n++
	}
	if i == len(s.rows)*shelfRow {
		s.rows = append(s.rows, new([shelfRow]copyState))
	}
	*s.at(i) = c
	return i
}

// take takes a copy out.
func (s *shelf) take(i int) copyState {
	c := *s.at(i)
	*s.at(i) = copyState{}
	s.gaps = append(s.gaps, i)
	return c
}

// all visits the copies in the order of their places.
func (s *shelf) all() iter.Seq[*copyState] {
	return func(yield func(*copyState) bool) {
		for i := range s.n {
			if c := s.at(i); c.binding != "" && !yield(c) {
				return
			}
		}
	}
}
