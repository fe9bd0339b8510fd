package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/actors"
	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/daemon/etcd"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/config"
	"leeward/runtime/storm"
)

// crowd is a fleet of many workloads, on two clusters each, with a daemon that looks after them in a process of its own. Those on
// the first cluster must be evicted. No agent answers, so handovers do not end.
type crowd struct {
	t       testing.TB
	fleet   storm.Fleet
	daemon  *running
	process *os.Process
	client  *client.Client
	follows context.CancelFunc
	dir     string // of the daemon's data, where it is in a folder
	listens second // when the daemon began to, and what it had used

	mu   sync.Mutex
	news *sync.Cond
	// placed are the replicas that each binding asks for, once it is placed, and evicted the version by which it was, as seen first.
	placed  map[string]int32
	evicted map[string]int64
	// first is when an eviction was seen, and longest how long after its decision one was at most: after it was due, and people
	// had asked for it, for the machines' clock ticks in seconds when they hear of people.
	first, asked time.Time
	longest      time.Duration
	// wrong are the bindings that were evicted twice from the cluster that failed, or not at all although that had been seen.
	wrong []string
}

const failing = "member0001"

func newCrowd(t testing.TB, bindings, clusters int) *crowd {
	c := &crowd{t: t, placed: map[string]int32{}, evicted: map[string]int64{}}
	c.news = sync.NewCond(&c.mu)
	c.fleet = storm.Fleet{
		Clusters: clusters, Bindings: bindings, Regions: 10, Seed: 1,
		Placements: storm.Mix{{Kind: "dynamic", Weight: 1}}, Tolerations: storm.Mix{{Kind: "none", Weight: 1}},
	}
	return c
}

// writeTo builds the fleet in a store before the machines run.
func (c *crowd) writeTo(e engine.Config) {
	c.t.Helper()
	e.Resources, e.Clock = engine.Tables(), clock.New()
	settings, problems := config.Resolve(config.Default, []config.Override{{Field: "allowNoExecuteTaintPolicy", Value: "true"}})
	require.Empty(c.t, problems)
	into, err := engine.Open(e)
	require.NoError(c.t, err)
	require.NoError(c.t, c.fleet.Write(into, &settings, e.Clock))
	require.NoError(c.t, into.Close())
}

// inFolder has a daemon look after the crowd in a folder, from which it is started again after a kill.
func (c *crowd) inFolder(arguments ...string) (restart func()) {
	c.t.Helper()
	dir := c.t.TempDir()
	c.dir = filepath.Join(dir, "data")
	c.writeTo(engine.Config{Dir: filepath.Join(c.dir, "store")})
	restart = func() {
		c.t.Helper()
		c.follow(spawnIn(c.t, dir, arguments...))
		c.listens = second{at: time.Now(), cpu: cpuOf(c.t, c.process.Pid)}
		c.daemon.log.await(c.t, `"message":"started"`)
	}
	restart()
	return restart
}

// inEtcd has a pair of daemons look after the crowd in an etcd. It is watched at the standby.
func (c *crowd) inEtcd(server string, arguments ...string) (leader *running, process *os.Process) {
	c.t.Helper()
	shares, err := etcd.Open(etcd.Config{Servers: []string{server}, Prefix: "/leeward", Clock: clock.New()})
	require.NoError(c.t, err)
	c.writeTo(engine.Config{Shared: shares})
	flags, _ := shared(server)
	flags = append(flags, "--leader-elect-lease-duration=2s", "--leader-elect-renew-deadline=1500ms")
	leader, process = spawn(c.t, append(flags, arguments...)...)
	leader.log.await(c.t, `"message":"this daemon leads"`)
	c.follow(spawn(c.t, append(flags, arguments...)...))
	c.daemon.log.await(c.t, `"message":"the machines of this standby follow the leader"`)
	return leader, process
}

// follow hears of all bindings at a daemon.
func (c *crowd) follow(daemon *running, process *os.Process) {
	c.t.Helper()
	c.daemon, c.process = daemon, process
	var err error
	c.client, err = client.New(daemon.client, io.Discard)
	require.NoError(c.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	if c.follows != nil {
		c.follows()
	}
	c.follows = cancel
	c.t.Cleanup(cancel)
	go func() {
		_ = c.client.Follow(ctx, &client.Watching{ // it ends with the test
			Resource: catalog.Bindings, Clock: clock.New(), Lost: func(error) {},
			Listed:  func(all []api.Object) { c.see(false, all...) },
			Changed: func(_ watch.EventType, o api.Object) { c.see(true, o) },
		})
	}()
}

// see notes what became of bindings: of what is seen when it comes, how long after the decision.
func (c *crowd) see(comes bool, all ...api.Object) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range all {
		b := o.(*api.ResourceBinding)
		if len(b.Spec.Clusters) > 0 {
			c.placed[b.Name] = b.Spec.Replicas
		}
		_, known := c.evicted[b.Name]
		began := slices.DeleteFunc(slices.Clone(b.Status.FailoverHistory), func(h api.FailoverRecord) bool { return h.FromCluster != failing })
		if len(began) > 1 || known && len(began) == 0 {
			c.wrong = append(c.wrong, fmt.Sprintf("%s: %+v", b.Name, b.Status.FailoverHistory))
		}
		if known || len(began) == 0 {
			continue
		}
		c.evicted[b.Name] = engine.VersionOf(b)
		if len(c.evicted) == 1 {
			c.first = now
		}
		if comes {
			c.longest = max(c.longest, now.Sub(actors.Later(c.asked, began[0].StartTime.Time)))
		}
	}
	c.news.Broadcast()
}

// await waits until something holds of what was seen.
func (c *crowd) await(what string, holds func() bool) {
	c.t.Helper()
	late := time.AfterFunc(10*time.Minute, func() { c.t.Errorf("ten minutes, and not yet %s", what); c.news.Broadcast() })
	defer late.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		c.news.Wait()
		if c.t.Failed() {
			c.t.FailNow()
		}
	}
}

func (c *crowd) awaitEvicted(n int) {
	c.t.Helper()
	c.await(fmt.Sprint(n, " evicted"), func() bool { return len(c.evicted) >= n })
}

func (c *crowd) evictedSoFar() int { return c.evictedAfter(0) }

// evictedAfter counts what was committed after a version.
func (c *crowd) evictedAfter(version int64) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.evicted {
		if at > version {
			n++
		}
	}
	return n
}

// settles waits until the machines have decided on something that people asked for last, and that was seen: what was decided
// before was seen, too.
func (c *crowd) settles(replicas int32) {
	c.t.Helper()
	c.patch(catalog.Of(api.Key{APIVersion: "apps/v1", Kind: "Deployment"}), "default", "app0000001", map[string]any{"spec": map[string]any{"replicas": replicas}})
	c.await("the marker", func() bool { return c.placed["app0000001-deployment"] == replicas })
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(c.t, c.wrong)
}

// asks notes that people ask for evictions now.
func (c *crowd) asks() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = time.Now()
}

func (c *crowd) patch(r *catalog.Resource, namespace, name string, body map[string]any) {
	c.t.Helper()
	require.NoError(c.t, c.client.Patch(c.t.Context(), &client.Patch{Resource: r, Namespace: namespace, Name: name, Body: body}))
}

func (c *crowd) taint(taints ...any) {
	c.t.Helper()
	c.asks()
	c.patch(catalog.Clusters, "", failing, map[string]any{"spec": map[string]any{"taints": taints}})
}

var noExecute = map[string]any{"key": "failed", "effect": "NoExecute"}

// pause pauses evictions, as leeward pause does, and returns the version by which that is acknowledged.
func (c *crowd) pause(reason string) (version int64) {
	c.t.Helper()
	body := map[string]any{"spec": map[string]any{"pause": map[string]any{"reason": reason}}}
	p := &client.Patch{Resource: catalog.Governors, Name: api.GovernorName, Body: body}
	err := c.client.Patch(c.t.Context(), p)
	if apierrors.IsNotFound(err) {
		g := &api.Governor{}
		g.Name = api.GovernorName
		_, _ = c.client.Create(c.t.Context(), catalog.Governors, g) // the daemon may have made it
		err = c.client.Patch(c.t.Context(), p)
	}
	require.NoError(c.t, err)
	return c.held(func(h *api.HoldStatus) bool { return h.Reason == reason })
}

// hold holds what leaves the cluster that fails, likewise.
func (c *crowd) hold(reason string) (version int64) {
	c.t.Helper()
	c.patch(catalog.Clusters, "", failing, map[string]any{"metadata": map[string]any{"annotations": map[string]any{api.AnnotationHold: reason}}})
	return c.held(func(h *api.HoldStatus) bool { return h.Cluster == failing })
}

func (c *crowd) release() {
	c.t.Helper()
	c.asks()
	c.patch(catalog.Clusters, "", failing, map[string]any{"metadata": map[string]any{"annotations": map[string]any{api.AnnotationHold: nil}}})
}

// held waits until the Governor shows a hold.
func (c *crowd) held(is func(*api.HoldStatus) bool) (version int64) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		o, err := c.client.Get(c.t.Context(), catalog.Governors, "", api.GovernorName)
		require.NoError(c.t, err)
		for _, h := range o.(*api.Governor).Status.Holds {
			if is(&h) {
				version = engine.VersionOf(o)
				return true
			}
		}
		return false
	}, 3*time.Minute, 10*time.Millisecond)
	return version
}

func (c *crowd) resume() {
	c.t.Helper()
	c.asks()
	c.patch(catalog.Governors, "", api.GovernorName, map[string]any{"spec": map[string]any{"pause": nil}})
}

// kill ends the process of the daemon, as a power cut does.
func (c *crowd) kill() {
	c.t.Helper()
	c.follows()
	require.NoError(c.t, c.daemon.stop())
}
