package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/fakemember"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

const heartbeat = 10 * time.Second // as Karmada's agents renew their Leases

// floodTime is how long a flood lasts.
func floodTime() time.Duration {
	if testing.Short() {
		return time.Second
	}
	return 90 * time.Second
}

// BenchmarkAFloodOfOneUser is the figure of docs/performance.md: five agents renew their Leases at a daemon in a process of its own,
// while a thousand writers of one user, each on a connection of its own, create ConfigMaps and edit the agents' clusters. After a
// refusal the patient wait as long as the daemon asks for, the impatient do not wait.
func BenchmarkAFloodOfOneUser(b *testing.B) {
	for _, c := range []struct {
		name    string
		writers int
		patient bool
	}{{"0", 0, false}, {"1000/patient", 1000, true}, {"1000/impatient", 1000, false}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r := newRenewals(b)
				answers := r.flood(c.writers, c.patient)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(r.longestGap().Seconds(), "s-longest-gap")
				b.ReportMetric(float64(r.notReady.Load()), "not-ready")
				for what, n := range answers {
					b.ReportMetric(float64(n)/floodTime().Seconds(), what+"/s")
				}
			}
		})
	}
}

// renewals are those of the Leases of five agents, as another user sees them who watches.
type renewals struct {
	b       *testing.B
	dir     string
	mu      sync.Mutex
	last    map[string]time.Time
	longest time.Duration
	// notReady counts how often a cluster was seen that was Ready before and is not.
	notReady atomic.Int64
}

// newRenewals starts a daemon, its agents and a user who watches them, and returns once every agent has renewed its Lease.
func newRenewals(b *testing.B) *renewals {
	b.Helper()
	r := &renewals{b: b, dir: b.TempDir(), last: map[string]time.Time{}}
	daemon, _ := spawnIn(b, r.dir)
	daemon.log.await(b, `"message":"started"`)
	admin, err := client.New(daemon.client, io.Discard)
	require.NoError(b, err)
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	b.Cleanup(func() { stop(); parts.Wait() })
	beats := make(chan struct{}, 1)
	follow := func(resource *catalog.Resource, see func(api.Object)) {
		parts.Go(func() {
			_ = admin.Follow(ctx, &client.Watching{ // it ends with the benchmark
				Resource: resource, Clock: clock.New(), Lost: func(error) {},
				Listed: func([]api.Object) {}, Changed: func(_ watch.EventType, o api.Object) { see(o) },
			})
		})
	}
	follow(catalog.Leases, func(o api.Object) {
		if o.(*coordinationv1.Lease).Namespace != api.LeaseNamespace {
			return
		}
		r.renewed(o.GetName())
		select {
		case beats <- struct{}{}:
		default:
		}
	})
	ready := map[string]bool{}
	follow(catalog.Clusters, func(o api.Object) {
		is := meta.IsStatusConditionTrue(o.(*api.Cluster).Status.Conditions, api.ConditionReady)
		if ready[o.GetName()] && !is {
			r.notReady.Add(1)
		}
		ready[o.GetName()] = is
	})
	for n := range 5 {
		name := fmt.Sprint("member", n)
		c := &api.Cluster{Spec: api.ClusterSpec{SyncMode: api.Pull}}
		c.Name = name
		_, err := admin.Create(ctx, catalog.Clusters, c)
		require.NoError(b, err)
		agent, err := client.New(r.as(kubeapi.Agent(name)), io.Discard)
		require.NoError(b, err)
		parts.Go(func() {
			_ = fakemember.Run(ctx, &fakemember.Config{Client: agent, Clock: clock.New(), Clusters: []string{name}, Heartbeat: heartbeat, Tell: func(string) {}})
		})
	}
	for r.agents() < 5 {
		<-beats
	}
	return r
}

func (r *renewals) renewed(name string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, before := r.last[name]; before {
		r.longest = max(r.longest, now.Sub(last))
	}
	r.last[name] = now
}

func (r *renewals) agents() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.last)
}

// longestGap is the longest time between two renewals of one Lease, or since the last.
func (r *renewals) longestGap() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, last := range r.last { // order-free: a maximum
		r.longest = max(r.longest, time.Since(last))
	}
	return r.longest
}

// as has a user ask the daemon.
func (r *renewals) as(u kubeapi.User) *rest.Config {
	r.b.Helper()
	c := rootCommand(nil)
	var out bytes.Buffer
	c.SetOut(&out)
	c.SetErr(io.Discard)
	arguments := []string{"kubeconfig", "--data-dir", filepath.Join(r.dir, "data"), "--user", u.Name}
	for _, g := range u.Groups {
		arguments = append(arguments, "--group", g)
	}
	c.SetArgs(arguments)
	require.NoError(r.b, c.Execute())
	config, err := clientcmd.RESTConfigFromKubeConfig(out.Bytes())
	require.NoError(r.b, err)
	config.QPS = -1
	return config
}

// flood has one user write from many connections, and counts the answers of each sort.
func (r *renewals) flood(writers int, patient bool) map[string]int64 {
	r.b.Helper()
	config := r.as(kubeapi.User{Name: "ed", Groups: []string{kubeapi.EditorGroup}})
	trust, err := rest.TLSConfigFor(config)
	require.NoError(r.b, err)
	ctx, stop := context.WithTimeout(context.Background(), floodTime())
	defer stop()
	var done, refused, failed atomic.Int64
	var parts sync.WaitGroup
	for w := range writers {
		parts.Go(func() {
			each := &http.Client{Transport: &http.Transport{TLSClientConfig: trust.Clone()}} // HTTP/1.1: a connection each
			defer each.CloseIdleConnections()
			for n := 0; ctx.Err() == nil; n++ {
				switch code, err := write(ctx, each, config.Host, w, n); {
				case ctx.Err() != nil:
				case err != nil:
					failed.Add(1)
				case code == http.StatusTooManyRequests:
					refused.Add(1)
					if patient {
						select {
						case <-ctx.Done():
						case <-time.After(time.Second):
						}
					}
				case code < 300:
					done.Add(1)
				default:
					failed.Add(1)
				}
			}
		})
	}
	<-ctx.Done()
	parts.Wait()
	return map[string]int64{"written": done.Load(), "refused": refused.Load(), "failed": failed.Load()}
}

// write sends the nth request of a writer. Every second writer edits a cluster, the others create ConfigMaps of a kilobyte.
func write(ctx context.Context, c *http.Client, host string, writer, n int) (code int, err error) {
	method, path, kind := http.MethodPost, "/api/v1/namespaces/default/configmaps", "application/json"
	body := fmt.Sprintf(`{"metadata":{"name":"w%d-%d"},"data":{"text":%q}}`, writer, n, strings.Repeat("x", 1000))
	if writer%2 == 0 {
		method, path, kind = http.MethodPatch, fmt.Sprint("/apis/cluster.karmada.io/v1alpha1/clusters/member", writer/2%5), "application/merge-patch+json"
		body = fmt.Sprintf(`{"metadata":{"labels":{"w%d":"n%d"}}}`, writer%50, n)
	}
	request, err := http.NewRequestWithContext(ctx, method, host+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", kind)
	response, err := c.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close() // it was read
	return response.StatusCode, err
}
