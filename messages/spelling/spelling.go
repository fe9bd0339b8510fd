// Package spelling guesses which name was meant by one that is not known, and writes several names, or a number of things. Pure functions of values.
package spelling

import (
	"strconv"
	"strings"
)

// Hint returns "; did you mean x?" for the name that was most likely meant by a word, or "".
func Hint(word string, names []string) string {
	if name := Meant(word, names); name != "" {
		return "; did you mean " + name + "?"
	}
	return ""
}

// Meant returns the name that was most likely meant by a word, as one that people mistyped, omitted a part of
// out of, or wrote as a flag; empty: none is like it.
func Meant(word string, names []string) string {
	if name := Slip(word, names, len(word)/3); name != "" {
		return name
	}
	best, most := "", 0.5
	for _, name := range names {
		if l := likeness(squash(word), squash(name)); l > most {
			best, most = name, l
		}
	}
	return best
}

// Slip returns the first of the names that are fewest edits away from a word, within a limit; empty: none is
// near. Letter case does not count.
func Slip(word string, names []string, limit int) string {
	best, fewest := "", limit+1
	for _, name := range names {
		if e := edits(strings.ToLower(word), strings.ToLower(name)); e < fewest {
			best, fewest = name, e
		}
	}
	return best
}

// edits counts the letters to insert, delete, replace or swap to get from a to b.
func edits(a, b string) int {
	older, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range b {
			replace := last[j]
			if a[i] != b[j] {
				replace++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, last = last, row
	}
	return last[len(b)]
}

// squash leaves only what a camelCase field, a flag and a Go field have in common.
func squash(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// likeness is the share of adjacent letter pairs that two words have in common: 1 for the same word,
// 0 for none. It accepts missing and swapped parts, of which long names have many.
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

// Count is a number of things in words: "1 cluster", "3 clusters". The second word is for several, where that is not the first with an s.
func Count[N int | int32 | int64](n N, one string, many ...string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Plural(int(n), one, many...)
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

// Few names some of several, with commas, and counts the others: "a, b and 3 more".
func Few(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(len(names)-most) + " more"
}
