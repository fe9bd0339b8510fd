package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of what one pattern may expand to, so that a slip of the pen does not fill memory. A name of
// Kubernetes has at most 253 characters.
const (
	mostNames      = 10_000
	longestPattern = 253
)

// ExpandBraces returns the names that a pattern means, leftmost brace slowest: "a{1..3}" is a1,
// a2, a3; "a{01..10}" pads with zeros; "{eu,us}-{1..2}" is eu-1, eu-2, us-1, us-2. Errors: a brace that
// is open, nested or empty, a range that runs backwards, more than 10000 names.
func ExpandBraces(pattern string) ([]string, error) {
	if len(pattern) > longestPattern {
		return nil, fmt.Errorf("is longer than %d characters", longestPattern)
	}
	names := []string{""}
	for rest := pattern; rest != ""; {
		before, inside, after, err := cutBrace(rest)
		if err != nil {
			return nil, err
		}
		words, err := alternatives(inside)
		if err != nil {
			return nil, err
		}
		if len(names)*len(words) > mostNames {
			return nil, tooMany()
		}
		names = cross(names, before, words)
		rest = after
	}
	return names, nil
}

// cutBrace splits a pattern around its first brace; inside is empty where there is none.
func cutBrace(s string) (before, inside, after string, err error) {
	before, rest, found := strings.Cut(s, "{")
	if strings.Contains(before, "}") {
		return "", "", "", errors.New("closes a brace that it did not open")
	}
	if !found {
		return before, "", "", nil
	}
	inside, after, found = strings.Cut(rest, "}")
	switch {
	case !found:
		return "", "", "", errors.New("does not close its brace")
	case strings.Contains(inside, "{"):
		return "", "", "", errors.New("must not put a brace into a brace")
	case inside == "":
		return "", "", "", errors.New("has an empty brace")
	}
	return before, inside, after, nil
}

// alternatives returns what is inside a brace: the numbers of a range or the words of a list.
func alternatives(inside string) ([]string, error) {
	first, last, isRange := strings.Cut(inside, "..")
	if !isRange {
		return strings.Split(inside, ","), nil
	}
	low, errLow := strconv.ParseUint(first, 10, 32)
	high, errHigh := strconv.ParseUint(last, 10, 32)
	switch {
	case errLow != nil || errHigh != nil:
		return nil, fmt.Errorf("has a range {%s} that is not {number..number}", inside)
	case low > high:
		return nil, fmt.Errorf("has a range {%s} that runs backwards", inside)
	case high-low >= mostNames:
		return nil, tooMany()
	}
	width := 0
	if strings.HasPrefix(first, "0") {
		width = len(first)
	}
	words := make([]string, 0, high-low+1)
	for n := low; n <= high; n++ {
		words = append(words, fmt.Sprintf("%0*d", width, n))
	}
	return words, nil
}

func cross(names []string, before string, words []string) []string {
	all := make([]string, 0, len(names)*len(words))
	for _, name := range names {
		for _, word := range words {
			all = append(all, name+before+word)
		}
	}
	return all
}

func tooMany() error { return fmt.Errorf("expands to more than %d names", mostNames) }
