package journal

import (
	"strings"
	"unicode"

	"github.com/rs/zerolog"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// Log writes the fact that a phrase tells as one line. The message is constant per kind of fact; what varies is in the
// fields cluster, binding, object, policy, taint, from, to, after, err, seq and at; because has the
// reason in words. Facts that follow from others are debug, what degrades is warn, the rest info.
func (p Phrase) Log(log *zerolog.Logger, e *Entry) {
	ev := log.WithLevel(p.Level)
	if !ev.Enabled() {
		return
	}
	fields(ev, e.Fact, p.subject)
	if p.why != "" {
		ev.Str("because", p.why)
	}
	ev.Uint64("seq", e.Seq).Time("at", e.At).Msg(message(e.Fact.Kind()))
}

// fields adds what a fact is about and what it changes.
func fields(ev *zerolog.Event, f messages.Fact, subject string) {
	binding, ofBinding := f.(messages.AboutBinding)
	cluster, ofCluster := f.(messages.AboutCluster)
	if ofBinding {
		ev.Str("binding", string(binding.AboutBinding()))
	}
	if ofCluster {
		ev.Str("cluster", string(cluster.AboutCluster()))
	}
	if !ofBinding && !ofCluster {
		ev.Str("object", subject)
	}
	changes(ev, f)
}

func changes(ev *zerolog.Event, f messages.Fact) {
	switch f := f.(type) {
	case *messages.TaintAdded:
		ev.Str("taint", taint.String(&f.Taint)).Str("policy", f.Cause.Policy)
	case *messages.TaintAdopted:
		ev.Str("taint", taint.String(&f.Taint)).Str("policy", f.Cause.Policy)
	case *messages.TaintSpared:
		ev.Str("taint", taint.String(&f.Taint)).Str("policy", string(f.Policy))
	case *messages.TaintsPreviewed:
		ev.Str("policy", f.Policy)
	case *messages.TaintRemoved:
		ev.Str("taint", taint.String(&f.Taint)).Str("policy", f.Cause.Policy)
	case *messages.WorkloadsStay:
		if f.Reason != "" {
			ev.Str("because", f.Reason)
		}
	case *messages.PolicyIgnored:
		ev.Str("policy", string(f.Policy))
	case *messages.ReadyObserved:
		ev.Str("to", "Ready="+string(f.Status))
	case *messages.ConditionChanged:
		ev.Str("to", f.Type+"="+string(f.Status))
	case *messages.Scheduled:
		ev.Str("from", placed(f.Before)).Str("to", placed(f.Clusters))
	case *messages.ScheduleFailed:
		ev.Str("from", placed(f.Before)).Str("err", f.Reason)
	case *messages.EvictionEnded:
		ev.Stringer("after", f.After)
	case *messages.PurgeOvertaken:
		ev.Stringer("after", f.After)
	case *messages.PodEvictionScheduled:
		ev.Str("taint", taint.String(&f.Taint))
	case *messages.PodEvicted:
		ev.Str("taint", taint.String(&f.Taint))
	case *messages.PodEvictionFailed:
		ev.Str("err", f.Error)
	case *messages.PodBound:
		ev.Str("to", string(f.Node))
	case *messages.PodPhaseChanged:
		ev.Str("to", string(f.Phase)).Bool("ready", f.Ready)
	case *messages.NodeConditionChanged:
		ev.Str("to", string(f.Type)+"="+string(f.Status))
	case *messages.NodeTaintAdded:
		ev.Str("taint", taint.String(&f.Taint))
	case *messages.NodeTaintRemoved:
		ev.Str("taint", taint.String(&f.Taint))
	case *messages.NodeTaintQueued:
		ev.Str("taint", taint.String(&f.Taint))
	case *messages.ZoneStateChanged:
		ev.Str("to", f.State)
	case *messages.Scaled:
		ev.Int32("from", f.Before).Int32("to", f.Replicas)
	case *messages.SettingChanged:
		ev.Str("from", f.From).Str("to", f.To)
	}
}

// message turns a fact's kind into words: "EvictionStarted" into "eviction started".
func message(kind string) string {
	var words strings.Builder
	for i, r := range kind {
		if i > 0 && unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}
