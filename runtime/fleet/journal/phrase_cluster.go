package journal

import (
	"cmp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// tellCluster has the words for what is about a cluster alone.
func (t teller) tellCluster(f messages.AboutCluster) Phrase {
	switch f := f.(type) {
	case *messages.ConditionChanged:
		return condition(f)
	case *messages.ReadyObserved:
		return t.observed(f)
	case *messages.ConditionRemoved:
		return change("condition", "no "+f.Type, "")
	case *messages.TaintAdded:
		return change("tainted", taint.String(&f.Taint), setBy(&f.Cause))
	case *messages.TaintRemoved:
		return change("untainted", taint.String(&f.Taint), setBy(&f.Cause))
	case *messages.TaintAdopted:
		return change("adopted", taint.String(&f.Taint), setBy(&f.Cause))
	case *messages.TaintSpared:
		return spared(f)
	case *messages.TaintingFailed:
		return unchanged(f)
	case *messages.TaintsPreviewed:
		return previewed(&f.TaintPreview)
	case *messages.DrainProgressed:
		return t.drained(f)
	case *messages.DrainMissed:
		return warning("drain overdue", remaining(int32(len(f.Waiting))), names(f.Waiting)+"; the drain continues")
	case *messages.DrainEnded:
		return change("drain ended", "", "")
	case *messages.WorkloadsStay:
		return stays(f)
	case *messages.LabelsChanged:
		return change("labelled", labels(f.Labels), "")
	case *messages.ClusterSpecChanged:
		return change("location", location(f), "")
	case *messages.CapacityChanged:
		return capacity(f.Summary)
	case *messages.ResourceModelsChanged:
		return change("resource models", strconv.Itoa(len(f.Models))+" grades", "")
	case *messages.EnablementsChanged:
		return serves(f.APIs)
	case *messages.StartsCounted:
		return t.startsCounted(f)
	case *messages.OutageBegan:
		return t.outage(f)
	case *messages.OutageEnded:
		return change("outage over", string(f.Outage), "")
	case *messages.HeartbeatStopped:
		return t.silent(f)
	case *messages.HeartbeatReturned:
		return heard(f.Probed)
	case *messages.ClusterLeaving:
		return change("deleting", "", "removed when its last binding is evicted")
	case *messages.ClusterRemoved:
		return change("removed", "", "")
	}
	return Phrase{}
}

func stays(f *messages.WorkloadsStay) Phrase {
	if f.Reason == "" {
		return detail("warning ended", "", "Ready, without workloads, or these are being evicted")
	}
	return warning("is", "not Ready, but "+f.Reason+": its workloads stay", "")
}

func (t teller) silent(f *messages.HeartbeatStopped) Phrase {
	if f.Probed {
		return warning("silent", "since "+t.at(f.RenewedAt), "Ready=False at "+t.at(f.Deadline)+" unless it answers probes")
	}
	return warning("silent", "since "+t.at(f.RenewedAt), "Unknown at "+t.at(f.Deadline)+" unless its agent returns")
}

// outage says what an outage does, because the control plane hears of that later, or never.
func (t teller) outage(f *messages.OutageBegan) Phrase {
	effects := map[messages.OutageKind]string{
		messages.OutagePower: "copies die; agent silent", messages.OutageNetwork: "copies keep serving; agent silent",
		messages.OutageAgent:     "no node is ready that could run the agent; agent silent",
		messages.OutageAPIServer: "copies keep serving; the agent reports Ready=False",
	}
	return warning("outage", joined(" ", string(f.Outage), t.until(f.Until)), effects[f.Outage])
}

func heard(probed bool) Phrase {
	if probed {
		return change("reachable", "", "the next probe succeeds")
	}
	return change("heartbeat", "again", "")
}

func condition(f *messages.ConditionChanged) Phrase {
	why := joined(": ", f.Reason, f.Message)
	if f.By == "" {
		return change("condition", f.Type+"="+string(f.Status), why)
	}
	return change("condition", f.Type+"="+string(f.Status), joined("; ", "by "+f.By, why))
}

func spared(f *messages.TaintSpared) Phrase {
	asks := joined(" ", "policy "+string(f.Policy)+" would remove it", wrap("because ", f.Because, ""))
	return change("taint kept", taint.String(&f.Taint), joined("; ", setBy(&f.Cause), asks, "policies remove only what policies added"))
}

// unchanged says what policies could not do, and why.
func unchanged(f *messages.TaintingFailed) Phrase {
	by := "asked by policy " + names(f.Policies)
	return warning("tainting failed", retaint(f.Add, f.Remove), joined("; ", by, strings.Join(f.Problems, "; "), "nothing was changed"))
}

// retaint names a change of taints.
func retaint(add, remove []corev1.Taint) string {
	return joined(" and ", wrap("taint ", taints(add), ""), wrap("untaint ", taints(remove), ""))
}

// previewed says of what only would happen that it has not.
func previewed(p *api.TaintPreview) Phrase {
	if len(p.Add) == 0 && len(p.Remove) == 0 && len(p.Spared) == 0 {
		return change("preview ended", "", "policy "+p.Policy+" would change nothing now")
	}
	evict := ""
	if p.WouldEvict > 0 {
		evict = bindings(p.WouldEvict) + " would be evicted"
	}
	by := joined(" ", "by policy "+p.Policy, wrap("because ", p.Because, ""))
	would := joined(" and ", retaint(p.Add, p.Remove), wrap("keep ", taints(p.Spared), ", which no policy added"))
	return change("preview", "would "+would, joined("; ", by, evict, "nothing was changed"))
}

func (t teller) observed(f *messages.ReadyObserved) Phrase {
	what, why := "Ready="+string(f.Status), joined(": ", f.Reason, f.Message)
	if f.Deadline.IsZero() {
		return detail("observed", what+" again", why)
	}
	return change("observed", what, joined("; ", why, "counts at "+t.at(f.Deadline)+" if it lasts"))
}

// drained says how far a drain has come; its deadline is told once, at the beginning.
func (t teller) drained(f *messages.DrainProgressed) Phrase {
	switch {
	case f.Left == 0:
		return change("drained", "", "no binding remains")
	case f.Left == f.Bindings && f.Deadline != nil:
		return change("draining", remaining(f.Left), "deadline "+t.at(f.Deadline.Time))
	default:
		return change("draining", remaining(f.Left), "of "+strconv.Itoa(int(f.Bindings)))
	}
}

func location(f *messages.ClusterSpecChanged) string {
	place := joined(" ",
		wrap("provider=", f.Provider, ""),
		wrap("region=", f.Region, ""),
		wrap("zones=", strings.Join(f.Zones, ","), ""))
	return cmp.Or(place, "nowhere")
}
