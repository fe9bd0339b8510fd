package kubeapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
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

func TestAPodStaysOnItsNodeWhateverAClientWrites(t *testing.T) {
	_, client := withNodes(t)
	pods := client.CoreV1().Pods("default")
	_, err := pods.Create(t.Context(), podOn("p", "n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	patch := func(kind types.PatchType, text string) (*corev1.Pod, error) {
		return pods.Patch(t.Context(), "p", kind, []byte(text), metav1.PatchOptions{})
	}
	_, err = patch(types.MergePatchType, `{"spec": {"nodeName": "n2"}}`)
	require.True(t, apierrors.IsInvalid(err))
	require.ErrorContains(t, err, "spec.nodeName: Forbidden")
	p, err := patch(types.JSONPatchType, `[{"op": "remove", "path": "/spec/nodeName"}]`)
	require.NoError(t, err)
	require.Equal(t, "n1", p.Spec.NodeName)

	nodes := client.CoreV1().Nodes()
	_, err = nodes.Create(t.Context(), nodeNamed("n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = nodes.Patch(t.Context(), "n1", types.MergePatchType, []byte(`{"status": {"capacity": {"cpu": "-1"}}}`), metav1.PatchOptions{}, "status")
	require.ErrorContains(t, err, `status.capacity[cpu]: Invalid value: "-1"`)
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

// counted has a budget be as the controller has counted it.
func counted(t *testing.T, d *daemon, o *policyv1.PodDisruptionBudget, allowed, healthy, desired int32) {
	t.Helper()
	key := engine.Key(catalog.PodBudgets.Name(), o.Namespace, o.Name)
	stored, version := d.engine.Table(catalog.PodBudgets.Name()).Get(key)
	b := stored.DeepCopyObject().(*policyv1.PodDisruptionBudget)
	b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, b.Status.DesiredHealthy, b.Status.ObservedGeneration = allowed, healthy, desired, b.Generation
	require.NoError(t, d.engine.Commit(engine.Update(key, b, version)))
}

func TestAnEvictionTakesADisruptionThatTheBudgetAllows(t *testing.T) {
	d, client := withNodes(t)
	pods, budgets := client.CoreV1().Pods("default"), client.PolicyV1().PodDisruptionBudgets("default")
	one := intstr.FromInt32(1)
	b, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "other"} {
		p := podOn(name, "n1")
		if name != "other" {
			p.Labels = map[string]string{"app": "web"}
		}
		p, err := pods.Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
		p.Status.Phase, p.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err = pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
		require.NoError(t, err)
	}
	evict := func(name string, dryRun ...string) error {
		return pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}, DeleteOptions: &metav1.DeleteOptions{DryRun: dryRun}})
	}

	err = evict("a")
	require.True(t, apierrors.IsTooManyRequests(err), "not counted yet")
	counted(t, d, b, 1, 2, 1)
	require.NoError(t, evict("a", metav1.DryRunAll))
	require.NoError(t, evict("a"))
	got, err := budgets.Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	require.Zero(t, got.Status.DisruptionsAllowed)
	require.Contains(t, got.Status.DisruptedPods, "a")

	err = evict("b")
	require.True(t, apierrors.IsTooManyRequests(err), "before the controller counts again, too")
	status := err.(apierrors.APIStatus).Status()
	require.Equal(t, "Cannot evict pod as it would violate the pod's disruption budget.", status.Message)
	require.Equal(t, policyv1.DisruptionBudgetCause, status.Details.Causes[0].Type)
	require.Contains(t, status.Details.Causes[0].Message, "The disruption budget web needs 1 healthy pods")
	kept, err := pods.Get(t.Context(), "b", metav1.GetOptions{})
	require.NoError(t, err)
	require.Nil(t, kept.DeletionTimestamp)
	require.NoError(t, evict("other"), "no budget selects it")
	require.NoError(t, evict("a"), "it is being deleted")
}

func TestANewNodeAndANewPodAreAdmittedAsByThePlugins(t *testing.T) {
	_, client := withNodes(t)
	n, err := client.CoreV1().Nodes().Create(t.Context(), nodeNamed("n1"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}, n.Spec.Taints)
	p, err := client.CoreV1().Pods("default").Create(t.Context(), podOn("a", ""), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Len(t, p.Spec.Tolerations, 2)
	require.EqualValues(t, 300, *p.Spec.Tolerations[0].TolerationSeconds)
	_, err = client.CoreV1().Namespaces().Get(t.Context(), corev1.NamespaceNodeLease, metav1.GetOptions{})
	require.NoError(t, err, "kubelets renew their Leases there")

	urgent := podOn("urgent", "")
	urgent.Spec.PriorityClassName = "high"
	_, err = client.CoreV1().Pods("default").Create(t.Context(), urgent, metav1.CreateOptions{})
	require.EqualError(t, err, `pods "urgent" is forbidden: no PriorityClass with name high was found`)
	classes := client.SchedulingV1().PriorityClasses()
	for name, value := range map[string]int32{"high": 1000, "usual": 10} {
		c := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: name == "usual"}
		_, err = classes.Create(t.Context(), c, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for name, want := range map[string]int32{"high": 1000, "": 10, "system-node-critical": 2_000_001_000} {
		p := podOn("urgent-"+name+"x", "")
		p.Spec.PriorityClassName = name
		p, err = client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
		require.NoError(t, err)
		require.Equal(t, want, *p.Spec.Priority)
	}
}

func TestNodesBudgetsAndWhatKubeletsReportAreBounded(t *testing.T) {
	d, client := withNodes(t)
	for i := range 10 {
		writes := make([]engine.Write, 1000)
		for j := range writes {
			name := fmt.Sprintf("n%d", 1000*i+j)
			writes[j] = engine.Create(engine.Key(catalog.Nodes.Name(), "", name), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		}
		require.NoError(t, d.engine.Commit(writes...))
	}
	_, err := client.CoreV1().Nodes().Create(t.Context(), nodeNamed("more"), metav1.CreateOptions{})
	require.True(t, apierrors.IsForbidden(err))
	require.ErrorContains(t, err, "there are 10000 nodes already, which is the most")

	for i := range 101 {
		_, err = client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("b", i)}}, metav1.CreateOptions{})
		if i < 100 {
			require.NoError(t, err)
		}
	}
	require.True(t, apierrors.IsForbidden(err))
	require.ErrorContains(t, err, "namespace default has 100 poddisruptionbudgets already, which is the most")

	n, err := client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	require.NoError(t, err)
	for i := range 101 {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeConditionType(fmt.Sprint("c", i)), Status: corev1.ConditionTrue})
	}
	_, err = client.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err))
	require.ErrorContains(t, err, "status.conditions")
	n.Status.Conditions = []corev1.NodeCondition{{Type: "Ready", Status: corev1.ConditionTrue, Message: strings.Repeat("x", 1<<20)}}
	_, err = client.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	require.True(t, apierrors.IsInvalid(err))
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
		{args: "delete pod web --grace-period 1 --wait=false", shows: "deleted"},
		{args: "drain n1 --force --grace-period 1 --skip-wait-for-delete-timeout 1", shows: `pod "web" has DeletionTimestamp older than 1 seconds, skipping`},
		{args: "drain n1 --force --skip-wait-for-delete-timeout 1", shows: "node/n1 drained"}, // with no word of the pod
		{args: "delete pod web --force", shows: `pod "web" force deleted`},
		{args: "delete node n1", shows: `node "n1" deleted`},
	} {
		k.run(s)
	}
}
