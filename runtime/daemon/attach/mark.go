package attach

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/nodelife"
)

// byTaintManager is the reason of the condition of a pod that a taint-eviction-controller evicts, ours or another.
const byTaintManager = "DeletionByTaintManager"

// mark says that a pod was evicted for a taint: by whom, since when and in which words.
type mark struct {
	by, message string
	at          time.Time
}

// markOf is the mark of a pod, nil if it has none.
func markOf(p *corev1.Pod) *mark {
	i := slices.IndexFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == byTaintManager
	})
	if i < 0 {
		return nil
	}
	c := &p.Status.Conditions[i]
	m := &mark{by: unknown, message: c.Message, at: c.LastTransitionTime.Time}
	switch e := lastWriter(p.ManagedFields, "f:conditions", string(corev1.DisruptionTarget)); {
	case e != nil:
		m.by = e.Manager
		if e.Time.After(m.at) { // the condition has when that was decided: a controller that is throttled writes it minutes later
			m.at = e.Time.Time
		}
	case strings.HasPrefix(c.Message, ourWords):
		m.by = fieldManager
	}
	return m
}

const (
	// unknown is by whom a mark is of which the server does not say who wrote it.
	unknown = "an unknown writer"
	// ourWords begin the message of a mark of ours, for servers that keep no managedFields. Source: podeviction with NamesTaint.
	ourWords = "deleted because of the taint "
)

func (m *mark) ours() bool { return m.by == fieldManager }

// ofMark are the fields of the condition that a mark is.
const ofMark = `{"f:status":{"f:conditions":{"k:{\"type\":\"DisruptionTarget\"}":{}}}}`

// leanPod is what is kept of a pod: what decides about its eviction, and who wrote its condition.
func leanPod(p *corev1.Pod) *corev1.Pod {
	lean := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, DeletionTimestamp: p.DeletionTimestamp,
			OwnerReferences: p.OwnerReferences,
		},
		Spec: corev1.PodSpec{
			NodeName: p.Spec.NodeName, Tolerations: p.Spec.Tolerations, Priority: p.Spec.Priority,
			TerminationGracePeriodSeconds: p.Spec.TerminationGracePeriodSeconds,
		},
		Status: corev1.PodStatus{Phase: p.Status.Phase},
	}
	if mirror, is := p.Annotations[corev1.MirrorPodAnnotationKey]; is {
		lean.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: mirror}
	}
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == corev1.DisruptionTarget {
			lean.Status.Conditions = []corev1.PodCondition{p.Status.Conditions[i]}
		}
	}
	if markOf(p) != nil {
		if e := lastWriter(p.ManagedFields, "f:conditions", string(corev1.DisruptionTarget)); e != nil {
			lean.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: e.Manager, Time: e.Time, FieldsV1: metav1.NewFieldsV1(ofMark)}}
		}
	}
	if isControllerManager(p) {
		for i := range p.Spec.Containers {
			c := &p.Spec.Containers[i]
			lean.Spec.Containers = append(lean.Spec.Containers, corev1.Container{Name: c.Name, Command: c.Command, Args: c.Args})
		}
	}
	return lean
}

// leanNode is what is kept of a node: its taints, each with the time from which it counts, its zone, and whether it is Ready.
func leanNode(n *corev1.Node) *corev1.Node {
	lean := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, UID: n.UID, ResourceVersion: n.ResourceVersion, Labels: labelsOf(n)},
		Spec:       corev1.NodeSpec{Taints: noExecute(n)},
	}
	if ready := nodelife.Ready(n.Status.Conditions); ready != "" {
		lean.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	}
	return lean
}

// noExecute are the NoExecute taints of a node. One without timeAdded, as kubectl taint writes it, counts from when the taints of the
// node were last written, as far as managedFields say so: then a restart of ours moves no deadline. That is never before it was added.
func noExecute(n *corev1.Node) (taints []corev1.Taint) {
	for i := range n.Spec.Taints {
		t := n.Spec.Taints[i]
		if t.Effect != corev1.TaintEffectNoExecute {
			continue
		}
		if t.TimeAdded == nil {
			if e := lastWriter(n.ManagedFields, "f:taints"); e != nil {
				t.TimeAdded = e.Time
			}
		}
		taints = append(taints, t)
	}
	return taints
}

// lastWriter is who wrote last, among those whose fields have all of these words; nil: it is not known.
func lastWriter(all []metav1.ManagedFieldsEntry, words ...string) (last *metav1.ManagedFieldsEntry) {
	for i := range all {
		e := &all[i]
		if e.FieldsV1 == nil || e.Time == nil || !hasAll(e.FieldsV1.GetRawString(), words) {
			continue
		}
		if last == nil || e.Time.After(last.Time.Time) {
			last = e
		}
	}
	return last
}

func hasAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// controllerManager is the name of the process that runs Kubernetes' controllers, and of its pods where it runs in one.
const controllerManager = "kube-controller-manager"

func isControllerManager(p *corev1.Pod) bool {
	return p.Namespace == metav1.NamespaceSystem && strings.HasPrefix(p.Name, controllerManager)
}

// evictsForTaints reports whether a pod of the kube-controller-manager runs its taint-eviction-controller, by the flag --controllers.
// known is false where its command does not show that.
func evictsForTaints(p *corev1.Pod) (runs, known bool) {
	for i := range p.Spec.Containers {
		words := slices.Concat(p.Spec.Containers[i].Command, p.Spec.Containers[i].Args)
		if !slices.ContainsFunc(words, func(w string) bool { return path.Base(w) == controllerManager }) {
			continue
		}
		return inControllers(words), true
	}
	return false, false
}

// inControllers reports whether the last flag --controllers of a command lists the taint-eviction-controller. Without one all run.
func inControllers(words []string) bool {
	list := "*"
	for i, w := range words {
		if value, is := strings.CutPrefix(w, "--controllers="); is {
			list = value
		} else if w == "--controllers" && i+1 < len(words) {
			list = words[i+1]
		}
	}
	controllers := strings.Split(list, ",")
	name := string(taintManager)
	return !slices.Contains(controllers, "-"+name) && (slices.Contains(controllers, name) || slices.Contains(controllers, "*"))
}
