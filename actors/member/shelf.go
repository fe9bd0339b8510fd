package member

// shelfRow is how many copies stand side by side.
const shelfRow = 64

// shelf keeps copies in rows that never move: one slice would be copied whole whenever it grows, which for 1 400 copies
// is 370 bytes for each that a storm adds.
type shelf struct {
	rows []*[shelfRow]copyState
	n    int
}

func (s *shelf) at(i int) *copyState { return &s.rows[i/shelfRow][i%shelfRow] }

// add puts a copy at the end and returns its index.
func (s *shelf) add(c copyState) int {
	if s.n == len(s.rows)*shelfRow {
		s.rows = append(s.rows, new([shelfRow]copyState))
	}
	s.n++
	*s.at(s.n - 1) = c
	return s.n - 1
}

// take takes a copy out. The last one, if it is another, moves to its index.
func (s *shelf) take(i int) (c copyState, moved bool) {
	last := s.at(s.n - 1)
	c = *s.at(i)
	*s.at(i) = *last
	*last = copyState{}
	s.n--
	return c, i < s.n
}
