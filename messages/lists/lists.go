// Package lists makes lists of lists.
package lists

// Of returns what a function makes of each element, in order; of no elements nil.
func Of[A, B any](all []A, each func(A) B) (made []B) {
	if len(all) > 0 {
		made = make([]B, len(all))
	}
	for i, a := range all {
		made[i] = each(a)
	}
	return made
}
