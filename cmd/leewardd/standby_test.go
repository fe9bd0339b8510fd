package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/cmd/internal/logging"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/join"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/engine/wal"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/daemon/etcd/etcdtest"
	"leeward/runtime/daemon/leadership"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
)

// asDaemon has this process be a daemon with these arguments, for tests that kill it.
const asDaemon = "LEEWARDD_ARGUMENTS"

// hanging names a machine of that daemon whose step does not return once it hears of a taint: "binding/default/web-deployment".
const hanging = "LEEWARDD_HANGS"

// awaited is how many tests wait at the same time: for leases, agents and other processes, with little to compute.
const awaited = "6"

func TestMain(m *testing.M) {
	if arguments := os.Getenv(asDaemon); arguments != "" {
		os.Args = append(os.Args[:1], strings.Fields(arguments)...)
		if culprit := os.Getenv(hanging); culprit != "" {
			hang(culprit)
			return
		}
		main()
		return
	}
	logging.HearLibraries(zerolog.New(os.Stderr)) // before a client of a test runs: klog's logger must not change then
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) { // unless it is given
		_ = f.Value.Set(awaited)
	}
	code := m.Run()
	_ = os.RemoveAll(builds)
	os.Exit(code)
}

// spawn runs the daemon in a process of its own, until the test ends.
func spawn(t testing.TB, arguments ...string) (*running, *os.Process) {
	t.Helper()
	return spawnIn(t, t.TempDir(), arguments...)
}

// spawnIn is spawn with the data that a folder has.
func spawnIn(t testing.TB, dir string, arguments ...string) (*running, *os.Process) {
	t.Helper()
	return spawnWith(t, dir, "", arguments...)
}

// spawnWith is spawnIn with a machine that hangs; empty: none does.
func spawnWith(t testing.TB, dir, culprit string, arguments ...string) (*running, *os.Process) {
	t.Helper()
	r := &running{t: t, log: &lines{news: make(chan struct{}, 1)}}
	c := exec.Command(os.Args[0])
	arguments = append([]string{"--data-dir", filepath.Join(dir, "data"), "--secure-port", "0", "--log-format", "json"}, arguments...)
	c.Env, c.Stderr = append(os.Environ(), asDaemon+"="+strings.Join(arguments, " "), hanging+"="+culprit), r.log
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	r.stop = sync.OnceValue(func() error {
		killed := c.Process.Kill()
		_ = c.Wait() // it was killed, as it says
		return killed
	})
	t.Cleanup(func() { require.NoError(t, r.stop()) })
	require.True(t, r.connect(out), r.log)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return r, c.Process
}

// shared has daemons share an etcd, as flags and as a file. A standby takes over after five seconds.
func shared(server string) (flags []string, file string) {
	const timing = "leaderElectLeaseDuration: 5s\nleaderElectRenewDeadline: 4s\nleaderElectRetryPeriod: 200ms\n"
	for line := range strings.Lines(timing) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		flags = append(flags, "--"+config.FlagOf(field)+"="+value)
	}
	return append(flags, "--etcd-servers="+server), fmt.Sprintf("etcdServers: [%q]\nlogLevel: debug\n%s", server, timing)
}

// pairOf are a leader in a process of its own, and a standby, by which people and agents do all that they do.
func pairOf(t *testing.T) (leader *running, process *os.Process, standby *running, seen *onlooker) {
	t.Helper()
	flags, file := shared(etcdtest.Start(t))
	leader, process = spawn(t, flags...)
	leader.log.await(t, `"message":"this daemon leads"`)
	standby = start(t, file)
	c, err := client.New(standby.client, io.Discard)
	require.NoError(t, err)
	return leader, process, standby, &onlooker{t, t.Context(), c}
}

var (
	webBinding = api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: "default", Name: "web-deployment"}
	firstOne   = api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: "m1"}
)

// tolerated is how long the workload of leaves stays on a cluster that failed.
const tolerated = 4 * time.Second

// leaves has a workload run on a cluster that fails then, and returns when it is due to leave it.
func leaves(standby *running, seen *onlooker) (due time.Time) {
	standby.apply(strings.ReplaceAll(manifests, "3600", "4"))
	standby.apply("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: m2}\nspec: {syncMode: Pull, taints: [{key: later, effect: NoSchedule}]}\n")
	standby.patch("m1", up, "status")
	standby.patch("m2", up, "status")
	await(seen, webBinding, func(b *api.ResourceBinding) bool { return len(b.Spec.Clusters) == 1 })
	standby.patch("m2", `{"spec":{"taints":[]}}`)
	standby.patch("m1", `{"spec":{"taints":[{"key":"failed","effect":"NoExecute"}]}}`)
	await(seen, firstOne, func(c *api.Cluster) bool {
		stamped := len(c.Spec.Taints) == 1 && c.Spec.Taints[0].TimeAdded != nil
		if stamped {
			due = c.Spec.Taints[0].TimeAdded.Add(tolerated)
		}
		return stamped
	})
	return due
}

// left awaits that the workload leaves, and holds it to the time that it was due.
func left(t *testing.T, seen *onlooker, due time.Time) {
	await(seen, webBinding, func(b *api.ResourceBinding) bool {
		if len(b.Spec.GracefulEvictionTasks) == 0 {
			return false
		}
		require.Equal(t, "m2", b.Spec.Clusters[0].Name)
		at := b.Spec.GracefulEvictionTasks[0].CreationTimestamp
		require.False(t, at.Time.Before(due), "%s is before %s", at, due)
		return true
	})
	require.Eventually(t, func() bool { return len(evictions(t, seen)) > 0 }, 3*time.Minute, 20*time.Millisecond) // it follows the task
	require.Len(t, evictions(t, seen), 1)
}

// evictions are the Events that tell of any: there is another one of each about the workload.
func evictions(t *testing.T, seen *onlooker) (all []string) {
	t.Helper()
	events, _, err := seen.client.List(seen.ctx, catalog.Events, "", "")
	require.NoError(t, err)
	for _, o := range events {
		if e := o.(*corev1.Event); e.Reason == "EvictionStarted" && e.InvolvedObject.Kind == "ResourceBinding" {
			all = append(all, e.Message)
		}
	}
	return all
}

// holder is who holds the Lease.
func holder(t *testing.T, seen *onlooker) string {
	t.Helper()
	lease, err := seen.client.Get(seen.ctx, catalog.Leases, leadership.Namespace, leadership.Name)
	require.NoError(t, err)
	return *lease.(*coordinationv1.Lease).Spec.HolderIdentity
}

func TestAStandbyGoesOnWhereTheLeaderWasKilled(t *testing.T) {
	t.Parallel() // it waits
	leader, _, standby, seen := pairOf(t)
	before := holder(t, seen)
	due := leaves(standby, seen)
	require.Eventually(t, func() bool { code, _ := standby.read("/readyz"); return code == http.StatusOK }, 3*time.Minute, 20*time.Millisecond)
	_, body := standby.read("/metrics")
	require.Contains(t, body, "\nleeward_leader 0\n")
	acknowledged, err := client.New(leader.client, io.Discard)
	require.NoError(t, err)
	maps := catalog.Of(api.Key{APIVersion: "v1", Kind: "ConfigMap"})
	for i := range 20 {
		_, err := acknowledged.Create(t.Context(), maps, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("a", i)}})
		require.NoError(t, err)
	}
	const acts = `"message":"acts for the cluster in push mode"`
	pushed := &join.Request{Hub: acknowledged, Member: silent(t), Cluster: &api.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "pushed"}}}
	pushed.Member.Describe(pushed.Cluster)
	require.NoError(t, pushed.Join(t.Context()))
	leader.log.await(t, acts)
	require.False(t, standby.log.has(acts), "the leader alone acts for clusters")
	standby.log.await(t, `"message":"the machines of this standby follow the leader"`)
	require.NoError(t, leader.stop())

	standby.log.await(t, `"message":"this daemon leads"`)
	standby.log.await(t, `"message":"the machines that followed the leader decide"`)
	standby.log.await(t, acts)
	require.NotEqual(t, before, holder(t, seen))
	left(t, seen, due)
	kept, _, err := seen.client.List(seen.ctx, maps, "default", "")
	require.NoError(t, err)
	require.Len(t, kept, 20)
	_, body = standby.read("/metrics")
	require.Contains(t, body, "\nleeward_leader 1\n")
}

func TestALeaderThatWakesUpDeposedDecidesNothing(t *testing.T) {
	t.Parallel() // it waits
	leader, process, standby, seen := pairOf(t)
	due := leaves(standby, seen)
	require.NoError(t, process.Signal(syscall.SIGSTOP))
	standby.log.await(t, `"message":"this daemon leads"`)
	left(t, seen, due)
	require.NoError(t, process.Signal(syscall.SIGCONT))
	leader.log.await(t, `"message":"this daemon leads no longer"`)
	require.Len(t, evictions(t, seen), 1)
	code, body := leader.read("/readyz")
	require.Equal(t, http.StatusOK, code, body)
	_, body = leader.read("/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/web-deployment")
	require.Contains(t, body, `"name":"m2"`, "it serves what the other decided")
	standby.patch("m1", `{"spec":{"taints":[]}}`)
	_, body = leader.read("/apis/cluster.karmada.io/v1alpha1/clusters/m1")
	require.NotContains(t, body, "timeAdded", "what was written there is read here at once")
}

func TestALeaderThatStopsGivesTheLeaseBack(t *testing.T) {
	t.Parallel() // it waits
	_, file := shared(etcdtest.Start(t))
	slow := strings.NewReplacer("Duration: 5s", "Duration: 1h", "Deadline: 4s", "Deadline: 30m").Replace(file)
	leader := start(t, slow)
	leader.log.await(t, `"message":"this daemon leads"`)
	standby := start(t, slow)
	standby.reload(slow + "gracefulEvictionTimeout: 5m\n") // of which no machines need to hear
	require.NoError(t, leader.stop())
	standby.log.await(t, `"message":"this daemon leads"`)
}

func TestWithoutItsEtcdADaemonDecidesNothingAndGoesOnAfterwards(t *testing.T) {
	t.Parallel() // it waits
	line := etcdtest.Through(t, etcdtest.Start(t))
	_, file := shared(line.Server())
	r := start(t, file)
	r.log.await(t, `"message":"this daemon leads"`)
	line.Cut(true)
	r.log.await(t, `"message":"this daemon leads no longer"`)
	code, body := r.read("/readyz")
	require.Equal(t, http.StatusInternalServerError, code, body)
	code, body = r.read("/api/v1/namespaces/default")
	require.Equal(t, http.StatusServiceUnavailable, code, body)
	require.Contains(t, body, "the shared store does not answer")

	line.Cut(false)
	r.log.awaitTimes(t, `"message":"this daemon leads"`, 2)
	code, body = r.read("/api/v1/namespaces/default")
	require.Equal(t, http.StatusOK, code, body)
}

// TestADaemonThatCanFollowItsEtcdNoLongerEnds has another program write into etcd what is no object.
func TestADaemonThatCanFollowItsEtcdNoLongerEnds(t *testing.T) {
	t.Parallel() // it waits
	for _, shadow := range []string{"false", "true"} {
		server := etcdtest.Start(t)
		flags, _ := shared(server)
		log := &lines{news: make(chan struct{}, 1)}
		c := rootCommand(nil)
		c.SetArgs(append(flags, "--data-dir", t.TempDir(), "--secure-port", "0", "--shadow="+shadow))
		c.SetOut(io.Discard)
		c.SetErr(log)
		ended := make(chan error, 1)
		go func() { ended <- c.ExecuteContext(t.Context()) }()
		log.await(t, `"message":"started"`)
		store, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/leeward", Clock: clock.New()})
		require.NoError(t, err)
		require.NoError(t, store.Fill(t.Context(), true, []wal.Record{{Key: engine.Key(catalog.Clusters.Name(), "", "m1"), Object: []byte("rubbish")}}))
		require.ErrorContains(t, <-ended, "m1", "in shadow: %s", shadow)
		require.NoError(t, store.Close())
	}
}
