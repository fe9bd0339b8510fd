package spelling

import "strconv"

// Count is a number of things in words: "1 cluster", "3 clusters". The second word is for several, where that is not the first with an s.
func Count(n int, one string, many ...string) string {
	return strconv.Itoa(n) + " " + Plural(n, one, many...)
}

// Plural is the word for a number of things.
func Plural(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return one
	case len(many) > 0:
		return many[0]
	}
	return one + "s"
}
