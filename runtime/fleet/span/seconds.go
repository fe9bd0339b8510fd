package span

import (
	"encoding/json"
	"time"
)

// Seconds is a length of virtual time, which JSON has in seconds.
type Seconds time.Duration

// Length is the time itself.
func (s Seconds) Length() time.Duration { return time.Duration(s) }

// MarshalJSON writes seconds.
func (s Seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }
