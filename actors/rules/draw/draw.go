// Package draw makes numbers that look random and follow from what they are for: the same in every run of a seed.
package draw

import "time"

// Hash folds a string into a seed with FNV-1a.
func Hash(seed uint64, s string) uint64 {
	h := seed ^ 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// Mix spreads the bits of x over all of it; different x give different results. Source: the finalizer of splitmix64.
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Between makes a span of a number: at least the one and at most the other, in steps of a millisecond from the least.
func Between(number uint64, least, most time.Duration) time.Duration {
	return least + time.Duration(number%uint64(most-least+1)).Truncate(time.Millisecond)
}
