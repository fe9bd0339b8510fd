package messages

import "time"

// GovernorChanged says that evictions from a region, or from the fleet where no region is named, are governed
// otherwise from now on.
type GovernorChanged struct {
	Region  string `json:"region,omitempty"`
	State   string `json:"state"`
	Message string `json:"message"`
	// EvictionsPerSecond is the rate that the state sets; zero: nothing is evicted; nil: it sets none.
	EvictionsPerSecond *float64 `json:"evictionsPerSecond,omitempty"`
	// Until is when the state ends by itself; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

func (*GovernorChanged) Kind() string { return "GovernorChanged" }
