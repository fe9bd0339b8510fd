package storm

import (
	"fmt"
	"strconv"
	"strings"
)

// Mix is what a fleet's workloads are of, each kind with its weight: "dynamic=3,duplicated=1", or one kind alone.
type Mix []Part

// Part is one kind of a mix.
type Part struct {
	Kind   string
	Weight int
}

// ParseMix reads a mix of kinds that are known. The error names the part.
func ParseMix(text string, known func(kind string) error) (Mix, error) {
	var m Mix
	for part := range strings.SplitSeq(text, ",") {
		kind, weight, weighted := strings.Cut(part, "=")
		if err := known(kind); err != nil {
			return nil, err
		}
		p := Part{Kind: kind, Weight: 1}
		if weighted {
			n, err := strconv.Atoi(weight)
			if err != nil || n < 1 || n > mostWeight {
				return nil, fmt.Errorf("the weight of %s must be a whole number from 1 to %d, not %q", kind, mostWeight, weight)
			}
			p.Weight = n
		}
		m = append(m, p)
	}
	return m, nil
}

const mostWeight = 1_000_000

// String returns the mix as ParseMix reads it.
func (m Mix) String() string {
	parts := make([]string, len(m))
	for i, p := range m {
		parts[i] = p.Kind
		if p.Weight != 1 {
			parts[i] += "=" + strconv.Itoa(p.Weight)
		}
	}
	return strings.Join(parts, ",")
}

// pick returns the index of the part that a number, any number, falls to.
func (m Mix) pick(n uint64) int {
	sum := 0
	for _, p := range m {
		sum += p.Weight
	}
	rest := int(n % uint64(sum))
	for i, p := range m {
		if rest -= p.Weight; rest < 0 {
			return i
		}
	}
	panic(fmt.Sprintf("storm: %d falls to no part of %s", n, m))
}
