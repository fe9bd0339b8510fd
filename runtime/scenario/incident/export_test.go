package incident

import "leeward/messages"

// Follow takes in how one binding went from placement to placement, in order of time.
func (all Evictions) Follow(name messages.BindingName, placements []Placement) {
	d := all.of(name, Placement{})
	for _, p := range placements {
		d.add(p)
	}
}
