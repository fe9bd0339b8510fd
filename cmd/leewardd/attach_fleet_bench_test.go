package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/daemon/attach/writing"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// unpaced lets evictions be as fast as the daemon decides and writes.
const unpaced = "--resource-eviction-rate=100000"

// BenchmarkAnAttachedFleet has the figures of docs/performance.md for one fleet: evictions a second of a daemon that serves it, and of one that is
// attached to an API server with the same objects; how long that takes to start, and a standby to take over; and their memory.
func BenchmarkAnAttachedFleet(b *testing.B) {
	workloads, clusters := 100_000, 100
	if testing.Short() {
		workloads, clusters = 500, 10
	}
	some := workloads / clusters
	for b.Loop() {
		c := newCrowd(b, workloads, clusters)
		c.inFolder(unpaced)
		c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
		c.settles(4)
		c.follows()
		l := leavingFrom(b, c.client)
		own := l.evictions(c.process.Pid, failing)
		report(b, "own", own)
		l.stop()
		require.NoError(b, c.daemon.stop())

		f := serveForeign(b, engine.Config{Resources: engine.Tables(), Dir: filepath.Join(c.dir, "store")})
		objects, err := client.New(f.admin, io.Discard)
		require.NoError(b, err)
		began := time.Now()
		first := f.process(b)
		first.log.await(b, `"message":"this daemon acts"`)
		b.ReportMetric(time.Since(began).Seconds(), "s-start")
		b.ReportMetric(cpuOf(b, first.pid).Seconds(), "cpu-s-start")
		b.ReportMetric(peakOf(b, first.pid), "MiB-peak-start")
		l = leavingFrom(b, objects)
		serving := cpuOf(b, os.Getpid())
		attached := l.evictions(first.pid, "member0002")
		report(b, "attached", attached)
		b.ReportMetric(float64((cpuOf(b, os.Getpid())-serving).Microseconds())/float64(attached.count), "cpu-us/eviction-server")
		b.ReportMetric(attached.took.Seconds()/own.took.Seconds(), "times-own")
		b.ReportMetric(peakOf(b, first.pid), "MiB-peak")

		second := f.process(b)
		second.log.await(b, `"message":"ready to act when this daemon leads"`)
		require.NoError(b, first.end(syscall.SIGTERM))
		b.ReportMetric(l.takeover("member0003").Seconds(), "s-after-SIGTERM")
		l.await("member0003", some)
		third := f.process(b)
		third.log.await(b, `"message":"ready to act when this daemon leads"`)
		b.ReportMetric(peakOf(b, third.pid), "MiB-peak-standby")
		require.NoError(b, second.end(syscall.SIGKILL))
		b.ReportMetric(l.takeover("member0004").Seconds(), "s-after-SIGKILL")
		l.await("member0004", some)
		require.NoError(b, third.end(syscall.SIGKILL))
		alone := l.alone(f, "member0005")
		b.ReportMetric(float64(alone.count)/alone.took.Seconds(), "evictions/s-client-alone")
		l.stop()
	}
}

// took is how long evictions took, from the taint on, and the processor time of the daemon.
type took struct {
	took, cpu time.Duration
	count     int
}

func report(b *testing.B, of string, s took) {
	b.Helper()
	b.ReportMetric(float64(s.count)/s.took.Seconds(), "evictions/s-"+of)
	b.ReportMetric(float64(s.cpu.Microseconds())/float64(s.count), "cpu-us/eviction-"+of)
}

// attachedProcess is an attached daemon in a process of its own.
type attachedProcess struct {
	log *lines
	pid int
	end func(syscall.Signal) error
}

// process acts beside a server, until it is ended or the benchmark is over.
func (f *foreign) process(b *testing.B) *attachedProcess {
	b.Helper()
	p := &attachedProcess{log: &lines{news: make(chan struct{}, 1)}}
	c := exec.Command(os.Args[0])
	arguments := []string{
		"--attach", f.kubeconfig, "--attach-address", "127.0.0.1:0", "--attach-namespace", "default", "--act", "scheduler,eviction,graceful-eviction",
		"--scheduler-name", api.DefaultScheduler, "--log-format", "json", unpaced,
	}
	c.Env, c.Stderr = append(os.Environ(), asDaemon+"="+strings.Join(arguments, " ")), p.log
	require.NoError(b, c.Start())
	p.pid = c.Process.Pid
	ended := sync.OnceFunc(func() { _ = c.Wait() }) // a signal ended it
	p.end = func(s syscall.Signal) error {
		defer ended()
		return c.Process.Signal(s)
	}
	b.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		ended()
	})
	return p
}

// peakOf is the most memory that a process has had, in MiB. Source: proc(5), VmHWM.
func peakOf(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, after, _ := bytes.Cut(text, []byte("VmHWM:"))
	kilobytes, err := strconv.ParseFloat(string(bytes.Fields(after)[0]), 64)
	require.NoError(b, err)
	return kilobytes / 1024
}

// leaving is what leaves clusters, as a watch tells.
type leaving struct {
	b      *testing.B
	client *client.Client
	stop   func()

	mu   sync.Mutex
	news *sync.Cond
	// on are the clusters of each binding, left is how many bindings have left each cluster.
	on   map[string][]string
	left map[string]int
}

// leavingFrom watches the bindings of a server, once it has listed them.
func leavingFrom(b *testing.B, c *client.Client) *leaving {
	b.Helper()
	l := &leaving{b: b, client: c, on: map[string][]string{}, left: map[string]int{}}
	l.news = sync.NewCond(&l.mu)
	ctx, cancel := context.WithCancel(b.Context())
	ended, listed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Follow(ctx, &client.Watching{ // it ends when it is stopped
			Resource: catalog.Bindings, Clock: clock.New(), Lost: func(error) {},
			Listed: func(all []api.Object) {
				for _, o := range all {
					l.see(o)
				}
				close(listed)
			},
			Changed: func(_ watch.EventType, o api.Object) { l.see(o) },
		})
	}()
	l.stop = func() {
		cancel()
		<-ended
	}
	<-listed
	return l
}

func (l *leaving) see(o api.Object) {
	var now []string
	for _, t := range o.(*api.ResourceBinding).Spec.Clusters {
		now = append(now, t.Name)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, before := range l.on[o.GetName()] {
		if !slices.Contains(now, before) {
			l.left[before]++
			l.news.Broadcast()
		}
	}
	l.on[o.GetName()] = now
}

// await waits until so many bindings have left a cluster.
func (l *leaving) await(cluster string, count int) {
	l.b.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	late := time.AfterFunc(10*time.Minute, func() { l.b.Errorf("ten minutes, and not yet evicted from %s", cluster); l.news.Broadcast() })
	defer late.Stop()
	for l.left[cluster] < count && !l.b.Failed() {
		l.news.Wait()
	}
}

// takeover taints a cluster, and returns when the first binding has left it.
func (l *leaving) takeover(cluster string) time.Duration {
	l.b.Helper()
	began := time.Now()
	require.NoError(l.b, l.client.Patch(l.b.Context(), &client.Patch{Resource: catalog.Clusters, Name: cluster, Body: map[string]any{"spec": map[string]any{"taints": []any{noExecute}}}}))
	l.await(cluster, 1)
	return time.Since(began)
}

// evictions taints a cluster, and returns how long a daemon took for nine in ten of those affected.
func (l *leaving) evictions(pid int, cluster string) took {
	l.b.Helper()
	began, cpu := time.Now(), cpuOf(l.b, pid)
	l.mu.Lock()
	affected := 0
	for _, names := range l.on { // order-free: a sum
		if slices.Contains(names, cluster) {
			affected++
		}
	}
	l.mu.Unlock()
	count := affected * 9 / 10
	l.takeover(cluster)
	l.await(cluster, count)
	return took{time.Since(began), cpuOf(l.b, pid) - cpu, count}
}

// alone has a client that only makes the requests evict from a cluster what runs there, as many at the same time as a daemon makes at most: one
// request for each, without its status.
func (l *leaving) alone(f *foreign, cluster string) took {
	l.b.Helper()
	l.mu.Lock()
	bodies := map[string]string{}
	for name, on := range l.on { // order-free: each key once
		if i := slices.Index(on, cluster); i >= 0 {
			bodies[name] = fmt.Sprintf(`[{"op": "remove", "path": "/spec/clusters/%d"}, {"op": "add", "path": "/spec/clusters/-", "value": {"name": "elsewhere", "replicas": 1}},
				{"op": "add", "path": "/spec/gracefulEvictionTasks", "value": [{"fromCluster": %q, "replicas": 1, "reason": "TaintUntolerated", "producer": "TaintManager"}]}]`, i, cluster)
		}
	}
	l.mu.Unlock()
	began := time.Now()
	var all sync.WaitGroup
	names := make(chan string)
	for range writing.MostUnderWay {
		all.Go(func() {
			for name := range names {
				path := "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/" + name
				if err := f.client.CoreV1().RESTClient().Patch(types.JSONPatchType).AbsPath(path).Body([]byte(bodies[name])).Do(l.b.Context()).Error(); err != nil {
					l.b.Error(err)
				}
			}
		})
	}
	for name := range bodies { // order-free: each by itself
		names <- name
	}
	close(names)
	all.Wait()
	return took{took: time.Since(began), count: len(bodies)}
}
