package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/daemon/telemetry"
	"leeward/runtime/fleet/catalog"
)

func TestAStoreWithNodesIsNotOpenedWithoutThem(t *testing.T) {
	dir := t.TempDir()
	open := func(args ...string) (*engine.Engine, error) {
		c, err := configured(t, "dataDir: "+dir+"\n", args...)
		require.NoError(t, err)
		d := &daemon{clock: clock.New(), metrics: telemetry.New(telemetry.Config{Clock: clock.New(), StoreDir: c.storeDir()})}
		err = d.openStore(c)
		return d.engine, err
	}
	e, err := open("--nodes")
	require.NoError(t, err)
	n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "n1"}}
	_, err = e.CommitVersion(engine.Create(engine.Key(catalog.Nodes.Name(), "", "n1"), n))
	require.NoError(t, err)
	require.NoError(t, e.Close())

	_, err = open()
	require.ErrorContains(t, err, "nodes/n1: the store has no such resource")

	e, err = open("--nodes")
	require.NoError(t, err)
	o, _ := e.Table(catalog.Nodes.Name()).Get(engine.Key(catalog.Nodes.Name(), "", "n1"))
	require.NotNil(t, o, "it is still there")
	require.NoError(t, e.Close())
}

// cluster is what clients of a daemon with --nodes do.
type cluster struct {
	t      *testing.T
	client *kubernetes.Clientset
}

func clusterAt(t *testing.T, r *running) *cluster {
	t.Helper()
	client, err := kubernetes.NewForConfig(r.client)
	require.NoError(t, err)
	return &cluster{t, client}
}

// joins has a node join whose kubelet says that it is ready.
func (c *cluster) joins(name string) {
	c.t.Helper()
	_, err := c.client.CoreV1().Nodes().Create(c.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelTopologyZone: "a"}},
		Status: corev1.NodeStatus{
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastHeartbeatTime: metav1.Now()}},
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")},
		},
	}, metav1.CreateOptions{})
	require.NoError(c.t, err)
}

// runs has a pod bound to a node, which it leaves so many seconds after a taint "maintenance".
func (c *cluster) runs(name string, seconds int64) {
	c.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	p.Spec.Tolerations = []corev1.Toleration{{Key: "maintenance", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds}}
	_, err := c.client.CoreV1().Pods("default").Create(c.t.Context(), p, metav1.CreateOptions{})
	require.NoError(c.t, err)
	c.await(name, func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
}

// await watches a pod until it is as wanted.
func (c *cluster) await(name string, wanted func(*corev1.Pod) bool) (found *corev1.Pod) {
	c.t.Helper()
	w, err := c.client.CoreV1().Pods("default").Watch(c.t.Context(), metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()})
	require.NoError(c.t, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if p, is := e.Object.(*corev1.Pod); is && wanted(p) {
			return p
		}
	}
	c.t.Fatalf("%s never was as wanted", name)
	return nil
}

// taints has a user taint a node, and returns since when it is, with what the daemon warned of.
func (c *cluster) taints(node string) (since time.Time) {
	c.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}}})
	require.NoError(c.t, err)
	_, err = c.client.CoreV1().Nodes().Patch(c.t.Context(), node, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(c.t, err)
	w, err := c.client.CoreV1().Nodes().Watch(c.t.Context(), metav1.ListOptions{})
	require.NoError(c.t, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if n := e.Object.(*corev1.Node); n.Name == node && len(n.Spec.Taints) > 0 && n.Spec.Taints[0].TimeAdded != nil {
			return n.Spec.Taints[0].TimeAdded.Time
		}
	}
	c.t.Fatal("the taint never had a time")
	return since
}

// evicted awaits the eviction of a pod, and wants it to be no earlier than so long after the taint.
func (c *cluster) evicted(name string, taint time.Time, after time.Duration) {
	c.t.Helper()
	p := c.await(name, func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	at := p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second)
	require.False(c.t, at.Before(taint.Add(after)), "%s is before %s and %s", at, taint, after)
	disrupted := p.Status.Conditions[len(p.Status.Conditions)-1]
	require.Equal(c.t, corev1.DisruptionTarget, disrupted.Type)
	require.Contains(c.t, disrupted.Message, "maintenance")
}

func TestADaemonEvictsPodsOfATaintedNodeAlsoAfterItWasKilled(t *testing.T) {
	t.Parallel() // it waits
	dir := t.TempDir()
	r, _ := spawnIn(t, dir, "--nodes")
	c := clusterAt(t, r)
	c.joins("n1")
	c.runs("web", 3)
	c.runs("later", 5)
	since := c.taints("n1")
	require.NoError(t, r.stop())

	r, _ = spawnIn(t, dir, "--nodes")
	c = clusterAt(t, r)
	c.evicted("web", since, 3*time.Second)
	c.evicted("later", since, 5*time.Second)
	_, body := r.read("/metrics")
	require.Contains(t, body, "leeward_pod_evictions_total{zone=\"a\"} 2\n")
	require.Contains(t, body, "leeward_nodes{ready=\"True\",zone=\"a\"} 1\n")
	events, err := c.client.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
	require.NoError(t, err)
	var reasons []string
	for i := range events.Items {
		reasons = append(reasons, events.Items[i].Reason)
	}
	require.Subset(t, reasons, []string{"Scheduled", "TaintManagerEviction"})
}

func TestAStandbyEvictsPodsWhereTheLeaderWasKilled(t *testing.T) {
	t.Parallel() // it waits
	flags, file := shared(etcdtest.Start(t))
	leader, _ := spawn(t, append(flags, "--nodes")...)
	leader.log.await(t, `"message":"this daemon leads"`)
	standby := start(t, file+"nodes: true\n")
	c := clusterAt(t, standby)
	c.joins("n1")
	c.runs("web", 4)
	since := c.taints("n1")
	require.NoError(t, leader.stop())
	standby.log.await(t, `"message":"this daemon leads"`)
	c.evicted("web", since, 4*time.Second)
}

func TestSettingsOfNodesHoldWithoutARestart(t *testing.T) {
	t.Parallel() // it waits
	r := start(t, "nodes: true\n")
	c := clusterAt(t, r)
	c.joins("n1")
	c.runs("web", 3600)
	r.reload("nodes: true\nnodeMonitorGracePeriod: 1s\n")
	w, err := c.client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()
	for e := range w.ResultChan() {
		if n := e.Object.(*corev1.Node); n.Status.Conditions[0].Status == corev1.ConditionUnknown {
			return // its kubelet was silent for a second
		}
	}
	t.Fatal("the node never was Unknown")
}

func TestATaintIsRehearsedBeforeItIsWritten(t *testing.T) {
	t.Parallel()
	r := start(t, "nodes: true\n")
	c := clusterAt(t, r)
	c.joins("n1")
	c.runs("web", 60)
	warned := &warnings{}
	config := *r.client
	config.WarningHandler = warned
	client, err := kubernetes.NewForConfig(&config)
	require.NoError(t, err)
	patch := []byte(`{"spec":{"taints":[{"key":"maintenance","effect":"NoExecute"}]}}`)
	_, err = client.CoreV1().Nodes().Patch(t.Context(), "n1", types.MergePatchType, patch, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	require.Equal(t, []string{"preview: 1 pod would be evicted, in 1m0s: default/web, taint maintenance:NoExecute; toleration 60s"}, warned.texts)
	p, err := client.CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, p.DeletionTimestamp)
}

// warnings collects what a server warns of.
type warnings struct{ texts []string }

func (w *warnings) HandleWarningHeader(_ int, _, text string) { w.texts = append(w.texts, text) }
