package nodes

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// writers are users and kubelets that do anything at any time, and a controller that may die at any time.
type writers struct {
	*cluster
	random *rand.Rand
	pods   int
}

func (w *writers) one(of int) int { return w.random.IntN(of) }

func (w *writers) nodeName() string { return fmt.Sprintf("n%d", w.one(3)) }

func (w *writers) podName() string { return fmt.Sprintf("p%d", w.one(w.pods+1)) }

var effects = []corev1.TaintEffect{corev1.TaintEffectNoExecute, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule}

// act writes something, and says what.
func (w *writers) act() string {
	switch w.one(9) {
	case 0:
		name := w.nodeName()
		if w.node(name) != nil {
			return "nothing"
		}
		w.alive[name] = true
		w.put(readyNode(name, w.clock.Now()))
		return name + " joins"
	case 1:
		name := w.nodeName()
		key := engine.Key(catalog.Nodes.Name(), "", name)
		if w.node(name) == nil || w.one(4) > 0 {
			return "nothing"
		}
		delete(w.alive, name)
		require.NoError(w.t, w.engine.Commit(engine.Delete(key, w.engine.Table(catalog.Nodes.Name()).Version(key))))
		return name + " is deleted"
	case 2, 3:
		return w.editNode(w.nodeName())
	case 4:
		w.pods++
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p%d", w.pods)}}
		p.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		p.Status.Phase = corev1.PodPending
		for range w.one(3) {
			t := corev1.Toleration{Key: fmt.Sprintf("k%d", w.one(2)), Operator: corev1.TolerationOpExists}
			if w.one(2) == 0 {
				t.Effect, t.TolerationSeconds = corev1.TaintEffectNoExecute, ptr.To(int64(w.one(90)))
			}
			p.Spec.Tolerations = append(p.Spec.Tolerations, t)
		}
		w.put(p)
		return p.Name + " is created"
	case 5:
		name := w.nodeName()
		if w.alive[name] {
			delete(w.alive, name)
		} else if w.node(name) != nil {
			w.alive[name] = true
		}
		return fmt.Sprint(name, " is alive: ", w.alive[name])
	default:
		return w.editPod(w.podName())
	}
}

func readyNode(name string, now time.Time) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Time{Time: now}}},
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("3")},
		},
	}
}

func (w *writers) editNode(name string) string {
	o := w.node(name)
	if o == nil {
		return "nothing"
	}
	said := "its kubelet reports"
	switch w.one(4) {
	case 0:
		o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: fmt.Sprintf("k%d", w.one(2)), Value: fmt.Sprint(w.pods), Effect: effects[w.one(3)]})
		said = "a taint"
		for i := range o.Spec.Taints[:len(o.Spec.Taints)-1] {
			if last := &o.Spec.Taints[len(o.Spec.Taints)-1]; o.Spec.Taints[i].MatchTaint(last) {
				return "nothing"
			}
		}
	case 1:
		if len(o.Spec.Taints) == 0 {
			return "nothing"
		}
		o.Spec.Taints = o.Spec.Taints[1:]
		said = "one taint less"
	case 2:
		o.Spec.Unschedulable = !o.Spec.Unschedulable
		said = fmt.Sprint("unschedulable: ", o.Spec.Unschedulable)
	default:
		if !w.alive[name] {
			return "nothing"
		}
		c := &o.Status.Conditions[0]
		c.LastHeartbeatTime = metav1.Time{Time: w.clock.Now()}
		c.Status = []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[w.one(2)]
	}
	w.put(o)
	return name + ": " + said
}

func (w *writers) editPod(name string) string {
	p := w.pod(name)
	if p == nil {
		return "nothing"
	}
	said := "its kubelet says something"
	switch w.one(4) {
	case 0:
		if p.DeletionTimestamp == nil || p.Spec.NodeName != "" && w.node(p.Spec.NodeName) != nil && !w.alive[p.Spec.NodeName] {
			return "nothing"
		}
		w.remove(name)
		return name + " has ended"
	case 1:
		p.Spec.Tolerations = append(p.Spec.Tolerations, bearing(fmt.Sprintf("k%d", w.one(2)), int64(w.one(90))))
		said = "one toleration more"
	case 2:
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = append(p.Status.Conditions[:0:0], corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: w.clock.Now()}})
		if p.Spec.NodeName == "" {
			return "nothing"
		}
		said = "ready"
	default:
		p.Status.Message = fmt.Sprint(w.one(1000))
	}
	w.put(p)
	return name + ": " + said
}

// disturbed is a round that others write into, or in which the controller dies.
func (w *writers) disturbed() string {
	w.take()
	_, err := w.settle()
	require.NoError(w.t, err)
	if w.one(4) == 0 {
		w.restart()
		return "it dies, and is started again"
	}
	said := w.act()
	require.NoError(w.t, w.flush())
	return "meanwhile " + said
}

// overdue is what should have been evicted by now, by the taints and tolerations that are stored alone.
func (w *writers) overdue() (all []string) {
	for _, o := range w.engine.Table(catalog.Pods.Name()).Snapshot().Under(engine.Prefix(catalog.Pods.Name()), "") {
		p := o.(*corev1.Pod)
		n := w.node(p.Spec.NodeName)
		if n == nil || p.DeletionTimestamp != nil {
			continue
		}
		for i := range n.Spec.Taints {
			t := &n.Spec.Taints[i]
			if t.Effect == corev1.TaintEffectNoExecute && (t.TimeAdded == nil || !w.tolerates(p, t)) {
				all = append(all, fmt.Sprintf("%s on %s, for %s since %s", p.Name, n.Name, t.ToString(), t.TimeAdded))
			}
		}
	}
	return all
}

// tolerates reports whether a pod may still remain: the shortest of its tolerations for a taint counts.
func (w *writers) tolerates(p *corev1.Pod, t *corev1.Taint) bool {
	matched := false
	for i := range p.Spec.Tolerations {
		tol := &p.Spec.Tolerations[i]
		if tol.Key != t.Key || tol.Effect != "" && tol.Effect != t.Effect {
			continue
		}
		matched = true
		if tol.TolerationSeconds != nil && !t.TimeAdded.Add(time.Duration(*tol.TolerationSeconds)*time.Second).After(w.clock.Now()) {
			return false
		}
	}
	return matched
}

// decisions is an object without its version and the words of its conditions: why no node takes a pod is said when it is asked for a node, which
// is only after changes that could help it.
func decisions(o engine.Object) engine.Object {
	if o == nil {
		return nil
	}
	o = o.DeepCopyObject().(engine.Object)
	o.SetResourceVersion("")
	if p, is := o.(*corev1.Pod); is {
		for i := range p.Status.Conditions {
			p.Status.Conditions[i].Message = ""
		}
	}
	return o
}

// TestWhateverUsersAndKubeletsDoNothingIsForgotten has them write between any two steps of a controller that is killed now and then. In the
// end nothing is overdue, what is stored is what the machines have, and another start finds nothing to do.
func TestWhateverUsersAndKubeletsDoNothingIsForgotten(t *testing.T) {
	for seed := range uint64(25) {
		w := &writers{cluster: newCluster(t, settings(t, config.Default)), random: rand.New(rand.NewPCG(seed, 1))}
		var trace []string
		for range 40 {
			said := w.act()
			if w.one(2) == 0 {
				said += ", " + w.disturbed()
			}
			trace = append(trace, said)
			w.pass(time.Duration(w.one(30)) * time.Second)
		}
		w.pass(5 * time.Minute) // the rates of zones have let everything through
		require.Empty(t, w.overdue(), "seed %d: %q", seed, trace)
		for _, name := range w.tier.Pods() {
			_, local := name.Split()
			require.Equal(t, w.pod(local), w.tier.Pod(name), "seed %d: %q", seed, trace)
		}
		require.Len(t, w.tier.Pods(), w.engine.Table(catalog.Pods.Name()).Len(), "seed %d: %q", seed, trace)
		news := w.engine.Follow()
		w.restart()
		for _, c := range news.Take() {
			require.Equal(t, decisions(c.Previous()), decisions(c.Object), "a start found something to do; seed %d: %q", seed, trace)
		}
		w.Close()
	}
}
