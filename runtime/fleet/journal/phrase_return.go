package journal

import (
	"leeward/messages"
	"leeward/runtime/fleet/span"
)

// tellReturn has the words for failback, and for clusters that are scaled down gracefully.
func (t teller) tellReturn(f messages.AboutBinding) Phrase {
	switch f := f.(type) {
	case *messages.FailbackScheduled:
		return change("failback scheduled", "to "+f.Affinity, "for "+t.at(f.At)+", if the affinity group can take the workload until then")
	case *messages.FailbackCancelled:
		return change("failback cancelled", "", "no earlier affinity group can take the workload")
	case *messages.FailbackStarted:
		return returns(f)
	case *messages.FailbackTargetsChanged:
		return home(f)
	case *messages.ScaleDownBlocked:
		return change("scale-down blocked", targets(f.Clusters), "until the other copies are available")
	case *messages.ScaleDownEnded:
		return change("scaled down", "", outcome(f.Reason, span.String(f.After)))
	}
	return Phrase{}
}

func returns(f *messages.FailbackStarted) Phrase {
	if len(f.Clusters) > 0 {
		return change("failback", "to "+targets(f.Clusters), "stable for the time that the policy asks for")
	}
	return change("failback", "to "+f.Affinity, "stable for the time that the policy asks for")
}

func home(f *messages.FailbackTargetsChanged) Phrase {
	if len(f.Clusters) == 0 {
		return detail("no failback", "", "")
	}
	return detail("may fail back", "to "+targets(f.Clusters), "")
}
