package journal

import (
	"leeward/messages"
)

// governed says how evictions from the fleet, or from a region, are governed from now on. What slows them is
// a warning.
func (t teller) governed(f *messages.GovernorChanged) phrase {
	subject, until := "fleet", ""
	if f.Region != "" {
		subject = "region " + f.Region
	}
	if !f.Until.IsZero() {
		until = "until " + t.at(f.Until)
	}
	say := story
	if f.EvictionsPerSecond != nil {
		say = warning
	}
	return say("state", f.State, joined(", ", f.Message, until)).about(subject)
}
