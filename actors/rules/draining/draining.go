// Package draining has the rule of which pods a drain of a node evicts. Source: the filters of kubectl drain 1.37.
package draining

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"leeward/messages"
	"leeward/messages/lists"
)

// What kubectl says of pods that it does not evict, or only because it was told to.
const (
	daemonSets   = "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
	localStorage = "Pods with local storage (use --delete-emptydir-data to override)"
	unmanaged    = "Pods that declare no controller (use --force to override)"

	ignoringDaemonSets = "ignoring DaemonSet-managed Pods"
	deletingUnmanaged  = "deleting Pods that declare no controller"
)

// Choice is what a drain does with the pods of a node.
type Choice struct {
	Evict []*corev1.Pod
	// Warnings and Errors name pods by what is said of them. With errors nothing is evicted.
	Warnings, Errors []string
}

// Choose decides now for each pod of a node, in the order given.
func Choose(pods []messages.ListedPod, now time.Time, o *messages.DrainOptions) Choice {
	var c Choice
	var warnings, fatal said
	for i := range pods {
		p := &pods[i]
		if o.Pods != nil && !o.Pods.Matches(labels.Set(p.Object.Labels)) || Skips(p.Object.DeletionTimestamp, now, o) {
			continue
		}
		evict, warning, problem := judge(p, o)
		name := p.Object.Namespace + "/" + p.Object.Name
		warnings.add(warning, name)
		fatal.add(problem, name)
		if evict {
			c.Evict = append(c.Evict, p.Object)
		}
	}
	c.Warnings = warnings.lines("")
	c.Errors = fatal.lines("cannot delete ")
	return c
}

// Skips reports whether a drain no longer waits for a pod with this deletionTimestamp.
func Skips(deleted *metav1.Time, now time.Time, o *messages.DrainOptions) bool {
	at := SkippedAt(deleted, o)
	return !at.IsZero() && !now.Before(at)
}

// SkippedAt is when a drain no longer waits for a pod with this deletionTimestamp; zero: never. As kubectl, it counts whole seconds, and waits
// until there is one more than the option says.
func SkippedAt(deleted *metav1.Time, o *messages.DrainOptions) time.Time {
	if deleted.IsZero() || o.SkipWaitForDelete <= 0 {
		return time.Time{}
	}
	return deleted.Add(o.SkipWaitForDelete).Add(time.Second) // one after the other: their sum may wrap
}

// judge says whether a pod is evicted, with a warning; or what forbids the drain.
func judge(p *messages.ListedPod, o *messages.DrainOptions) (evict bool, warning, problem string) {
	controller := metav1.GetControllerOf(p.Object)
	finished := p.Object.Status.Phase == corev1.PodSucceeded || p.Object.Status.Phase == corev1.PodFailed
	if !finished && OfDaemonSet(p.Object) {
		switch {
		case p.Orphan && !o.Force:
			return false, "", fmt.Sprintf("daemonsets.apps %q not found", controller.Name)
		case p.Orphan: // it is evicted, as any other
		case !o.IgnoreDaemonSets:
			return false, "", daemonSets
		default:
			return false, ignoringDaemonSets, ""
		}
	}
	_, mirror := p.Object.Annotations[corev1.MirrorPodAnnotationKey]
	switch {
	case mirror:
		return false, "", ""
	case finished:
		return true, "", ""
	case !o.DeleteEmptyDirData && slices.ContainsFunc(p.Object.Spec.Volumes, func(v corev1.Volume) bool { return v.EmptyDir != nil }):
		return false, "", localStorage
	case controller == nil && !o.Force:
		return false, "", unmanaged
	case controller == nil:
		return true, deletingUnmanaged, ""
	}
	return true, "", ""
}

// OfDaemonSet reports whether a DaemonSet controls a pod.
func OfDaemonSet(p *corev1.Pod) bool {
	c := metav1.GetControllerOf(p)
	return c != nil && c.Kind == messages.KindNameDaemonSet && c.APIVersion == appsv1.SchemeGroupVersion.String()
}

// said are the names of pods by what is said of them, in the order in which it was said first.
type said struct {
	order []string
	pods  map[string][]string
}

func (s *said) add(what, pod string) {
	if what == "" {
		return
	}
	if s.pods == nil {
		s.pods = map[string][]string{}
	}
	if s.pods[what] == nil {
		s.order = append(s.order, what)
	}
	s.pods[what] = append(s.pods[what], pod)
}

func (s *said) lines(prefix string) []string {
	return lists.Of(s.order, func(what string) string { return prefix + what + ": " + strings.Join(s.pods[what], ", ") })
}

// Together writes several errors as kubectl does: one alone, or "[one, another]".
func Together(errs []string) string {
	if len(errs) == 1 {
		return errs[0]
	}
	return "[" + strings.Join(errs, ", ") + "]"
}
