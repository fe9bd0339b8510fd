package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// acts are what random writers do, what is to come more often more than once.
var acts = []struct {
	name string
	do   func(*writers)
}{
	{"taint", (*writers).taint},
	{"untaint", (*writers).untaint},
	{"condition", (*writers).condition},
	{"label", (*writers).label},
	{"write cluster", (*writers).writeCluster},
	{"delete cluster", (*writers).deleteCluster},
	{"write policy", (*writers).writePolicy},
	{"write policy", (*writers).writePolicy},
	{"delete policy", (*writers).deletePolicy},
	{"write taint policy", (*writers).writeTaintPolicy},
	{"delete taint policy", (*writers).deleteTaintPolicy},
	{"deployment", (*writers).deployment},
	{"deployment", (*writers).deployment},
	{"deployment", (*writers).deployment},
	{"scale", (*writers).scale},
	{"delete deployment", (*writers).deleteDeployment},
	{"tamper", (*writers).tamper},
	{"delete work", (*writers).deleteWork},
	{"delete binding", (*writers).deleteBinding},
	{"edit binding", (*writers).editBinding},
	{"agent", (*writers).agent},
	{"agent", (*writers).agent},
	{"agent", (*writers).agent},
	{"agent", (*writers).agent},
}

var namespaces = []string{"default", "shop"}

func (w *writers) namespace() string { return namespaces[w.dice.IntN(len(namespaces))] }

func (w *writers) cluster() *api.Cluster { return member(troubled[w.dice.IntN(len(troubled))]) }

// editCluster changes a cluster, if it is there.
func (w *writers) editCluster(change func(*api.Cluster)) {
	if c := w.cluster(); get(w.fixture, c) != nil {
		edit(w.fixture, c, change)
	}
}

func (w *writers) taint() {
	w.editCluster(func(c *api.Cluster) {
		if taint.Find(c.Spec.Taints, failed.Key, failed.Effect) < 0 {
			c.Spec.Taints = append(slices.Clip(c.Spec.Taints), failed)
		}
	})
}

// untaint removes the taint of people, or all others.
func (w *writers) untaint() {
	byUser := w.dice.IntN(2) == 0
	w.editCluster(func(c *api.Cluster) {
		c.Spec.Taints = slices.DeleteFunc(slices.Clone(c.Spec.Taints), func(t corev1.Taint) bool { return byUser == taint.Same(&t, &failed) })
	})
}

func (w *writers) condition() {
	status := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse}[w.dice.IntN(2)]
	w.editCluster(func(c *api.Cluster) {
		c.Status.Conditions = slices.Clone(c.Status.Conditions)
		meta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
			Type: api.ConditionReady, Status: status, Reason: "Tested", LastTransitionTime: metav1.Time{Time: w.clock.Now().Truncate(time.Second)},
		})
	})
}

func (w *writers) label() {
	tier := fmt.Sprint(w.dice.IntN(3))
	w.editCluster(func(c *api.Cluster) { c.Labels = map[string]string{"tier": tier} })
}

func (w *writers) writeCluster() {
	if c := w.cluster(); get(w.fixture, c) == nil {
		w.write(c)
	}
}

func (w *writers) deleteCluster() { w.delete(w.cluster()) }

// claiming is a policy for all Deployments of a namespace.
func (w *writers) claiming(namespace string) *api.PropagationPolicy {
	p := tolerant(int64(20 * w.dice.IntN(15)))
	p.Namespace, p.Spec.ResourceSelectors[0].Name = namespace, ""
	p.Spec.Placement.SpreadConstraints = []api.SpreadConstraint{{SpreadByField: "cluster", MinGroups: 1, MaxGroups: 1 + w.dice.IntN(3)}}
	return p
}

func (w *writers) writePolicy() {
	p := w.claiming(w.namespace())
	if get(w.fixture, p) == nil {
		w.write(p)
		return
	}
	edit(w.fixture, p, func(is *api.PropagationPolicy) {
		is.Spec.Placement = p.Spec.Placement
		is.Generation++
	})
}

func (w *writers) deletePolicy() {
	p := policy()
	p.Namespace = w.namespace()
	w.delete(p)
}

// tainting is a policy that taints clusters that are not Ready, and those of a tier only if it selects one.
func (w *writers) tainting() *api.ClusterTaintPolicy {
	p := named(&api.ClusterTaintPolicy{}, api.PolicyGroupVersion, "ClusterTaintPolicy", "", "not-ready")
	ready := func(o api.MatchOperator) []api.MatchCondition {
		return []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: o, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue}}}
	}
	p.Spec.AddOnConditions, p.Spec.RemoveOnConditions = ready(api.MatchNotIn), ready(api.MatchIn)
	p.Spec.Taints = []api.PolicyTaint{{Key: "unready", Effect: []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule}[w.dice.IntN(2)]}}
	if tier := w.dice.IntN(6); tier < 3 {
		p.Spec.TargetClusters = &api.ClusterAffinity{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": fmt.Sprint(tier)}}}
	}
	return p
}

func (w *writers) writeTaintPolicy() {
	p := w.tainting()
	if get(w.fixture, p) == nil {
		w.write(p)
		return
	}
	edit(w.fixture, p, func(is *api.ClusterTaintPolicy) {
		is.Spec = p.Spec
		is.Generation++
	})
}

func (w *writers) deleteTaintPolicy() { w.delete(w.tainting()) }

// template names one of four workloads, of two namespaces.
func (w *writers) template() *appsv1.Deployment {
	d := deployment(int32(w.dice.IntN(5)), fmt.Sprint("nginx:", w.dice.IntN(5)))
	d.Namespace, d.Name = w.namespace(), []string{"web", "api"}[w.dice.IntN(2)]
	return d
}

func (w *writers) deployment() {
	d := w.template()
	if get(w.fixture, d) == nil {
		w.write(d)
		return
	}
	edit(w.fixture, d, func(is *appsv1.Deployment) {
		is.Spec = d.Spec
		is.Generation++
	})
}

func (w *writers) scale() {
	if d := w.template(); get(w.fixture, d) != nil {
		edit(w.fixture, d, func(is *appsv1.Deployment) {
			is.Spec.Replicas = d.Spec.Replicas
			is.Generation++
		})
	}
}

func (w *writers) deleteDeployment() { w.delete(w.template()) }

// delete takes an object out of the store, or begins to, as an API does.
func (w *writers) delete(o api.Object) {
	table, key := w.table(o)
	is, version := table.Get(key)
	if is == nil {
		return
	}
	write := engine.Delete(key, version)
	if len(is.GetFinalizers()) > 0 {
		if is.GetDeletionTimestamp() != nil {
			return
		}
		next := api.Shallow(is)
		next.SetDeletionTimestamp(&metav1.Time{Time: w.clock.Now()})
		write = engine.Update(key, next, version)
	}
	require.NoError(w.t, w.engine.Commit(write))
}

// work is one of the Works, nil where there is none.
func (w *writers) work() *api.Work {
	works := all[*api.Work](w.fixture, catalog.Works)
	if len(works) == 0 {
		return nil
	}
	return works[w.dice.IntN(len(works))]
}

func (w *writers) tamper() {
	if is := w.work(); is != nil && is.DeletionTimestamp == nil {
		edit(w.fixture, is, func(o *api.Work) {
			o.Spec.Workload.Manifests = []api.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": 9}}`)}}}
			o.Generation++
		})
	}
}

func (w *writers) deleteWork() {
	if is := w.work(); is != nil {
		w.delete(is)
	}
}

func (w *writers) binding() *api.ResourceBinding {
	d := w.template()
	return named(&api.ResourceBinding{}, api.WorkGroupVersion, "ResourceBinding", d.Namespace, d.Name+"-deployment")
}

func (w *writers) deleteBinding() { w.delete(w.binding()) }

func (w *writers) editBinding() {
	if b := w.binding(); get(w.fixture, b) != nil {
		edit(w.fixture, b, func(b *api.ResourceBinding) { b.Labels = map[string]string{"team": fmt.Sprint(w.dice.IntN(3))} })
	}
}

func (w *writers) agent() {
	if is := w.work(); is != nil {
		w.obeys(is)
	}
}

func all[O api.Object](f *fixture, r *catalog.Resource) (list []O) {
	for _, o := range f.engine.Table(r.Name()).Snapshot().Under("", "") {
		list = append(list, o.(O))
	}
	return list
}
