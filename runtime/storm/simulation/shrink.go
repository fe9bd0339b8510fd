package simulation

import "leeward/runtime/scenario/shrink"

// mostTries is when a case is small enough: most are as small as they get after some hundred, and one that goes
// round in circles takes long each time.
const mostTries = 400

// Shrink returns a case that breaks the same invariant with as little as it takes: parts are omitted, and numbers
// made smaller, as long as it does. A case without which the invariant holds, or that is no valid scenario, is no
// step. The case is taken apart: draw it again to have it.
func Shrink(c *Case, name string, try func(*Case) *Finding) *Case {
	shrink.Reduce([]*[]any{&c.Timeline, &c.Manifests, &c.Fleet, &c.Config}, mostTries, func() bool {
		f := try(c)
		return f != nil && f.Invariant == name
	})
	return c
}
