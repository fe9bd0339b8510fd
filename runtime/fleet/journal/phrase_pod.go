package journal

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"leeward/actors/rules/taint"
	"leeward/messages"
)

// tellPod has the words for what is about a pod.
func (t teller) tellPod(f messages.AboutPod) Phrase {
	switch f := f.(type) {
	case *messages.PodEvictionScheduled:
		return story("eviction scheduled", string(f.Node), "for "+t.at(f.Deadline)+"; "+podTaint(&f.Taint, &f.Toleration))
	case *messages.PodEvictionCancelled:
		return story("eviction cancelled", string(f.Node), f.Reason)
	case *messages.PodEvicted:
		return story("evicting from", string(f.Node), joined("; ", podTaint(&f.Taint, f.Toleration), t.podDeadline(f)))
	case *messages.PodDeletionRequested:
		return story("deleted", "", fmt.Sprintf("grace period %ds", f.GracePeriodSeconds))
	case *messages.PodEvictionFailed:
		return warning("eviction failed", string(f.Node), fmt.Sprintf("%s: %s; %s", f.Verb, f.Error, t.tries(f)))
	}
	return Phrase{}
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
