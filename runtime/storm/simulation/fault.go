package simulation

import (
	"maps"
	"time"
)

// fault is what goes wrong with the engine itself, its clock, or what it hears of some clusters.
func (d dice) fault(at time.Duration, on mapping) mapping {
	switch d.IntN(7) {
	case 0, 1, 2:
		return step(at, "crash", d.crash())
	case 3:
		return step(at, "clock", mapping{pick(d, "ahead", "back"): text(d.seconds(1, 600))})
	case 4, 5:
		return step(at, "reports", d.disturbance(on))
	default:
		return step(at, "rebootNodes", on)
	}
}

// crash lets the engine die within what an instant takes, and be back immediately or later.
func (d dice) crash() mapping {
	c := mapping{"after": d.between(0, 80)}
	if d.chance(50) {
		c["for"] = text(d.seconds(1, 600))
	}
	return c
}

func (d dice) disturbance(on mapping) mapping {
	r := maps.Clone(on)
	r["fault"], r["for"] = pick(d, "lost", "delayed", "duplicated", "reordered"), text(d.seconds(10, 900))
	if r["fault"] != "lost" {
		r["by"] = text(d.seconds(1, 90))
	}
	return r
}
