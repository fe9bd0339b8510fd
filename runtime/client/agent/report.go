package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"leeward/actors/rules/health"
	"leeward/messages/api"
)

// The bounds of a report, within those of the daemon (docs/api.md).
const (
	largestStatus  = 256 << 10
	largestReport  = 900 << 10
	longestMessage = 4096
)

// conditionDispatching says whether a Work is applied at all. Source: Karmada.
const conditionDispatching = "Dispatching"

// copied is what came of one manifest.
type copied struct {
	identifier api.ResourceIdentifier
	// live is the object as the member has it; nil: it has none that is of this Work.
	live *unstructured.Unstructured
	// unschedulable counts its pods that no node takes.
	unschedulable int
	// err is why it was not applied.
	err error
	// health is how live is by a script, and reflected what one reports of its status; without one they are empty.
	health    api.ResourceHealth
	reflected map[string]any
	// ready is how many replicas a script says that a healthy object has: all of them serve, where its status counts none.
	ready int32
	// misread is what a script failed to read; the rules of the kind were used in its place.
	misread error
}

// reportOf is the status of a Work by what came of its manifests; err is why none of them was looked at. What another writer
// says in conditions remains.
func reportOf(w *api.Work, all []copied, err error, now time.Time) api.WorkStatus {
	s := api.WorkStatus{Conditions: slices.Clone(w.Status.Conditions)}
	switch dispatching := meta.FindStatusCondition(s.Conditions, conditionDispatching); {
	case suspended(w):
		setCondition(&s, w, now, conditionDispatching, metav1.ConditionFalse, "SuspendDispatching", "Work dispatching is in a suspended state.")
	case dispatching != nil:
		setCondition(&s, w, now, conditionDispatching, metav1.ConditionTrue, "Dispatching", "Work is being dispatched to the member.")
	}
	if suspended(w) {
		all = remembered(w, all)
	} else if problem := problemOf(all, err); problem != "" {
		setCondition(&s, w, now, api.ConditionApplied, metav1.ConditionFalse, "AppliedFailed", problem)
	} else {
		setCondition(&s, w, now, api.ConditionApplied, metav1.ConditionTrue, "AppliedSuccessful", "Manifest has been successfully applied")
	}
	if err != nil {
		s.ManifestStatuses = w.Status.ManifestStatuses // what was applied before is still there
		return s
	}
	size := 0
	for i := range all {
		m := manifestStatus(&all[i])
		if m.Status != nil {
			if size += len(m.Status.Raw); size > largestReport {
				m.Status = nil
			}
		}
		s.ManifestStatuses = append(s.ManifestStatuses, m)
	}
	return s
}

// suspended reports whether a Work is neither applied nor repaired. How its copy is, is reported nevertheless. Source: Karmada, which reflects statuses meanwhile.
func suspended(w *api.Work) bool {
	return w.Spec.SuspendDispatching != nil && *w.Spec.SuspendDispatching
}

// remembered are the objects of a suspended Work that the member has, and, without a status, those that it had and that may have to be
// pruned later. What was never applied is not among them.
func remembered(w *api.Work, all []copied) (known []copied) {
	had := map[api.ResourceIdentifier]bool{}
	for i := range w.Status.ManifestStatuses {
		had[w.Status.ManifestStatuses[i].Identifier] = true
	}
	for _, c := range all {
		if c.live != nil || had[c.identifier] {
			known = append(known, c)
			delete(had, c.identifier)
		}
	}
	for i := range w.Status.ManifestStatuses {
		if id := w.Status.ManifestStatuses[i].Identifier; had[id] {
			known = append(known, copied{identifier: id})
		}
	}
	return known
}

func setCondition(s *api.WorkStatus, w *api.Work, now time.Time, kind string, is metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&s.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: message[:min(len(message), longestMessage)],
		ObservedGeneration: w.Generation, LastTransitionTime: metav1.Time{Time: now.UTC().Truncate(time.Second)},
	})
}

// problemOf says what was not applied, and why; empty: all was.
func problemOf(all []copied, err error) string {
	if err != nil {
		return err.Error()
	}
	applied, first := 0, error(nil)
	for i := range all {
		switch {
		case all[i].err == nil:
			applied++
		case first == nil:
			first = all[i].err
		}
	}
	if first == nil {
		return ""
	}
	return fmt.Sprintf("Failed to apply all manifests (%d/%d): %v", applied, len(all), first)
}

// healthy is how live is.
func (c *copied) healthy() api.ResourceHealth {
	if c.health != "" {
		return c.health
	}
	return healthOf(c.live)
}

func manifestStatus(c *copied) api.ManifestStatus {
	m := api.ManifestStatus{Identifier: c.identifier, Health: api.Unknown}
	switch {
	case c.live == nil && c.err == nil:
		m.Health = api.Unhealthy // something else deleted it since
	case c.live != nil:
		m.Health, m.Status = c.healthy(), rawStatus(c)
	}
	return m
}

// rawStatus is the status of an object as the member has it, and how many of its replicas no node takes; nil: its kind has none,
// or it is too large to report.
func rawStatus(c *copied) *runtime.RawExtension {
	fields, _ := c.live.Object["status"].(map[string]any)
	if c.reflected != nil {
		fields = c.reflected
	}
	more := map[string]any{}
	if c.unschedulable > 0 {
		more["unschedulableReplicas"] = int64(c.unschedulable)
	}
	if c.ready > 0 && !countsReady(fields) {
		more["readyReplicas"] = int64(c.ready)
	}
	if len(more) > 0 {
		maps.Copy(more, fields)
		fields = more
	}
	if len(fields) == 0 {
		return nil
	}
	raw, err := json.Marshal(fields)
	if err != nil || len(raw) > largestStatus {
		return nil
	}
	return &runtime.RawExtension{Raw: raw}
}

// countsReady reports whether a status says how many replicas serve. Source: what the hub reads.
func countsReady(status map[string]any) bool {
	for _, name := range [...]string{"readyReplicas", "ready", "numberReady"} {
		if _, says := status[name]; says {
			return true
		}
	}
	return false
}

// metrics count what the agent does.
type metrics struct {
	applied, refused, pruned, deleted, repaired, reported, unreported prometheus.Counter
	memberReachable, leads, works                                     prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	count := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "leeward_agent", Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "leeward_agent", Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	return &metrics{
		applied:         count("applied_total", "Manifests that the member took."),
		refused:         count("refused_total", "Manifests that the member, or the agent, refused."),
		repaired:        count("repaired_total", "Objects that were applied again because something else changed or deleted them."),
		pruned:          count("pruned_total", "Objects that were deleted because their Work no longer holds them."),
		deleted:         count("deleted_total", "Objects that were deleted with their Work."),
		reported:        count("reported_total", "Reports about Works that the hub took."),
		unreported:      count("report_failures_total", "Reports about the cluster that the hub did not take."),
		memberReachable: gauge("member_reachable", "1 if the last probe reached the member."),
		leads:           gauge("leads", "1 if this replica applies Works."),
		works:           gauge("works", "Works of the cluster."),
	}
}

func (m *metrics) reachable(is bool) { m.memberReachable.Set(asNumber(is)) }

func asNumber(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// ruled makes objects of the kinds that the rules of the daemon judge: a copy has the same health by both.
var ruled = map[schema.GroupVersionKind]func() api.Object{
	appsv1.SchemeGroupVersion.WithKind("Deployment"):            func() api.Object { return &appsv1.Deployment{} },
	appsv1.SchemeGroupVersion.WithKind("StatefulSet"):           func() api.Object { return &appsv1.StatefulSet{} },
	appsv1.SchemeGroupVersion.WithKind("ReplicaSet"):            func() api.Object { return &appsv1.ReplicaSet{} },
	appsv1.SchemeGroupVersion.WithKind("DaemonSet"):             func() api.Object { return &appsv1.DaemonSet{} },
	batchv1.SchemeGroupVersion.WithKind("Job"):                  func() api.Object { return &batchv1.Job{} },
	corev1.SchemeGroupVersion.WithKind("Pod"):                   func() api.Object { return &corev1.Pod{} },
	corev1.SchemeGroupVersion.WithKind("Service"):               func() api.Object { return &corev1.Service{} },
	corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"): func() api.Object { return &corev1.PersistentVolumeClaim{} },
	networkingv1.SchemeGroupVersion.WithKind("Ingress"):         func() api.Object { return &networkingv1.Ingress{} },
	policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget"): func() api.Object { return &policyv1.PodDisruptionBudget{} },
}

// healthOf judges an object by its status: kinds with a rule of the daemon by that, all others by kstatus, which knows Kubernetes'
// own kinds and, of others, observedGeneration and the conditions Ready, Reconciling and Stalled.
func healthOf(o *unstructured.Unstructured) api.ResourceHealth {
	if o.GetDeletionTimestamp() != nil {
		return api.Unhealthy
	}
	if fresh := ruled[o.GroupVersionKind()]; fresh != nil {
		if typed := fresh(); runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed) == nil {
			return health.Workload(typed)
		}
	}
	r, err := status.Compute(o)
	switch {
	case err != nil:
		return api.Unknown
	case r.Status == status.CurrentStatus:
		return api.Healthy
	}
	return api.Unhealthy
}
