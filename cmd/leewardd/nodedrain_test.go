package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// drained is a cluster whose nodes are drained by leeward, with kubelets that end the pods that are deleted.
type drained struct {
	*cluster
	daemon *running
}

// builds is the folder of the leeward that tests run; empty: none was built.
var builds string

// buildLeeward builds it once.
var buildLeeward = sync.OnceValue(func() error {
	var err error
	if builds, err = os.MkdirTemp("", "leeward"); err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", builds, "../leeward").CombinedOutput(); err != nil {
		return fmt.Errorf("build leeward: %w: %s", err, out)
	}
	return nil
})

func drainable(t *testing.T) *drained {
	t.Helper()
	r := start(t, "nodes: true\n")
	d := &drained{clusterAt(t, r), r}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.kubelets(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return d
}

// kubelets end the pods that are deleted, and have the others be ready.
func (s *drained) kubelets(ctx context.Context) error {
	pods := s.client.CoreV1().Pods(metav1.NamespaceAll)
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		p, is := e.Object.(*corev1.Pod)
		if !is || p.Spec.NodeName == "" || e.Type == "DELETED" {
			continue
		}
		of := s.client.CoreV1().Pods(p.Namespace)
		if p.DeletionTimestamp != nil {
			_ = of.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)}) // another word of it may have come first
			continue
		}
		if p.Status.Phase != corev1.PodRunning {
			p.Status.Phase = corev1.PodRunning
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()})
			_, _ = of.UpdateStatus(ctx, p, metav1.UpdateOptions{}) // or it is told again
		}
	}
	return nil
}

// serves has a pod run on a node, of an owner that nothing keeps up.
func (s *drained) serves(name, node string) {
	s.t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}}}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "App", Name: "web", UID: "1", Controller: new(true)}}
	p.Spec = corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	_, err := s.client.CoreV1().Pods("default").Create(s.t.Context(), p, metav1.CreateOptions{})
	require.NoError(s.t, err)
	s.await(name, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
}

// leeward runs leeward at the daemon.
func (r *running) leeward(line string) (code int, stdout, stderr string) {
	r.t.Helper()
	require.NoError(r.t, buildLeeward())
	var out, problems strings.Builder
	kubeconfig := filepath.Join(filepath.Dir(r.config), "data", "kubeconfig")
	c := exec.CommandContext(r.t.Context(), filepath.Join(builds, "leeward"), append(strings.Fields(line), "--kubeconfig", kubeconfig)...)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); c.ProcessState == nil {
		return -1, "", fmt.Sprint(err)
	}
	return c.ProcessState.ExitCode(), out.String(), problems.String()
}

// counted waits until the controller has counted a budget.
func (s *drained) counted(name string, allowed int32) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		b, err := s.client.PolicyV1().PodDisruptionBudgets("default").Get(s.t.Context(), name, metav1.GetOptions{})
		return err == nil && b.Status.ObservedGeneration == b.Generation && b.Status.DisruptionsAllowed == allowed && len(b.Status.DisruptedPods) == 0
	}, 3*time.Minute, 10*time.Millisecond)
}

func TestADrainAtAnAPIServerKeepsToBudgets(t *testing.T) {
	t.Parallel()
	s := drainable(t)
	s.joins("n1")
	s.joins("n2")
	s.serves("web-1", "n1")
	s.serves("web-2", "n2")
	two := intstr.FromInt32(2)
	_, err := s.client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &two, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	s.counted("web", 0)

	code, stdout, stderr := s.daemon.leeward("drain nodes n1 --dry-run=server --timeout 1s")
	require.Equal(t, 1, code, "the server says what it would say: %s", stdout)
	require.Contains(t, stderr, "Cannot evict pod as it would violate the pod's disruption budget.")
	node, err := s.client.CoreV1().Nodes().Get(t.Context(), "n1", metav1.GetOptions{})
	require.NoError(t, err)
	require.False(t, node.Spec.Unschedulable, "nothing was written")

	code, stdout, stderr = s.daemon.leeward("drain nodes n1 --timeout 1s")
	require.Equal(t, 1, code, stdout)
	require.Contains(t, stdout, "node/n1 cordoned\nevicting pod default/web-1\n")
	require.Contains(t, stderr, "Cannot evict pod as it would violate the pod's disruption budget.")
	require.Contains(t, stderr, "global timeout reached: 1s")

	s.serves("web-3", "n2") // with one more the budget allows it
	s.counted("web", 1)
	code, stdout, stderr = s.daemon.leeward("drain nodes n1 --dry-run=server")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "node/n1 drained (server dry run)")
	s.counted("web", 1) // no disruption was taken
	code, stdout, stderr = s.daemon.leeward("drain nodes n1 --grace-period 1")
	require.Zero(t, code, stderr)
	require.Equal(t, "node/n1 already cordoned\nevicting pod default/web-1\npod/web-1 evicted\nnode/n1 drained\n", stdout)
}

func TestADrainWithoutEvictionDeletesWhateverBudgetsSay(t *testing.T) {
	t.Parallel()
	s := drainable(t)
	s.joins("n1")
	s.serves("web-1", "n1")
	one := intstr.FromInt32(1)
	_, err := s.client.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	s.counted("web", 0)
	code, stdout, stderr := s.daemon.leeward("drain nodes n1 --disable-eviction")
	require.Zero(t, code, stderr)
	require.Equal(t, "node/n1 cordoned\npod/web-1 deleted\nnode/n1 drained\n", stdout)
}
