package journal

import (
	"strings"
	"time"

	"github.com/rs/zerolog"

	"leeward/messages"
	"leeward/runtime/fleet/span"
)

// Phrase is a fact in words, cut where the columns of a transcript are: "nginx | evicting from | member2 |
// taint failed:NoExecute; not tolerated".
type Phrase struct {
	// Level is Warn where something is degraded, Info where something changed, and Debug for what
	// follows from a change told already: timelines omit that.
	Level   zerolog.Level
	subject string
	verb    string
	what    string
	// why gives the reason; empty where the fact is its own reason.
	why string
}

func detail(verb, what, why string) Phrase  { return Phrase{zerolog.DebugLevel, "", verb, what, why} }
func change(verb, what, why string) Phrase  { return Phrase{zerolog.InfoLevel, "", verb, what, why} }
func warning(verb, what, why string) Phrase { return Phrase{zerolog.WarnLevel, "", verb, what, why} }

func (p Phrase) about(subject string) Phrase {
	p.subject = subject
	return p
}

// Text is the fact with its reason on one line: "nginx evicting from member2: taint failed:NoExecute; not tolerated".
func (p Phrase) Text() string {
	return Printable(joined(": ", joined(" ", p.subject, p.verb, p.what), p.why))
}

// Without is the fact without its reason: "nginx evicting from member2".
func (p Phrase) Without() string { return Printable(joined(" ", p.subject, p.verb, p.what)) }

// Tell puts one fact into words. Instants count from start; with a zero start they are absolute.
func Tell(start time.Time, f messages.Fact) Phrase { return teller{start}.tell(f) }

// teller puts facts into words. Instants count from start; with a zero start they are absolute.
type teller struct{ start time.Time }

// tell returns a fact's phrase; one without a verb is a fact that has no words yet.
func (t teller) tell(f messages.Fact) Phrase {
	switch f := f.(type) {
	case messages.AboutBinding:
		return t.tellBinding(f).about(string(f.AboutBinding()))
	case messages.AboutCluster:
		return t.tellCluster(f).about(string(f.AboutCluster()))
	case messages.AboutPod:
		return t.tellPod(f).about("pod " + string(f.AboutPod()))
	case messages.AboutNode:
		return t.tellNode(f).about("node " + string(f.AboutNode()))
	case *messages.ZoneStateChanged:
		return zoneState(f)
	case *messages.DisruptionChanged:
		return disruption(f)
	case *messages.GovernorChanged:
		return t.governed(f)
	case *messages.BreakerChanged:
		return t.broke(f)
	case *messages.EvictionsPermitted:
		return permitted(f)
	case *messages.HoldPlaced:
		return t.holdPlaced(f)
	case *messages.HoldEnded:
		return holdEnded(f)
	case *messages.ReleaseGranted:
		return change("released", "from all limits", f.Reason).about(string(f.Binding))
	case *messages.ReleaseEnded:
		return change("release ended", "", "all limits apply again").about(string(f.Binding))
	case *messages.BudgetChanged:
		return budget(f)
	case *messages.PodBudgetChanged:
		return podBudget(f)
	default:
		return tellInput(f)
	}
}

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
