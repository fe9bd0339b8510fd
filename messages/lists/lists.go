// Package lists makes lists of lists.
package lists

// Of returns what a function makes of each element, in order; nil of nil.
func Of[A, B any](all []A, each func(A) B) (made []B) {
	if all != nil {
		made = make([]B, len(all))
	}
	for i, a := range all {
		made[i] = each(a)
	}
	return made
}
