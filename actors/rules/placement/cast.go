package placement

import "leeward/messages"

// role is the part that a cluster plays in a request.
type role uint16

const (
	kept      role = 1 << iota // it is in Previous
	departing                  // it is in Evicting
	resting                    // it is in Cooling
	joined                     // it is in Together
	shunned                    // it is in Apart
	full                       // it is in Full
	outgoing                   // it is in Leaving
	busy                       // it is in Busy
	untold                     // it is in Untold
)

// cast is the part that each cluster plays in the request at hand, by slot.
type cast struct {
	roles []role
	prev  []int32 // replicas
	turn  []int32 // index in Previous

	busy    []BusyCluster
	touched []int32 // slots with a role
}

// begin notes what part each cluster of a fleet plays in a request.
func (c *cast) begin(f *Fleet, r *Request) {
	if n := f.Len(); len(c.roles) != n {
		c.roles, c.prev, c.turn = make([]role, n), make([]int32, n), make([]int32, n)
	}
	slot := int32(-1)
	for i := range r.Previous {
		if slot = f.slot(r.Previous[i].Name, slot); slot >= 0 && c.roles[slot] == 0 {
			c.roles[slot] = kept
			c.prev[slot], c.turn[slot] = max(0, r.Previous[i].Replicas), int32(i)
			c.touched = append(c.touched, slot)
		}
	}
	c.playAll(f, r.Evicting, departing)
	c.playAll(f, r.Leaving, outgoing)
	c.playAll(f, r.Cooling, resting)
	c.playAll(f, r.Together, joined)
	c.playAll(f, r.Apart, shunned)
	c.playAll(f, r.Full, full)
	for _, name := range r.Untold {
		c.play(f, messages.ClusterName(name), untold)
	}
	c.busy = r.Busy
	for i := range r.Busy {
		c.play(f, r.Busy[i].Cluster, busy)
	}
}

// playAll gives clusters a role, as far as the fleet has them.
func (c *cast) playAll(f *Fleet, clusters []messages.ClusterName, part role) {
	for _, name := range clusters {
		c.play(f, name, part)
	}
}

func (c *cast) play(f *Fleet, name messages.ClusterName, part role) {
	if slot := f.slot(string(name), -1); slot >= 0 {
		c.roles[slot] |= part
		c.touched = append(c.touched, slot)
	}
}

// mostOn is how many copies a busy cluster may start, in words.
func (c *cast) mostOn(name messages.ClusterName) string {
	for i := range c.busy {
		if c.busy[i].Cluster == name {
			return c.busy[i].Most
		}
	}
	return ""
}

// end forgets the request.
func (c *cast) end() {
	for _, slot := range c.touched {
		c.roles[slot], c.prev[slot], c.turn[slot] = 0, 0, 0
	}
	c.touched = c.touched[:0]
}
