package admission

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"

	"leeward/messages"
)

// The admission plugins of an API server that add taints and tolerations, each behind the setting of its name. Whatever stores a node or a
// pod calls AdmitNode or AdmitPod between Default and Validate; a policy's templates are not admitted so. Source: Kubernetes 1.37.

// Annotations of a namespace that PodTolerationRestriction reads: JSON lists of tolerations.
const (
	AnnotationDefaultTolerations   = "scheduler.alpha.kubernetes.io/defaultTolerations"
	AnnotationTolerationsWhitelist = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
)

// mostTolerations bounds each list in the annotations of a namespace: who may annotate must not make every pod of it huge.
const mostTolerations = 100

// AdmitNode completes a new node: TaintNodesByCondition keeps pods off it until its conditions have been looked at.
func AdmitNode(n *corev1.Node, s *messages.Settings) {
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !s.TaintNodesByCondition || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		return
	}
	n.Spec.Taints = append(slices.Clip(n.Spec.Taints), notReady)
}

// AdmitPod completes the tolerations of a pod that is new, or replaces another, as the plugins do in their order: DefaultTolerationSeconds,
// PodTolerationRestriction, ExtendedResourceToleration. annotations are those of its namespace. It is an error if they are no lists of
// tolerations, or if they do not allow what the pod has in the end; the pod is then unchanged. Done twice it changes nothing more.
func AdmitPod(p *corev1.Pod, created bool, annotations map[string]string, s *messages.Settings) error {
	tolerations := slices.Clone(p.Spec.Tolerations)
	if s.DefaultTolerationSeconds {
		tolerations = withDefaultSeconds(tolerations, s)
	}
	if s.PodTolerationRestriction {
		defaults, err := annotated(annotations, AnnotationDefaultTolerations)
		if err != nil {
			return err
		}
		tolerations = withNamespaceDefaults(p, tolerations, created, defaults)
	}
	if s.ExtendedResourceToleration {
		for _, name := range extendedResources(&p.Spec) {
			tolerations = addOrUpdate(tolerations, exists(name, corev1.TaintEffectNoSchedule))
		}
	}
	if s.PodTolerationRestriction {
		if err := checkAllowed(tolerations, annotations); err != nil {
			return err
		}
	}
	p.Spec.Tolerations = tolerations
	return nil
}

func exists(key string, effect corev1.TaintEffect) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
}

// withDefaultSeconds lets a pod stay for some time on a node that fails, unless a toleration of it has the key and the effect, or all keys or
// effects. It looks at nothing else: one with a value that can never match suppresses the default, too.
func withDefaultSeconds(tolerations []corev1.Toleration, s *messages.Settings) []corev1.Toleration {
	given := slices.Clone(tolerations)
	for _, d := range []struct {
		key     string
		seconds int64
	}{
		{corev1.TaintNodeNotReady, s.PodNotReadyTolerationSeconds},
		{corev1.TaintNodeUnreachable, s.PodUnreachableTolerationSeconds},
	} {
		has := func(t corev1.Toleration) bool {
			return (t.Key == d.key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}
		if !slices.ContainsFunc(given, has) {
			t := exists(d.key, corev1.TaintEffectNoExecute)
			t.TolerationSeconds = &d.seconds
			tolerations = append(tolerations, t)
		}
	}
	return tolerations
}

// withNamespaceDefaults returns the tolerations of a pod with the defaults of its namespace, if it is new, and with one of memory pressure, if
// it asks for processor or memory.
func withNamespaceDefaults(p *corev1.Pod, tolerations []corev1.Toleration, created bool, defaults []corev1.Toleration) []corev1.Toleration {
	if created && len(defaults) > 0 {
		tolerations = merged(tolerations, defaults)
	}
	if QOSClassOf(p) == corev1.PodQOSBestEffort {
		return tolerations
	}
	return merged(tolerations, []corev1.Toleration{exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)})
}

// checkAllowed wants each toleration to be within an entry of the allow-list of the namespace, if that has entries.
func checkAllowed(tolerations []corev1.Toleration, annotations map[string]string) error {
	allowed, err := annotated(annotations, AnnotationTolerationsWhitelist)
	if err != nil || len(allowed) == 0 {
		return err
	}
	for i := range tolerations {
		if !slices.ContainsFunc(allowed, func(entry corev1.Toleration) bool { return Covers(&entry, &tolerations[i]) }) {
			return errors.New("pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist")
		}
	}
	return nil
}

// annotated reads a list of tolerations from an annotation; none where it is not there or empty.
func annotated(annotations map[string]string, key string) (list []corev1.Toleration, err error) {
	text := annotations[key]
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("annotation %s of the namespace: %w", key, err)
	}
	if len(list) > mostTolerations {
		return nil, fmt.Errorf("annotation %s of the namespace: %d tolerations, must be %d or less", key, len(list), mostTolerations)
	}
	return list, nil
}

// Covers reports whether a toleration covers all that another does, for as long: its key, or every key; its effect, or every effect; its value, or
// every value; with NoExecute, no fewer seconds. No operator is Equal. Nothing but the same covers an operator Lt or Gt by value.
func Covers(outer, inner *corev1.Toleration) bool {
	switch {
	case equality.Semantic.DeepEqual(outer, inner):
		return true
	case outer.Key != inner.Key && (outer.Key != "" || outer.Operator != corev1.TolerationOpExists):
		return false
	case outer.Effect != inner.Effect && outer.Effect != "":
		return false
	case outer.Effect == corev1.TaintEffectNoExecute && outer.TolerationSeconds != nil &&
		(inner.TolerationSeconds == nil || *inner.TolerationSeconds > *outer.TolerationSeconds):
		return false
	}
	switch outer.Operator {
	case corev1.TolerationOpExists:
		return true
	case corev1.TolerationOpEqual, "":
		return (inner.Operator == corev1.TolerationOpEqual || inner.Operator == "") && inner.Value == outer.Value
	}
	return false
}

// merged returns the tolerations of both lists, in order, without those that another of them covers. Of equal ones the first remains.
func merged(first, second []corev1.Toleration) (all []corev1.Toleration) {
	both := slices.Concat(first, second)
	for i := range both {
		redundant := slices.ContainsFunc(all, func(t corev1.Toleration) bool { return Covers(&t, &both[i]) }) ||
			slices.ContainsFunc(both[i+1:], func(t corev1.Toleration) bool { return Covers(&t, &both[i]) && !Covers(&both[i], &t) })
		if !redundant {
			all = append(all, both[i])
		}
	}
	return all
}

// extendedResources are the resources that containers ask for and that Kubernetes does not know itself, in order.
func extendedResources(spec *corev1.PodSpec) []string {
	names := map[string]bool{}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			for name := range containers[i].Resources.Requests { // order-free: sorted below
				if isExtended(string(name)) {
					names[string(name)] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// isExtended reports whether a name is one of an extended resource: it has a domain that is not Kubernetes' own.
func isExtended(name string) bool {
	domain, _, qualified := strings.Cut(name, "/")
	return qualified && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io") &&
		!strings.HasPrefix(name, "requests.") && len(validation.IsQualifiedName("requests."+name)) == 0
}

// addOrUpdate gives a toleration the place of the first that has its key, operator, value and effect, or the last place.
func addOrUpdate(tolerations []corev1.Toleration, t corev1.Toleration) []corev1.Toleration {
	i := slices.IndexFunc(tolerations, func(other corev1.Toleration) bool { return other.MatchToleration(&t) })
	if i < 0 {
		return append(tolerations, t)
	}
	tolerations[i] = t
	return tolerations
}
