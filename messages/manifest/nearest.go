package manifest

import "strings"

// nearest returns the name that was most likely meant by word: the first of those fewest edits away,
// within a limit. Letter case does not count. Empty: none is near.
func nearest(word string, names []string, limit int) string {
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
