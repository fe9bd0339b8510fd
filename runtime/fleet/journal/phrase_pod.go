package journal

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// tellPod has the words for what is about a pod.
func (t teller) tellPod(f messages.AboutPod) Phrase {
	switch f := f.(type) {
	case *messages.PodCreated:
		return detail("created", string(f.Node), wrap("by ", string(f.Owner), ""))
	case *messages.PodBound:
		return change("bound to", string(f.Node), timed(f))
	case *messages.PodUnschedulable:
		return warning("unschedulable", "", f.Message)
	case *messages.PodPhaseChanged:
		return podPhase(f)
	case *messages.PodDeleted:
		return detail("gone", string(f.Node), "")
	case *messages.PodEvictionScheduled:
		return change("eviction scheduled", string(f.Node), "for "+t.at(f.Deadline)+"; "+podTaint(&f.Taint, &f.Toleration))
	case *messages.PodEvictionCancelled:
		return change("eviction cancelled", string(f.Node), f.Reason)
	case *messages.PodEvicted:
		return change("evicting from", string(f.Node), joined("; ", podTaint(&f.Taint, f.Toleration), t.podDeadline(f)))
	case *messages.PodDeletionRequested:
		return change(removal(f), string(f.Node), joined("; ", f.Cause, fmt.Sprintf("grace period %ds", f.GracePeriodSeconds)))
	case *messages.PodEvictionBlocked:
		return warning("eviction blocked", string(f.Node), joined("; ", "by "+f.By, wrap("budget ", string(f.Budget), ""), f.Error, f.Detail))
	case *messages.PodEvictionFailed:
		return warning("eviction failed", string(f.Node), fmt.Sprintf("%s: %s; %s", f.Verb, f.Error, t.tries(f)))
	}
	return Phrase{}
}

// removal is how a pod was deleted.
func removal(f *messages.PodDeletionRequested) string {
	if f.Eviction {
		return "evicted"
	}
	return "deleted"
}

// podBudget tells how many evictions a PodDisruptionBudget allows.
func podBudget(f *messages.PodBudgetChanged) Phrase {
	why := fmt.Sprintf("%d of %d pods healthy, %d must be", f.CurrentHealthy, f.ExpectedPods, f.DesiredHealthy)
	tell := detail
	if f.Problem != "" {
		tell = warning
	}
	return tell("evictions allowed", strconv.Itoa(int(f.DisruptionsAllowed)), joined("; ", f.Problem, why)).about("pod disruption budget " + string(f.Budget))
}

func timed(f *messages.PodBound) string {
	if f.Timed {
		return "no other node can take it; it tolerates a NoExecute taint of this one for a time only"
	}
	return ""
}

// podPhase tells of a pod that runs, or has finished, and as a detail of how ready it is.
func podPhase(f *messages.PodPhaseChanged) Phrase {
	switch {
	case f.Phase == corev1.PodRunning && f.Ready:
		return detail("ready", "on "+string(f.Node), f.Reason)
	case f.Phase == corev1.PodRunning:
		return detail("not ready", "on "+string(f.Node), f.Reason)
	case f.Phase == corev1.PodFailed:
		return warning("failed", "on "+string(f.Node), f.Reason)
	default:
		return change(strings.ToLower(string(f.Phase)), "on "+string(f.Node), f.Reason)
	}
}

func podTaint(of *corev1.Taint, by *corev1.Toleration) string {
	return "taint " + taint.String(of) + "; " + tolerated(&messages.Grounds{Taint: of, Toleration: by})
}

func (t teller) podDeadline(f *messages.PodEvicted) string {
	if f.Deadline.IsZero() {
		return ""
	}
	return "deadline " + t.at(f.Deadline)
}

func (t teller) tries(f *messages.PodEvictionFailed) string {
	if f.Retry.IsZero() {
		return fmt.Sprintf("given up after %d tries", f.Tries)
	}
	return fmt.Sprintf("try %d, the next at %s", f.Tries, t.at(f.Retry))
}

// PodEvictionGrounds says for which taint a pod is evicted, and by which toleration.
func PodEvictionGrounds(f *messages.PodEvicted) string { return podTaint(&f.Taint, f.Toleration) }
