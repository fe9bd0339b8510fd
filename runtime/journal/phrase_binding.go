package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario/span"
)

// tellBinding has the words for a binding's life, and leaves its moves and its copies to two others.
func (t teller) tellBinding(f messages.AboutBinding) Phrase {
	switch f := f.(type) {
	case *messages.BindingCreated:
		return claimed(f)
	case *messages.RequirementChanged:
		return required(f)
	case *messages.BindingUpdated:
		return story("updated", strings.Join(f.Changed, ", "), joined(", ", wrap("by ", f.Policy, ""), replicas(f.Replicas)))
	case *messages.ActivationDeferred:
		return story("waits", "for a change", "by "+f.Policy+", which is Lazy: it counts when the resource changes")
	case *messages.BindingDeleted:
		return story("deleted", "", "")
	case *messages.RescheduleRequested:
		return story("reschedule", "asked", "by "+f.By)
	case *messages.Scheduled:
		return scheduled(f)
	case *messages.PlacementConfirmed:
		return detail("stays", "where it is", "")
	case *messages.ScheduleFailed:
		return unscheduled(f)
	case messages.AboutCluster:
		return t.tellMove(f)
	}
	return t.tellReturn(f)
}

// tellMove has the words for leaving a cluster, from the countdown to the hand-over.
func (t teller) tellMove(f messages.AboutCluster) Phrase {
	switch f := f.(type) {
	case *messages.CountdownStarted:
		return story("will leave", string(f.Cluster), "at "+t.at(f.Grounds.Deadline)+": "+t.grounds(&f.Grounds, "is"))
	case *messages.CountdownStopped:
		return story("may stay", "on "+string(f.Cluster), f.Reason)
	case *messages.EvictionHeld:
		return warning("held", "on "+string(f.Cluster), joined("; ", joined(": ", f.Reason, joined(", ", clause(f.Message), t.until(f.Until))), t.grounds(&f.Grounds, "was")))
	case *messages.EvictionStarted:
		return story("leaves", string(f.Cluster)+purge(&f.Task), joined("; ", t.grounds(&f.Grounds, "was"), clause(f.Task.Message)))
	case *messages.EvictionEnded:
		return story("left", string(f.Cluster), ended(f))
	case *messages.EvictionWithdrawn:
		return story("returns", "to "+string(f.Cluster), joined("; ", f.Reason, "runs on "+targets(f.Clusters)))
	case *messages.ReplicasReleased:
		return story("hands over", "from "+string(f.Cluster), joined("; ", rescaled(f.Before, f.Replicas), f.Reason))
	case *messages.ReleaseHeld:
		return warning("kept", "on "+string(f.Cluster), f.Message)
	case *messages.BudgetExceeded:
		return warning("exceeds", "budget "+string(f.Budget)+" on "+string(f.Cluster), joined("; ", "allowed by "+f.AllowedBy+": "+f.Reason, f.Message))
	case *messages.BindingDescheduled:
		return story("gives up", "on "+string(f.Cluster), rescaled(f.Before, f.Replicas)+": no room for the others "+t.since(f.Since))
	case *messages.OriginalKept:
		return story("back", "on "+string(f.Cluster), "its old copy runs on until it is judged")
	case *messages.OriginalReleased:
		return story("not back", "on "+string(f.Cluster), f.Message)
	case *messages.ShareReturnPlanned:
		return story("will return", "to "+string(f.Cluster), "at "+t.at(f.At)+" if it can take its share until then")
	case *messages.ShareReturnDropped:
		return story("stays", "away", string(f.Cluster)+" cannot take its share")
	case *messages.PurgeOvertaken:
		return warning("waits no more", "for "+string(f.Cluster), "after "+span.String(f.After)+": its copy may still run there")
	}
	return t.tellCopy(f)
}

// tellCopy has the words for what members do and report.
func (t teller) tellCopy(f messages.AboutCluster) Phrase {
	switch f := f.(type) {
	case *messages.CopyStarted:
		return detail("starts", "on "+string(f.Cluster), joined(" ", replicas(f.Replicas), wrap("with ", pairs(f.Labels), "")))
	case *messages.CopyScaled:
		return detail("scales", "on "+string(f.Cluster), rescaled(f.Before, f.Replicas))
	case *messages.CopyUpdated:
		return detail("rolls out", "on "+string(f.Cluster), revision(f.Revision))
	case *messages.DispatchSuspended:
		return story("suspended", "for "+string(f.Cluster), "it hears of its copy when dispatching is resumed")
	case *messages.DispatchResumed:
		return resumed(f)
	case *messages.CopyPreserved:
		return story("stays behind", "on "+string(f.Cluster), "its policy preserves what runs, and nobody looks after it")
	case *messages.CopyAdopted:
		if f.Health != "" {
			return detail("runs", "on "+string(f.Cluster), joined(", ", replicas(f.Replicas), strings.ToLower(string(f.Health))+" as its binding's status says"))
		}
		return story("taken over", "on "+string(f.Cluster), joined(", ", replicas(f.Replicas), "which ran on by themselves"))
	case *messages.CopyStopped:
		return detail("stops", "on "+string(f.Cluster), "")
	case *messages.CopyWanted:
		return detail("asks for", "a copy on "+string(f.Cluster), joined(" ", replicas(f.Replicas), wrap("with ", pairs(f.Labels), "")))
	case *messages.CopyUnwanted:
		return detail("removes", "its copy on "+string(f.Cluster), preserved(f.Preserved))
	case *messages.AvailabilityChanged:
		return available(f)
	case *messages.HealthChanged:
		return t.health(f)
	case *messages.UnschedulableChanged:
		return unschedulable(f)
	case *messages.StatusChanged:
		return detail("says", "on "+string(f.Cluster), string(f.Status))
	case *messages.HealthForgotten:
		return detail("no copy", "on "+string(f.Cluster), "")
	}
	return Phrase{}
}

// preserved tells of a copy that goes whether what runs stays.
func preserved(stays bool) string {
	if stays {
		return "what runs is preserved"
	}
	return ""
}

// claimed tells a claim, or, where no policy asked for the binding, that it is there because others need it.
func claimed(f *messages.BindingCreated) Phrase {
	if f.Policy == "" {
		return story("attached", "", replicas(f.Replicas))
	}
	return story("claimed", "by "+f.Policy, replicas(f.Replicas))
}

func required(f *messages.RequirementChanged) Phrase {
	if len(f.Clusters) == 0 {
		return story("not needed", "any more", "by "+string(f.By))
	}
	return story("needed", "on "+clusterNames(f.Clusters), "by "+string(f.By))
}

func clusterNames(clusters []api.TargetCluster) string {
	words := make([]string, len(clusters))
	for i, c := range clusters {
		words[i] = c.Name
	}
	return strings.Join(words, " ")
}

func scheduled(f *messages.Scheduled) Phrase {
	before := wrap(" (was ", placed(f.Before), ")")
	if len(f.Before) > 0 && slices.EqualFunc(f.Before, f.Clusters, api.TargetCluster.Equal) {
		before = ", as before"
	}
	return story("scheduled", targets(f.Clusters)+before, joined(", ", wrap("because ", f.Trigger, ""), wrap("by affinity ", f.Affinity, "")))
}

func unscheduled(f *messages.ScheduleFailed) Phrase {
	keeps := wrap("stays on ", placed(f.Before), "")
	if f.Cleared {
		keeps = wrap("no longer on ", placed(f.Before), "")
	}
	return warning("unplaced", f.Reason, joined("; ", clause(f.Message), wrap("because ", f.Trigger, ""), keeps))
}

// clause is a message without its full stop, so that more can follow.
func clause(message string) string { return strings.TrimSuffix(message, ".") }

// purge says how an eviction deals with the old copy where that is not the hand-over.
func purge(t *api.GracefulEvictionTask) string {
	switch {
	case t.PurgeMode == api.PurgeDirectly:
		return " at once"
	case t.PurgeMode == api.PurgeNever:
		return " when told"
	case t.Handover == api.HandoverGradual:
		return " gradually"
	default:
		return ""
	}
}

func ended(f *messages.EvictionEnded) string { return outcome(f.Reason, span.String(f.After)) }

// outcome says how a hand-over ended, and how long it took.
func outcome(reason, took string) string {
	after := "after " + took + ": "
	switch reason {
	case messages.EndedHealthy:
		return after + "healthy where it is placed now"
	case messages.EndedTimeout:
		return after + "the grace period is over"
	case messages.EndedUnsuppressed:
		return after + "its deletion is no longer suppressed"
	case messages.EndedDeleted:
		return after + "its task was deleted"
	case messages.EndedScaledToZero:
		return after + "no replicas are asked for"
	default:
		return after + reason
	}
}

func (t teller) health(f *messages.HealthChanged) Phrase {
	verb, on, ready := strings.ToLower(string(f.Health)), "on "+string(f.Cluster), ""
	if f.Ready > 0 {
		ready = replicas(f.Ready) + " ready"
	}
	if f.Revision > 0 {
		ready = joined(" ", ready, "of "+revision(f.Revision))
	}
	switch {
	case f.Health == api.Healthy:
		return detail(verb, on, ready)
	case !f.Starting.IsZero(): // a new copy that does not serve yet has lost nothing
		return detail(verb, on, joined(", ", ready, "starting "+t.since(f.Starting)))
	}
	return warning(verb, on, joined(", ", ready, t.since(f.Since)))
}

// available tells how many replicas of a copy serve; what an outage takes no report tells in time.
func available(f *messages.AvailabilityChanged) Phrase {
	what, why := strconv.Itoa(int(f.Available))+" on "+string(f.Cluster), "was "+strconv.Itoa(int(f.Before))
	if f.Outage == "" {
		return detail("available", what, why)
	}
	return warning("available", what, why+", lost to the "+string(f.Outage)+" outage")
}

func unschedulable(f *messages.UnschedulableChanged) Phrase {
	if f.Replicas == 0 {
		return detail("has room", "on "+string(f.Cluster), "")
	}
	return warning("lacks room", "on "+string(f.Cluster), "for "+replicas(f.Replicas))
}

func (t teller) until(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "until " + t.at(at)
}

func (t teller) since(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return "since " + t.at(at)
}

func resumed(f *messages.DispatchResumed) Phrase {
	if f.Gone {
		return story("suspended", "no more", "the copy for "+string(f.Cluster)+" is gone")
	}
	return story("resumed", "for "+string(f.Cluster), "")
}
