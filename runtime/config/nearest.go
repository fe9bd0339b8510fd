package config

import "strings"

// didYouMean returns "; did you mean x?" for the name most like a word, or "".
func didYouMean(word string, names []string) string {
	best, most := "", 0.5
	for _, name := range names {
		if l := likeness(squash(word), squash(name)); l > most {
			best, most = name, l
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// squash leaves only what a camelCase field, a flag and a Go field have in common.
func squash(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// likeness is the share of adjacent letter pairs that two words have in common: 1 for the same word,
// 0 for none. It bears missing and swapped parts, of which these long names have many.
func likeness(a, b string) float64 {
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[a[i:i+2]]++
	}
	shared := 0
	for i := range len(b) - 1 {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(max(1, len(a)+len(b)-2))
}
