package journal

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/nodelife"
	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/lists"
	"leeward/messages/spelling"
)

// tellNode has the words for what is about a node.
func (t teller) tellNode(f messages.AboutNode) Phrase {
	switch f := f.(type) {
	case *messages.NodeRegistered:
		return detail("registered", wrap("zone ", string(f.Zone), ""), "")
	case *messages.NodeDeleted:
		return change("removed", "", f.Cause)
	case *messages.NodeConditionChanged:
		return nodeCondition(f)
	case *messages.NodeTaintAdded:
		return change("tainted", taint.String(&f.Taint), asked(f.Because))
	case *messages.NodeTaintRemoved:
		return change("untainted", taint.String(&f.Taint), asked(f.Because))
	case *messages.NodeTaintQueued:
		return detail("taint queued", taint.String(&f.Taint), "at the rate of "+zoneName(f.Zone))
	case *messages.NodeCordoned:
		return change("cordoned", "", "")
	case *messages.NodeUncordoned:
		return change("uncordoned", "", "")
	case *messages.NodeLabelsChanged:
		return change("labelled", joined(",", labels(f.Set), strings.Join(removed(f.Removed), ",")), "")
	case *messages.NodeDrainStarted:
		return change("draining", spelling.Count(f.Pods, "pod"), wrap("WARNING: ", f.Warning, ""))
	case *messages.NodeDrained:
		return change("drained", "", joined("; ", "after "+Clock(f.After), skipped(f.Skipped)))
	case *messages.NodeDrainFailed:
		return warning("not drained", spelling.Count(len(f.Pending), "pod")+" remain", f.Error)
	case *messages.KubeletStopped:
		return warning("kubelet stopped", "", "no Lease is renewed; its pods neither start nor end")
	case *messages.KubeletReturned:
		return change("kubelet back", "", "after "+Clock(f.After))
	}
	return Phrase{}
}

// skipped says which pods a drain did not wait for.
func skipped(pods []messages.PodName) string {
	return wrap("not waited for: ", strings.Join(lists.Of(pods, func(p messages.PodName) string { return string(p) }), ", "), "")
}

// nodeCondition tells of a condition. That nothing is known of the others, and that they are as ever, follows from Ready.
func nodeCondition(f *messages.NodeConditionChanged) Phrase {
	tell := change
	unknown := f.Status == corev1.ConditionUnknown || f.Status == corev1.ConditionFalse && f.Before == corev1.ConditionUnknown
	if unknown && f.Type != corev1.NodeReady {
		tell = detail
	}
	return tell("condition", string(f.Type)+"="+string(f.Status), joined("; ", "by "+f.By, joined(": ", f.Reason, f.Message)))
}

// asked says who asked for a taint, or what did.
func asked(because string) string {
	if strings.HasPrefix(because, "by ") {
		return because
	}
	return "because " + because
}

// removed are the keys of labels as kubectl label removes them.
func removed(keys []string) []string {
	keys = slices.Clone(keys)
	for i := range keys {
		keys[i] += "-"
	}
	return keys
}

// zoneName names a zone of nodes.
func zoneName(z messages.ZoneName) string {
	if z == "" {
		return "nodes without a zone"
	}
	return "zone " + string(z)
}

// ZoneRate tells how many nodes a second of a zone in some state are tainted.
func ZoneRate(state string, rate float64) string {
	switch {
	case rate > 0:
		return fmt.Sprintf("nodes are tainted at %g a second", rate)
	case state == nodelife.Normal.String():
		return "no node of the zone is tainted, because nodeEvictionRate is 0"
	}
	return "no node of the zone is tainted until more are ready"
}

func zoneState(f *messages.ZoneStateChanged) Phrase {
	why := fmt.Sprintf("%d of %d nodes are not ready; %s", f.NotReady, f.Ready+f.NotReady, ZoneRate(f.State, f.Rate))
	if f.State == nodelife.Normal.String() {
		return detail("is", f.State, why).about(zoneName(f.Zone))
	}
	return warning("is", f.State, why).about(zoneName(f.Zone))
}

func disruption(f *messages.DisruptionChanged) Phrase {
	if f.Full {
		return warning("are", "fully disrupted", "the taints of failed nodes go, and none is added").about("all zones")
	}
	return change("are", "no longer all fully disrupted", "nodes are tainted again").about("zones")
}
