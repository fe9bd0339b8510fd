package journal

import (
	"strings"
	"time"

	"leeward/messages"
	"leeward/runtime/fleet/span"
)

// tellInput has the words for what comes from outside and for what is about no cluster or binding.
func tellInput(f any) Phrase {
	switch f := f.(type) {
	case *messages.ObjectApplied:
		return applied(f).about(f.Object)
	case *messages.ObjectDeleted:
		return change("deleted", "", "").about(f.Object)
	case *messages.ObjectExpired:
		return change("expired", "", span.String(f.After)+" after it was done").about(f.Object)
	case *messages.ObjectRejected:
		return warning("rejected", "", strings.Join(f.Problems, "; ")).about(f.Object)
	case *messages.Scaled:
		return change("scaled", rescaled(f.Before, f.Replicas), "").about(f.Object)
	case *messages.SettingChanged:
		return change("set to", f.To, wrap("was ", f.From, "")).about(f.Field)
	case *messages.Crashed:
		return warning("crashed", "", "messages under way are lost").about("engine")
	case *messages.ClockStepped:
		return stepped(f.By).about("clock")
	case *messages.Restarted:
		return warning("restarted", "", "recovers from the stored objects").about("engine")
	case *messages.OverridesAwaited:
		return awaited(f.Overrides).about("policy " + string(f.Policy))
	case *messages.PolicyIgnored:
		return warning("ignored", "", f.Reason).about("policy " + string(f.Policy))
	}
	return Phrase{}
}

func applied(f *messages.ObjectApplied) Phrase {
	if f.Created {
		return change("created", "", "")
	}
	return change("applied", "", "")
}

func stepped(by time.Duration) Phrase {
	if by < 0 {
		return warning("stepped", "back by "+span.String(-by), "no time passes until then")
	}
	return warning("stepped", "ahead by "+span.String(by), "what came due meanwhile is due now")
}

func awaited(overrides []string) Phrase {
	if len(overrides) == 0 {
		return change("waits no longer", "", "all overrides that it depends on exist")
	}
	return change("waits", "for "+strings.Join(overrides, ", "), "nothing is placed before these overrides exist")
}
