package observed

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"leeward/actors/rules/taint"
	"leeward/messages"
	"leeward/messages/api"
)

// Authors tells the taints that people put on clusters from those that a control plane decides.
type Authors struct {
	// Policies are the ClusterTaintPolicies by now.
	Policies map[string]*api.ClusterTaintPolicy
}

// Note takes in that an object is there now, or is gone.
func (a *Authors) Note(before, now api.Object) {
	if p, is := now.(*api.ClusterTaintPolicy); is {
		a.Policies[p.Name] = p
	}
	if p, was := before.(*api.ClusterTaintPolicy); was && now == nil {
		delete(a.Policies, p.Name)
	}
}

// Users are the taints of a cluster that people put there. By are the managers that wrote this version; empty: that is not known.
func (a *Authors) Users(by []string, before, now *api.Cluster) []corev1.Taint {
	var taints []corev1.Taint
	for _, t := range now.Spec.Taints {
		existing := before != nil && taint.Find(before.Spec.Taints, t.Key, t.Effect) >= 0
		if !a.decided(&t, now) && (existing || a.ByUser(by, &messages.TaintEdit{Taint: t}, before, now)) {
			taints = append(taints, t)
		}
	}
	return taints
}

// ByUser reports whether an edit of a taint is people's. Who wrote it says so where that is known; otherwise it is
// what the taint is for.
func (a *Authors) ByUser(by []string, e *messages.TaintEdit, before, now *api.Cluster) bool {
	if !e.Remove && before != nil {
		if i := taint.Find(before.Spec.Taints, e.Taint.Key, e.Taint.Effect); i >= 0 && before.Spec.Taints[i].Value == e.Taint.Value {
			return false // only its time is set
		}
	}
	if len(by) > 0 {
		return !slices.ContainsFunc(by, ControlPlane)
	}
	if e.Remove {
		return !a.decided(&e.Taint, before)
	}
	return !a.decided(&e.Taint, now)
}

// ControlPlane reports whether a manager is one of Karmada's components. Leeward writes its decisions under no name.
func ControlPlane(manager string) bool { return strings.HasPrefix(manager, "karmada-") }

// system are the taints that a control plane puts on clusters by itself.
var system = []string{api.TaintNotReady, api.TaintUnreachable, api.TaintTerminating, api.TaintDraining}

// decided reports whether a taint of a cluster is the control plane's: its cause says so or, where none is kept, it is a
// taint of the system or of a policy.
func (a *Authors) decided(t *corev1.Taint, of *api.Cluster) bool {
	if cause := of.Status.CauseOf(t); cause != nil {
		return cause.By != api.TaintCauseUser
	}
	if slices.Contains(system, t.Key) {
		return true
	}
	for _, p := range a.Policies { // order-free: any of them
		if p.Spec.Has(t.Key, t.Effect) {
			return true
		}
	}
	return false
}

// OfSilence reports whether a condition is what a control plane makes of a silent agent.
func OfSilence(k metav1.Condition) bool {
	silent := k.Reason == "ClusterStatusUnknown" || k.Reason == "ClusterStatusNeverUpdated"
	return k.Type == api.ConditionReady && k.Status == metav1.ConditionUnknown && silent
}

// claims are the beginnings of labels and annotations by which a control plane says whose an object is.
var claims = []string{
	"propagationpolicy.karmada.io/", "clusterpropagationpolicy.karmada.io/", "resourcetemplate.karmada.io/", api.AnnotationRevision,
	"kubectl.kubernetes.io/last-applied-configuration",
}

// Written is an object as people wrote it; nil for one that is gone, or is going.
func Written(o api.Object) api.Object {
	if o == nil || o.GetDeletionTimestamp() != nil {
		return nil
	}
	own := api.Shallow(o)
	if u, untyped := own.(*unstructured.Unstructured); untyped {
		delete(u.Object, "status")
	} else if status := reflect.ValueOf(own).Elem().FieldByName("Status"); status.IsValid() {
		status.SetZero()
	}
	own.SetResourceVersion("")
	own.SetGeneration(0)
	own.SetFinalizers(nil)
	own.SetOwnerReferences(nil)
	own.SetManagedFields(nil)
	own.SetLabels(unclaimed(o.GetLabels()))
	own.SetAnnotations(unclaimed(o.GetAnnotations()))
	return own
}

// WrittenCluster is a cluster as its agent and people wrote it.
func WrittenCluster(o *api.Cluster) api.Object {
	own := Written(o)
	if own != nil {
		own.(*api.Cluster).Status = api.ClusterStatus{
			KubernetesVersion: o.Status.KubernetesVersion, APIEnablements: o.Status.APIEnablements, Conditions: o.Status.Conditions,
			NodeSummary: o.Status.NodeSummary, ResourceSummary: o.Status.ResourceSummary, NodeTopology: o.Status.NodeTopology,
		}
	}
	return own
}

func unclaimed(all map[string]string) map[string]string {
	rest := maps.Clone(all)
	maps.DeleteFunc(rest, func(key, _ string) bool {
		return slices.ContainsFunc(claims, func(c string) bool { return strings.HasPrefix(key, c) })
	})
	if len(rest) == 0 {
		return nil
	}
	return rest
}
