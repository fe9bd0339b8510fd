package journal

import (
	"cmp"

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

// holdPlaced says whose evictions people have wait, until when, and why.
func (t teller) holdPlaced(f *messages.HoldPlaced) phrase {
	until := ""
	if !f.Until.IsZero() {
		until = "until " + t.at(f.Until)
	}
	if f.HoldScope == (messages.HoldScope{}) {
		return warning("paused", until, f.Reason).about("fleet")
	}
	return warning("on hold", until, f.Reason).about(heldSubject(f.HoldScope))
}

func holdEnded(f *messages.HoldEnded) phrase {
	if f.HoldScope == (messages.HoldScope{}) {
		return story("resumed", "", f.Reason).about("fleet")
	}
	return story("off hold", "", f.Reason).about(heldSubject(f.HoldScope))
}

func heldSubject(of messages.HoldScope) string { return cmp.Or(string(of.Binding), string(of.Cluster)) }
