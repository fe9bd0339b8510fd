package journal

import (
	"leeward/messages"
	"leeward/runtime/scenario/span"
)

// tellReturn has the words for the way back, and for clusters that shrink gracefully.
func (t teller) tellReturn(f messages.AboutBinding) Phrase {
	switch f := f.(type) {
	case *messages.ReturnPlanned:
		return story("will return", "to "+f.Affinity, "at "+t.at(f.At)+" if it can take the workload until then")
	case *messages.ReturnDropped:
		return story("stays", "away", "no earlier affinity group can take the workload")
	case *messages.ReturnStarted:
		return returns(f)
	case *messages.HomeChanged:
		return home(f)
	case *messages.ShrinkHeld:
		return story("keeps", targets(f.Clusters), "until the others serve")
	case *messages.ShrinkReleased:
		return story("shrinks", "to its shares", outcome(f.Reason, span.String(f.After)))
	}
	return Phrase{}
}

func returns(f *messages.ReturnStarted) Phrase {
	if len(f.Clusters) > 0 {
		return story("returns", "to "+targets(f.Clusters), "able to take it for long enough")
	}
	return story("returns", "to "+f.Affinity, "it has been able to take the workload for long enough")
}

func home(f *messages.HomeChanged) Phrase {
	if len(f.Clusters) == 0 {
		return detail("at home", "", "nothing is to return")
	}
	return detail("away", "from "+targets(f.Clusters), "where it may return to")
}
