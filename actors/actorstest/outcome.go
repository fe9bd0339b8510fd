package actorstest

import (
	"cmp"
	"fmt"
	"slices"

	"leeward/messages"
)

// Outcome is what of a step may not depend on the order in which messages came.
type Outcome struct {
	// Facts are all that were recorded, sorted.
	Facts []messages.Fact
	// Last is the last that each actor outside was told: what came before it is overtaken.
	Last map[messages.Address]messages.Message
}

// Outcome returns what this step came to.
func (n *Network) Outcome() Outcome {
	o := Outcome{Facts: slices.Clone(n.facts), Last: map[messages.Address]messages.Message{}}
	slices.SortStableFunc(o.Facts, func(a, b messages.Fact) int { return cmp.Compare(printed(a), printed(b)) })
	for _, m := range n.mail {
		o.Last[m.To] = m.Message
	}
	return o
}

func printed(f messages.Fact) string { return fmt.Sprintf("%s %+v", f.Kind(), f) }
