package kubeapi_test

import (
	"os"
	"strings"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// withNodes serves nodes and pods, too.
func withNodes(t testing.TB) (*daemon, *kubernetes.Clientset) {
	t.Helper()
	e, err := engine.Open(engine.Config{Resources: engine.Tables(catalog.OfNodes...), Clock: clock.New()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	d := start(t, e, t.TempDir(), "127.0.0.1:0")
	client, err := kubernetes.NewForConfig(d.as(kubeapi.Admin()))
	require.NoError(t, err)
	return d, client
}

func nodeNamed(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"node-role.kubernetes.io/worker": "", "zone": "a"}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			NodeInfo:   corev1.NodeSystemInfo{KubeletVersion: "v1.37.0"},
		},
	}
}

func podOn(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

func TestNodesAndPodsAreServedOnlyWhereTheEngineHasTablesOfThem(t *testing.T) {
	served := func(d *daemon) (names []string) {
		client, err := kubernetes.NewForConfig(d.as(kubeapi.Admin()))
		require.NoError(t, err)
		list, err := client.Discovery().ServerResourcesForGroupVersion("v1")
		require.NoError(t, err)
		for _, r := range list.APIResources {
			names = append(names, r.Name)
		}
		return names
	}
	without := served(serve(t))
	require.NotContains(t, without, "nodes")
	require.NotContains(t, without, "pods")
	d, _ := withNodes(t)
	require.Subset(t, served(d), []string{"nodes", "nodes/status", "pods", "pods/status", "pods/eviction"})
}

func TestANodeKeepsWhatItsKubeletReportsAndItsTaintsAreValidated(t *testing.T) {
	_, client := withNodes(t)
	nodes := client.CoreV1().Nodes()
	n, err := nodes.Create(t.Context(), nodeNamed("n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "v1.37.0", n.Status.NodeInfo.KubeletVersion)

	n.Spec.Taints = []corev1.Taint{{Key: "a", Effect: "Sometimes"}}
	_, err = nodes.Update(t.Context(), n, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err))
	require.ErrorContains(t, err, "taints[0].effect")

	n.Spec.Taints, n.Status.NodeInfo.KubeletVersion = nil, "v2"
	n, err = nodes.Update(t.Context(), n, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.Equal(t, "v1.37.0", n.Status.NodeInfo.KubeletVersion, "the status has its own path")
}

func TestAPodIsDeletedGracefullyWhereAKubeletMustEndIt(t *testing.T) {
	_, client := withNodes(t)
	pods := client.CoreV1().Pods("default")
	for _, p := range []*corev1.Pod{podOn("bound", "n1"), podOn("pending", "")} {
		created, err := pods.Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, corev1.PodPending, created.Status.Phase)
		require.Equal(t, corev1.PodQOSBestEffort, created.Status.QOSClass)
		require.NoError(t, pods.Delete(t.Context(), p.Name, metav1.DeleteOptions{}))
	}
	_, err := pods.Get(t.Context(), "pending", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	bound, err := pods.Get(t.Context(), "bound", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 30, *bound.DeletionGracePeriodSeconds)

	require.NoError(t, pods.Delete(t.Context(), "bound", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}), "as its kubelet does")
	_, err = pods.Get(t.Context(), "bound", metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
}

func TestAnEvictionDeletesAPodAsItAsks(t *testing.T) {
	_, client := withNodes(t)
	pods := client.CoreV1().Pods("default")
	_, err := pods.Create(t.Context(), podOn("a", "n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	evict := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "a"}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(7)), DryRun: []string{metav1.DryRunAll}}}
	require.NoError(t, pods.EvictV1(t.Context(), evict))
	a, err := pods.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, a.DeletionTimestamp, "it was a dry run")

	evict.DeleteOptions.DryRun = nil
	require.NoError(t, pods.EvictV1(t.Context(), evict))
	a, err = pods.Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 7, *a.DeletionGracePeriodSeconds)
	evict.Name = "nobody"
	require.True(t, apierrors.IsNotFound(pods.EvictV1(t.Context(), evict)))
}

// TestKubectlOfNodes holds the server to what kubectl says of nodes and pods.
func TestKubectlOfNodes(t *testing.T) {
	names := strings.Fields(os.Getenv("KUBECTL"))
	if len(names) == 0 {
		t.Skip("KUBECTL names no kubectl")
	}
	d, client := withNodes(t)
	_, err := client.CoreV1().Nodes().Create(t.Context(), nodeNamed("n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), podOn("web", "n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	k := &kubectl{t, names[0], d, t.TempDir()}
	for _, s := range []step{
		{args: "get nodes", shows: "NAME   STATUS   ROLES    AGE"},
		{args: "get no n1 --no-headers", shows: "n1    Ready   worker"},
		{args: "get pods -o wide", shows: "NAME   READY   STATUS    RESTARTS   AGE"},
		{args: "get po -o wide --field-selector spec.nodeName=n1", shows: "NODE   NOMINATED NODE   READINESS GATES"},
		{args: "taint nodes n1 dedicated=gpu:NoSchedule", shows: "node/n1 tainted"},
		{args: "describe node n1", shows: "dedicated=gpu:NoSchedule"},
		{args: "cordon n1", shows: "node/n1 cordoned"},
		{args: "get nodes", shows: "Ready,SchedulingDisabled"},
		{args: "uncordon n1", shows: "node/n1 uncordoned"},
		{args: "drain n1 --force --timeout 1s", shows: "evicting pod default/web", fails: true}, // no kubelet ends the pod
		{args: "get pods", shows: "Terminating"},
		{args: "delete pod web --force", shows: `pod "web" force deleted`},
		{args: "delete node n1", shows: `node "n1" deleted`},
	} {
		k.run(s)
	}
}
