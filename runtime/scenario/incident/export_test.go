package incident

import "leeward/messages"

// Follow takes in how one binding went from placement to placement, in order of time.
func (all Evictions) Follow(name messages.BindingName, placements []PlacementAt) {
	d := all.of(name, PlacementAt{})
	for _, p := range placements {
		d.add(p)
	}
}
