package kubeapi_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/runtime/daemon/kubeapi"
)

// eachKubectl runs a test with each kubectl that $KUBECTL names, with spaces between, such as the newest and the
// oldest that must work: .ci/run names them. What does not look the same in every version is not to be looked at.
func eachKubectl(t *testing.T, test func(t *testing.T, k *kubectl)) {
	t.Helper()
	binaries := strings.Fields(os.Getenv("KUBECTL"))
	if len(binaries) == 0 {
		t.Skip("KUBECTL names no kubectl")
	}
	for _, name := range binaries {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			binary, err := exec.LookPath(name)
			require.NoError(t, err)
			d := serve(t, previewing)
			test(t, &kubectl{t, binary, d, t.TempDir()})
		})
	}
}

// kubectl is one of them, speaking to a server of its own as its administrator.
type kubectl struct {
	t      *testing.T
	binary string
	daemon *daemon
	dir    string // it works in
}

func (k *kubectl) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(k.t.Context(), k.binary, args...)
	c.Dir = k.dir
	c.Env = append(os.Environ(), "KUBECONFIG="+k.daemon.KubeconfigFile(), "HOME="+k.dir, "TMPDIR="+k.dir)
	return c
}

// step is one command and something that it says.
type step struct {
	args  string // with spaces between
	stdin string
	shows string
	fails bool
	// editor is what "kubectl edit" runs.
	editor string
}

func (k *kubectl) run(s step) {
	k.t.Helper()
	c := k.command(strings.Fields(s.args)...)
	c.Env = append(c.Env, "KUBE_EDITOR="+s.editor)
	c.Stdin = strings.NewReader(s.stdin)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	require.Equal(k.t, s.fails, err != nil, "kubectl %s: %v\n%s", s.args, err, &out)
	require.Contains(k.t, out.String(), s.shows, "kubectl %s", s.args)
}

func TestKubectl(t *testing.T) {
	for name, steps := range sessions {
		t.Run(name, func(t *testing.T) {
			eachKubectl(t, func(_ *testing.T, k *kubectl) {
				for _, s := range steps {
					k.run(s)
				}
			})
		})
	}
}

func TestKubectlFollowsWhatChanges(t *testing.T) {
	eachKubectl(t, func(t *testing.T, k *kubectl) {
		k.daemon.create(clusters, cluster("m1"))
		ctx, stop := context.WithCancel(t.Context())
		c := k.command("get", "clusters", "-o", "wide", "--watch")
		c.Cancel = func() error { return c.Process.Kill() }
		out, err := c.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, c.Start())
		t.Cleanup(func() { stop(); _ = c.Process.Kill(); _ = c.Wait() }) // killed, which is an error
		awaitLine(t, out, "m1")
		taint := []byte(`{"spec":{"taints":[{"key":"spot","effect":"NoSchedule"}]}}`)
		_, err = k.daemon.in(clusters, kubeapi.Admin()).Patch(ctx, "m1", types.MergePatchType, taint, metav1.PatchOptions{})
		require.NoError(t, err)
		awaitLine(t, out, "spot:NoSchedule")
	})
}

// awaitLine reads until a line says something.
func awaitLine(t *testing.T, from io.Reader, what string) {
	t.Helper()
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if strings.Contains(lines.Text(), what) {
			return
		}
	}
	t.Fatalf("never said: %s", what)
}
