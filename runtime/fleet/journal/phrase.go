package journal

import (
	"time"

	"github.com/rs/zerolog"

	"leeward/messages"
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
