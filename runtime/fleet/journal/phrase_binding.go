package journal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/messages/lists"
	"leeward/runtime/fleet/span"
)

// tellBinding has the words for a binding's life, and leaves its moves and its copies to two others.
func (t teller) tellBinding(f messages.AboutBinding) Phrase {
	switch f := f.(type) {
	case *messages.BindingCreated:
		return claimed(f)
	case *messages.InterpretationFailed:
		return warning("interpretation failed", "", f.Reason)
	case *messages.RequirementChanged:
		return required(f)
	case *messages.BindingUpdated:
		return change("updated", strings.Join(f.Changed, ", "), joined(", ", wrap("by ", f.Policy, ""), replicas(f.Replicas)))
	case *messages.ActivationDeferred:
		return change("deferred", "by "+f.Policy, "activationPreference Lazy: the policy counts from the next change of the resource")
	case *messages.BindingDeleted:
		return change("deleted", "", "")
	case *messages.RescheduleRequested:
		return change("reschedule", "requested", "by "+f.By)
	case *messages.Scheduled:
		return scheduled(f)
	case *messages.PlacementConfirmed:
		return detail("placement", "confirmed", "")
	case *messages.ScheduleFailed:
		return unscheduled(f)
	case messages.AboutCluster:
		return t.tellMove(f)
	}
	return t.tellReturn(f)
}

// tellMove has the words for an eviction, from the countdown to the end of the handover.
func (t teller) tellMove(f messages.AboutCluster) Phrase {
	switch f := f.(type) {
	case *messages.EvictionScheduled:
		return change("eviction scheduled", string(f.Cluster), "for "+t.at(f.Grounds.Deadline)+"; "+t.grounds(&f.Grounds))
	case *messages.EvictionCancelled:
		return change("eviction cancelled", string(f.Cluster), f.Reason)
	case *messages.EvictionBlocked:
		return warning("eviction blocked", string(f.Cluster), joined("; ", joined(": ", f.Reason, joined(", ", clause(f.Message), t.until(f.Until))), t.grounds(&f.Grounds)))
	case *messages.EvictionStarted:
		return change("evicting from", string(f.Cluster)+purge(&f.Task), joined("; ", t.grounds(&f.Grounds), t.deadline(&f.Grounds), clause(f.Task.Message)))
	case *messages.EvictionEnded:
		return change("evicted from", string(f.Cluster), outcome(f.Reason, span.String(f.After)))
	case *messages.EvictionWithdrawn:
		return change("eviction cancelled", string(f.Cluster), joined("; ", f.Reason, "placement "+targets(f.Clusters)))
	case *messages.ReplicasReleased:
		return change("handover", "from "+string(f.Cluster), joined("; ", rescaled(f.Before, f.Replicas), f.Reason))
	case *messages.HandoverBlocked:
		return warning("handover blocked", string(f.Cluster), "the old copy keeps running: "+f.Message)
	case *messages.BudgetExceeded:
		return warning("exceeds", "budget "+string(f.Budget)+" on "+string(f.Cluster), joined("; ", "allowed by "+f.AllowedBy+": "+f.Reason, f.Message))
	case *messages.BindingDescheduled:
		return change("descheduled", "on "+string(f.Cluster), rescaled(f.Before, f.Replicas)+"; the others unschedulable "+t.since(f.Since))
	case *messages.OriginalKept:
		return change("recovered", "on "+string(f.Cluster), "the old copy keeps running until its health is known")
	case *messages.OriginalReleased:
		return change("not recovered", "on "+string(f.Cluster), f.Message)
	case *messages.ShareFailbackScheduled:
		return change("failback scheduled", string(f.Cluster), "for "+t.at(f.At)+", if the cluster can take its share until then")
	case *messages.ShareFailbackCancelled:
		return change("failback cancelled", string(f.Cluster), "the cluster cannot take its share")
	case *messages.PurgeOvertaken:
		return warning("waits no longer", "for "+string(f.Cluster), "after "+span.String(f.After)+"; its copy may still run there")
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
		return change("dispatch suspended", string(f.Cluster), "the cluster receives its Work when dispatching is resumed")
	case *messages.DispatchResumed:
		return resumed(f)
	case *messages.CopyPreserved:
		return change("preserved", "on "+string(f.Cluster), "preserveResourcesOnDeletion: the copy keeps running, unmanaged")
	case *messages.CopyAdopted:
		if f.Health != "" {
			return detail("runs", "on "+string(f.Cluster), joined(", ", replicas(f.Replicas), strings.ToLower(string(f.Health))+" as its binding's status says"))
		}
		return change("adopted", "on "+string(f.Cluster), joined(", ", replicas(f.Replicas), "which were still running"))
	case *messages.CopyStopped:
		return detail("stops", "on "+string(f.Cluster), "")
	case *messages.CopyWanted:
		return detail("requests", "a copy on "+string(f.Cluster), joined(" ", replicas(f.Replicas), wrap("with ", pairs(f.Labels), "")))
	case *messages.CopyUnwanted:
		return detail("removes", "its copy on "+string(f.Cluster), preserved(f.Preserved))
	case *messages.AvailabilityChanged:
		return available(f)
	case *messages.HealthChanged:
		return t.health(f)
	case *messages.UnschedulableChanged:
		return unschedulable(f)
	case *messages.StatusChanged:
		return detail("status", "on "+string(f.Cluster), string(f.Status))
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
		return change("attached", "", replicas(f.Replicas))
	}
	return change("claimed", "by "+f.Policy, replicas(f.Replicas))
}

func required(f *messages.RequirementChanged) Phrase {
	if len(f.Clusters) == 0 {
		return change("not required", "", "by "+string(f.By))
	}
	return change("required", "on "+clusterNames(f.Clusters), "by "+string(f.By))
}

func clusterNames(clusters []api.TargetCluster) string {
	return strings.Join(lists.Of(clusters, func(c api.TargetCluster) string { return c.Name }), " ")
}

func scheduled(f *messages.Scheduled) Phrase {
	before := wrap(" (was ", placed(f.Before), ")")
	if len(f.Before) > 0 && slices.EqualFunc(f.Before, f.Clusters, api.TargetCluster.Equal) {
		before = ", as before"
	}
	return change("scheduled", targets(f.Clusters)+before, joined(", ", wrap("because ", f.Trigger, ""), wrap("by affinity ", f.Affinity, "")))
}

func unscheduled(f *messages.ScheduleFailed) Phrase {
	keeps := wrap("keeps ", placed(f.Before), "")
	if f.Cleared {
		keeps = wrap("removed from ", placed(f.Before), "")
	}
	return warning("unschedulable", f.Reason, joined("; ", clause(f.Message), wrap("because ", f.Trigger, ""), keeps))
}

// clause is a message without its full stop, so that more can follow.
func clause(message string) string { return strings.TrimSuffix(message, ".") }

// purge says how an eviction deals with the old copy where that is not the usual handover.
func purge(t *api.GracefulEvictionTask) string {
	switch {
	case t.PurgeMode == api.PurgeDirectly:
		return " (purgeMode Directly)"
	case t.PurgeMode == api.PurgeNever:
		return " (purgeMode Never)"
	case t.Handover == api.HandoverGradual:
		return " (handover Gradual)"
	default:
		return ""
	}
}

// outcome says how a handover ended, and how long it took.
func outcome(reason, took string) string {
	after := "after " + took + ": "
	switch reason {
	case messages.EndedHealthy:
		return after + "the new placement is healthy"
	case messages.EndedTimeout:
		return after + "the grace period is over"
	case messages.EndedUnsuppressed:
		return after + "suppressDeletion was lifted"
	case messages.EndedDeleted:
		return after + "its task was deleted"
	case messages.EndedScaledToZero:
		return after + "scaled to zero"
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
	case f.Refused != "":
		return warning("not applied", on, f.Refused)
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
		return detail("schedulable", "on "+string(f.Cluster), "")
	}
	return warning("unschedulable", "on "+string(f.Cluster), replicas(f.Replicas))
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
		return change("dispatch resumed", string(f.Cluster), "its copy no longer exists")
	}
	return change("dispatch resumed", string(f.Cluster), "")
}

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
