package nodes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// start is a whole second: what is stamped is as exact as the API stores it.
var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// cluster is an engine with a controller that looks after it, and users and kubelets who write to it.
type cluster struct {
	*Controller
	t        testing.TB
	clock    *clock.Mock
	engine   *engine.Engine
	settings messages.Settings
	shadow   bool
	term     int64
	// alive are the nodes whose kubelets renew their Leases every 10 seconds.
	alive map[string]bool
}

func settings(t testing.TB, profile string, given ...config.Override) messages.Settings {
	t.Helper()
	s, problems := config.Resolve(profile, given)
	require.Empty(t, problems)
	return s
}

// unopened is a cluster without an engine and a controller.
func unopened(t testing.TB, s messages.Settings) *cluster {
	c := &cluster{t: t, clock: clock.NewMock(), settings: s, alive: map[string]bool{}}
	c.clock.Set(start)
	return c
}

func tables() []engine.Resource { return engine.Tables(catalog.OfNodes...) }

func newCluster(t testing.TB, s messages.Settings) *cluster {
	t.Helper()
	c := unopened(t, s)
	var err error
	c.engine, err = engine.Open(engine.Config{Resources: tables(), Clock: c.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.engine.Close()) })
	c.open()
	t.Cleanup(func() { c.Close() })
	return c
}

func leeward(t testing.TB) *cluster { return newCluster(t, settings(t, config.Default)) }

func (c *cluster) open() {
	c.t.Helper()
	var err error
	c.Controller, err = Open(Config{Engine: c.engine, Term: c.term, Settings: c.settings, Clock: c.clock, Log: zerolog.Nop(), Shadow: c.shadow})
	require.NoError(c.t, err)
	c.step()
}

// restart ends the controller, as a crash would, and starts another.
func (c *cluster) restart() {
	c.t.Helper()
	c.Close()
	c.open()
}

// step has the controller act until there is nothing more to do.
func (c *cluster) step() {
	c.t.Helper()
	for again := true; again; {
		var err error
		again, err = c.round()
		require.NoError(c.t, err)
	}
}

// pass lets time pass, kubelets renew their Leases and the controller act, as often as something is due.
func (c *cluster) pass(d time.Duration) {
	c.t.Helper()
	end := c.clock.Now().Add(d)
	for {
		next := end
		if due, is := c.kernel.Next(); is && due.Before(next) {
			next = due
		}
		if beat := c.clock.Now().Truncate(10 * time.Second).Add(10 * time.Second); len(c.alive) > 0 && !beat.After(next) {
			next = beat
			c.clock.Set(beat)
			c.beat()
		}
		if next.After(c.clock.Now()) {
			c.clock.Set(next)
		}
		c.step()
		if due, is := c.kernel.Next(); !c.clock.Now().Before(end) && (!is || due.After(end)) {
			return
		}
	}
}

// beat has the kubelets that are alive renew their Leases.
func (c *cluster) beat() {
	for name := range c.alive {
		c.put(&coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: c.clock.Now()}},
		})
	}
}

func resourceOf(o api.Object) *catalog.Resource {
	switch o.(type) {
	case *corev1.Node:
		return catalog.Nodes
	case *corev1.Pod:
		return catalog.Pods
	case *policyv1.PodDisruptionBudget:
		return catalog.PodBudgets
	case *coordinationv1.Lease:
		return catalog.Leases
	}
	return catalog.Of(api.KeyOf(o))
}

// put stores an object as an API would, without letting the controller act.
func (c *cluster) put(o api.Object) {
	c.t.Helper()
	r := resourceOf(o)
	_, version := c.engine.Table(r.Name()).Get(keyOf(r, o))
	if o.GetUID() == "" {
		o.SetUID(uuid.NewUUID())
		o.SetCreationTimestamp(metav1.Time{Time: c.clock.Now()})
	}
	require.NoError(c.t, c.engine.Commit(engine.Update(keyOf(r, o), o, version)))
}

func stored[O api.Object](c *cluster, r *catalog.Resource, namespace, name string) (o O) {
	if got, _ := c.engine.Table(r.Name()).Get(engine.Key(r.Name(), namespace, name)); got != nil {
		o = got.DeepCopyObject().(O)
	}
	return o
}

func (c *cluster) node(name string) *corev1.Node {
	return stored[*corev1.Node](c, catalog.Nodes, "", name)
}
func (c *cluster) pod(name string) *corev1.Pod {
	return stored[*corev1.Pod](c, catalog.Pods, "default", name)
}

// remove removes a pod as its kubelet does when it has ended.
func (c *cluster) remove(name string) {
	c.t.Helper()
	key := engine.Key(catalog.Pods.Name(), "default", name)
	require.NoError(c.t, c.engine.Commit(engine.Delete(key, c.engine.Table(catalog.Pods.Name()).Version(key))))
}

// join has nodes join whose kubelets are alive.
func (c *cluster) join(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.alive[name] = true
		c.put(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelHostname: name}},
			Status: corev1.NodeStatus{
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Time{Time: c.clock.Now()}}},
				Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")},
			},
		})
	}
	c.beat()
	c.step()
}

// run stores a pod that runs on a node, with its tolerations.
func (c *cluster) run(name, node string, tolerations ...corev1.Toleration) {
	c.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}}}
	p.Spec = corev1.PodSpec{NodeName: node, Tolerations: tolerations, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	p.Status.Phase = corev1.PodPending
	if node != "" {
		p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: c.clock.Now()}}}}
	}
	c.put(p)
	c.step()
}

// taint has a user taint a node.
func (c *cluster) taint(name string, taints ...corev1.Taint) {
	c.t.Helper()
	o := c.node(name)
	o.Spec.Taints = append(o.Spec.Taints, taints...)
	c.put(o)
	c.step()
}

func bearing(key string, seconds int64) corev1.Toleration {
	return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}
}

var maintenance = corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}

// terminating is when a pod was to end, after the start; false: it is not being deleted.
func (c *cluster) terminating(name string) (after time.Duration, is bool) {
	p := c.pod(name)
	if p == nil || p.DeletionTimestamp == nil {
		return 0, false
	}
	return p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second).Sub(start), true
}

// events are the reasons and texts of the Events about an object.
func (c *cluster) events(kind, name string) (all []string) {
	for _, o := range c.engine.Table(catalog.Events.Name()).Snapshot().Under(engine.Prefix(catalog.Events.Name()), "") {
		if e := o.(*corev1.Event); e.InvolvedObject.Kind == kind && e.InvolvedObject.Name == name {
			all = append(all, e.Reason+": "+e.Message)
		}
	}
	return all
}

func taintKeys(o *corev1.Node) (all []string) {
	for _, t := range o.Spec.Taints {
		all = append(all, fmt.Sprintf("%s:%s", t.Key, t.Effect))
	}
	return all
}

func TestAPodIsEvictedWhenItsTolerationEnds(t *testing.T) {
	c := leeward(t)
	c.join("n1", "n2")
	c.run("web", "n1", bearing("maintenance", 60))
	c.run("stays", "n1", corev1.Toleration{Operator: corev1.TolerationOpExists})
	c.pass(5 * time.Second)
	c.taint("n1", maintenance)
	require.Equal(t, start.Add(5*time.Second), c.node("n1").Spec.Taints[0].TimeAdded.UTC(), "the time counts from when the taint was added")

	c.pass(59 * time.Second)
	_, is := c.terminating("web")
	require.False(t, is)
	c.pass(time.Second)
	after, is := c.terminating("web")
	require.True(t, is)
	require.Equal(t, 65*time.Second, after)
	i := len(c.pod("web").Status.Conditions) - 1
	require.Equal(t, corev1.DisruptionTarget, c.pod("web").Status.Conditions[i].Type)
	require.Contains(t, c.pod("web").Status.Conditions[i].Message, "maintenance")
	_, is = c.terminating("stays")
	require.False(t, is)
	require.Contains(t, strings.Join(c.events("Pod", "web"), "\n"), "TaintManagerEviction: ")
}

func TestADeadlineIsTheSameAfterARestart(t *testing.T) {
	c := leeward(t)
	c.join("n1", "n2")
	c.run("web", "n1", bearing("maintenance", 60))
	c.run("late", "n1", bearing("maintenance", 100))
	c.taint("n1", maintenance)
	told := len(c.events("Pod", "web"))
	c.pass(30 * time.Second)
	c.restart()
	require.Len(t, c.events("Pod", "web"), told, "a restart tells nothing again")
	c.pass(30 * time.Second)
	after, is := c.terminating("web")
	require.True(t, is)
	require.Equal(t, 60*time.Second, after)

	c.Close() // and it is down when the next is due
	c.clock.Add(50 * time.Second)
	c.open()
	after, is = c.terminating("late")
	require.True(t, is)
	require.Equal(t, 110*time.Second, after, "as soon as it is up")
}

func TestWhatIsEditedWhileAnEvictionWaitsCounts(t *testing.T) {
	c := leeward(t)
	c.join("n1")
	c.run("web", "n1", bearing("maintenance", 60))
	c.taint("n1", maintenance)
	p := c.pod("web")
	p.Spec.Tolerations[0].TolerationSeconds = ptr.To(int64(20))
	c.put(p)
	c.pass(20 * time.Second)
	after, is := c.terminating("web")
	require.True(t, is)
	require.Equal(t, 20*time.Second, after)

	c.run("spared", "n1", bearing("maintenance", 60))
	o := c.node("n1")
	o.Spec.Taints = nil
	c.put(o)
	c.step()
	c.pass(10 * time.Minute)
	_, is = c.terminating("spared")
	require.False(t, is, c.events("Pod", "spared"))
}

func TestANodeWhoseKubeletIsSilentIsTaintedAndItsPodsMove(t *testing.T) {
	c := leeward(t)
	c.join("n1", "n2")
	c.run("web", "n1", bearing(corev1.TaintNodeUnreachable, 300))
	c.pass(60 * time.Second)
	require.Empty(t, c.node("n1").Spec.Taints)
	delete(c.alive, "n1") // it was alive at 60 s
	c.pass(49 * time.Second)
	require.Equal(t, corev1.ConditionTrue, c.node("n1").Status.Conditions[0].Status)
	c.pass(time.Second)
	require.Equal(t, corev1.ConditionUnknown, c.node("n1").Status.Conditions[0].Status)
	require.Equal(t, []string{"node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"}, taintKeys(c.node("n1")))
	require.Equal(t, corev1.ConditionFalse, c.pod("web").Status.Conditions[0].Status, "its pods are not ready")
	c.pass(300 * time.Second)
	after, is := c.terminating("web")
	require.True(t, is)
	require.Equal(t, 410*time.Second, after)

	o := c.node("n1") // its kubelet is back
	o.Status.Conditions[0].Status, o.Status.Conditions[0].LastHeartbeatTime = corev1.ConditionTrue, metav1.Time{Time: c.clock.Now()}
	c.put(o)
	c.step()
	require.Empty(t, c.node("n1").Spec.Taints)
	require.Contains(t, strings.Join(c.events("Node", "n1"), "\n"), "NodeTaintRemoved: ")
}

func TestAPendingPodIsBoundToANodeThatItTolerates(t *testing.T) {
	c := leeward(t)
	c.join("n1", "n2")
	c.taint("n1", corev1.Taint{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule})
	c.run("web", "")
	require.Equal(t, "n2", c.pod("web").Spec.NodeName)
	require.Contains(t, strings.Join(c.events("Pod", "web"), "\n"), "Scheduled: ")

	o := c.node("n2")
	o.Spec.Unschedulable = true
	c.put(o)
	c.step()
	c.run("waits", "")
	require.Empty(t, c.pod("waits").Spec.NodeName)
	conditions := c.pod("waits").Status.Conditions
	require.Equal(t, corev1.PodReasonUnschedulable, conditions[0].Reason)
	require.Contains(t, conditions[0].Message, "0/2 nodes are available")
	o = c.node("n2")
	o.Spec.Unschedulable = false
	o.Spec.Taints = nil // kubectl uncordon, and the taint of the cordon goes with it
	c.put(o)
	c.pass(time.Minute)
	require.Equal(t, "n2", c.pod("waits").Spec.NodeName)

	foreign := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "foreign"}}
	foreign.Spec.SchedulerName = "another"
	c.put(foreign)
	c.pass(time.Minute)
	require.Empty(t, c.pod("foreign").Spec.NodeName, "another scheduler binds it")
}

func TestAKubeletReportsBetweenADecisionAndItsCommit(t *testing.T) {
	c := leeward(t)
	c.join("n1")
	c.run("web", "n1", bearing("maintenance", 60))
	c.taint("n1", maintenance)
	told := c.events("Pod", "web")
	c.clock.Add(60 * time.Second)
	c.take()
	_, err := c.settle()
	require.NoError(t, err)
	p := c.pod("web")
	require.Nil(t, p.DeletionTimestamp, "decided, and not committed")
	p.Status.Message = "the kubelet says something"
	c.put(p)
	require.NoError(t, c.flush())
	_, is := c.terminating("web")
	require.False(t, is, "it has met a change")
	require.Equal(t, told, c.events("Pod", "web"), "and nothing is told of it yet")
	c.step()
	after, is := c.terminating("web")
	require.True(t, is)
	require.Equal(t, 60*time.Second, after)
	require.Equal(t, "the kubelet says something", c.pod("web").Status.Message)
}

func TestAPodOfANodeThatIsGoneIsRemovedWhateverIsReportedOfIt(t *testing.T) {
	c := leeward(t)
	c.join("n1")
	c.run("web", "n1")
	key := engine.Key(catalog.Nodes.Name(), "", "n1")
	require.NoError(t, c.engine.Commit(engine.Delete(key, c.engine.Table(catalog.Nodes.Name()).Version(key))))
	delete(c.alive, "n1")
	c.take()
	_, err := c.settle()
	require.NoError(t, err)
	for due, is := c.kernel.Next(); is && c.tier.Pod("default/web") != nil; due, is = c.kernel.Next() {
		c.clock.Set(due)
		_, err := c.settle()
		require.NoError(t, err)
	}
	require.Nil(t, c.tier.Pod("default/web"), "collected")
	p := c.pod("web")
	p.Status.Message = "late"
	c.put(p)
	require.NoError(t, c.flush())
	require.NotNil(t, c.pod("web"), "it has met a change")
	c.step()
	require.Nil(t, c.pod("web"))
}

func TestBudgetsAreCountedAndHonoured(t *testing.T) {
	c := newCluster(t, settings(t, config.Default, config.Override{Field: "podEvictionsHonourBudgets", Value: true}))
	c.join("n1", "n2")
	c.run("a", "n1")
	c.run("b", "n2")
	one := intstr.FromInt32(1)
	c.put(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	})
	c.step()
	budget := func() policyv1.PodDisruptionBudgetStatus {
		return stored[*policyv1.PodDisruptionBudget](c, catalog.PodBudgets, "default", "web").Status
	}
	require.EqualValues(t, 1, budget().DisruptionsAllowed)
	require.EqualValues(t, 2, budget().CurrentHealthy)

	c.taint("n1", maintenance)
	c.taint("n2", maintenance)
	_, a := c.terminating("a")
	_, b := c.terminating("b")
	require.NotEqual(t, a, b, "one of them, for the budget wants the other")
	require.Zero(t, budget().DisruptionsAllowed)
	c.remove("a")
	c.run("c", "n2", corev1.Toleration{Operator: corev1.TolerationOpExists})
	c.pass(time.Minute)
	_, b = c.terminating("b")
	require.True(t, b, "a replacement runs")
}

func TestAShadowWritesNothing(t *testing.T) {
	c := unopened(t, settings(t, config.Default))
	c.shadow = true
	var err error
	c.engine, err = engine.Open(engine.Config{Resources: tables(), Clock: c.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.engine.Close()) })
	c.open()
	t.Cleanup(func() { c.Close() })
	c.join("n1")
	c.run("web", "n1")
	c.run("pending", "")
	c.taint("n1", maintenance)
	before := c.node("n1").ResourceVersion
	c.pass(10 * time.Minute)
	require.Equal(t, before, c.node("n1").ResourceVersion)
	require.Nil(t, c.pod("web").DeletionTimestamp)
	require.Empty(t, c.pod("pending").Spec.NodeName)
	require.Empty(t, c.events("Pod", "web"))
}

func TestInProfileKubernetesARestartTakesFailureTaintsOff(t *testing.T) {
	c := newCluster(t, settings(t, "kubernetes"))
	c.join("n1", "n2")
	delete(c.alive, "n1")
	c.pass(2 * time.Minute)
	require.Contains(t, taintKeys(c.node("n1")), "node.kubernetes.io/unreachable:NoExecute")
	c.restart()
	require.NotContains(t, taintKeys(c.node("n1")), "node.kubernetes.io/unreachable:NoExecute")
	c.pass(2 * time.Minute)
	require.Contains(t, taintKeys(c.node("n1")), "node.kubernetes.io/unreachable:NoExecute", "at the rate of its zone")
}
