package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/agent"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/fleet/catalog"
)

// BenchmarkAgentsReturn has the figures of docs/performance.md: agents of a thousand clusters, each with a connection and a member of its own, lose their
// daemon, which is a process of its own, to a kill, and return when it is started again: immediately, or when all of them wait as long as they ever do.
func BenchmarkAgentsReturn(b *testing.B) {
	clusters, workloads, aways, on := 1000, 2000, []time.Duration{0, 90 * time.Second}, time.Minute
	if testing.Short() {
		clusters, workloads, aways, on = 5, 10, aways[:1], 0
	}
	for _, away := range aways {
		b.Run(away.String(), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, workloads, clusters)
				restart := c.inFolder("--secure-port", freePort(b))
				c.await("placed", func() bool { return len(c.placed) == workloads })
				c.agents()
				r := c.returning(clusters)
				r.await("begins", 0)
				c.kill()
				idle, stop := context.WithTimeout(b.Context(), away)
				<-idle.Done()
				stop()
				restart()
				r = c.returning(clusters)
				r.await("return", on)
				r.report(b)
				c.kill()
			}
		})
	}
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

// agents runs the agent of each cluster until the test ends.
func (c *crowd) agents() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	c.t.Cleanup(func() { cancel(); all.Wait() })
	clusters, _, err := c.client.List(c.t.Context(), catalog.Clusters, "", "")
	require.NoError(c.t, err)
	for _, o := range clusters {
		name := o.GetName()
		token, err := kubeapi.Token(c.dir, kubeapi.Agent(name), time.Hour, time.Now())
		require.NoError(c.t, err)
		hub := rest.AnonymousClientConfig(c.daemon.client)
		hub.BearerToken = token
		hub.NextProtos = []string{"h2", name} // another one for each agent: else all would share the connections of one
		a, err := agent.New(agent.Config{
			Cluster: name, Hub: hub, Member: clienttest.NewFast(c.t).Config(), Clock: clock.New(), Log: zerolog.Nop(), Heartbeat: heartbeat,
			Timeout: 10 * time.Second, Workers: 1, CreateNamespaces: true, Metrics: prometheus.NewRegistry(),
		})
		require.NoError(c.t, err)
		all.Go(func() {
			if err := a.Run(ctx); err != nil {
				c.t.Error(err)
			}
		})
	}
}

// returning watches agents that return to a daemon.
type returning struct {
	c        *crowd
	clusters int
	mu       sync.Mutex
	renewed  map[string]time.Time
	// ready are the clusters that are Ready, failed those that were seen not to be, each with the last reason.
	ready   map[string]bool
	failed  map[string]string
	seconds []second
}

// second is what the daemon had answered, and used, at an instant.
type second struct {
	at       time.Time
	requests float64 // all that were answered
	refused  float64 // of these, because there were too many
	works    float64 // watches of Works under way
	cpu      time.Duration
}

func (c *crowd) returning(clusters int) *returning {
	c.t.Helper()
	r := &returning{c: c, clusters: clusters, seconds: []second{c.listens}, renewed: map[string]time.Time{}, ready: map[string]bool{}, failed: map[string]string{}}
	follow := func(resource *catalog.Resource, see func(api.Object)) {
		ctx, cancel := context.WithCancel(context.Background())
		c.t.Cleanup(cancel)
		admin := c.client
		go func() {
			_ = admin.Follow(ctx, &client.Watching{ // it ends with the benchmark
				Resource: resource, Clock: clock.New(), Lost: func(error) { cancel() },
				Listed: func(all []api.Object) {
					for _, o := range all {
						see(o)
					}
				},
				Changed: func(_ watch.EventType, o api.Object) { see(o) },
			})
		}()
	}
	follow(catalog.Leases, func(o api.Object) {
		if l := o.(*coordinationv1.Lease); l.Namespace == api.LeaseNamespace && l.Spec.RenewTime != nil && l.Spec.RenewTime.After(c.listens.at) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if r.renewed[l.Name].IsZero() {
				r.renewed[l.Name] = time.Now()
			}
		}
	})
	follow(catalog.Clusters, func(o api.Object) {
		is := meta.FindStatusCondition(o.(*api.Cluster).Status.Conditions, api.ConditionReady)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.ready[o.GetName()] = is != nil && is.Status == metav1.ConditionTrue; is != nil && is.Status != metav1.ConditionTrue {
			r.failed[o.GetName()] = is.Reason
		}
	})
	return r
}

// await looks every second until each agent has renewed its Lease and watches its Works, and each cluster is Ready, and then for a time on.
func (r *returning) await(what string, on time.Duration) {
	t := r.c.t
	t.Helper()
	var until time.Time
	for ; ; <-time.After(time.Second) {
		s := r.look()
		r.seconds = append(r.seconds, s)
		r.mu.Lock()
		all := len(r.renewed) == r.clusters && int(s.works) >= r.clusters
		for _, is := range r.ready { // order-free: all of them
			all = all && is
		}
		r.mu.Unlock()
		switch {
		case all && until.IsZero():
			until = s.at.Add(on)
		case !until.IsZero() && !s.at.Before(until):
			return
		}
		require.Less(t, s.at.Sub(r.seconds[0].at), 10*time.Minute, "%s: %d Leases, %v watches", what, len(r.renewed), s.works)
	}
}

// look reads what the daemon counts.
func (r *returning) look() second {
	t := r.c.t
	t.Helper()
	code, text := r.c.daemon.read("/metrics")
	require.Equal(t, http.StatusOK, code)
	s := second{at: time.Now(), cpu: cpuOf(t, r.c.process.Pid)}
	for line := range strings.Lines(text) {
		name, labels, _ := strings.Cut(strings.TrimSpace(line), "{")
		at := strings.LastIndexByte(labels, ' ')
		switch {
		case at < 0:
		case name == "apiserver_request_total":
			n := number(t, labels[at+1:])
			s.requests += n
			if labelOf(labels, "code") == "429" {
				s.refused += n
			}
		case name == "apiserver_longrunning_requests" && labelOf(labels, "resource") == "works":
			s.works += number(t, labels[at+1:])
		}
	}
	return s
}

func labelOf(labels, name string) string {
	_, after, _ := strings.Cut(labels, name+`="`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func number(t testing.TB, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}

// report gives the figures of what was seen.
func (r *returning) report(b *testing.B) {
	b.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	since := r.seconds[0].at
	last := since
	for _, at := range r.renewed { // order-free: the last
		if at.After(last) {
			last = at
		}
	}
	most, busiest, watched := 0.0, 0.0, time.Duration(0)
	for i, s := range r.seconds {
		if i > 0 {
			before := r.seconds[i-1]
			took := s.at.Sub(before.at).Seconds()
			asked, used := (s.requests-before.requests)/took, (s.cpu-before.cpu).Seconds()/took
			most, busiest = max(most, asked), max(busiest, used)
			b.Logf("%4.1f s: %4.0f requests/s, %3.0f %% CPU, %.0f watches of Works", s.at.Sub(since).Seconds(), asked, 100*used, s.works)
		}
		if watched == 0 && int(s.works) >= r.clusters {
			watched = s.at.Sub(since)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(most, "requests/s-peak")
	b.ReportMetric(100*busiest, "%cpu-peak")
	b.ReportMetric(last.Sub(since).Seconds(), "s-until-all-leases")
	b.ReportMetric(watched.Seconds(), "s-until-all-watch")
	reasons := map[string]int{}
	for _, reason := range r.failed { // order-free: numbers
		reasons[reason]++
	}
	b.Logf("not Ready at some time, by reason: %v", reasons)
	b.ReportMetric(r.seconds[len(r.seconds)-1].refused, "refused")
	b.ReportMetric(float64(len(r.failed)), "not-ready")
	b.ReportMetric(peakMemory(b, r.c.process.Pid), "MiB-peak")
}

// peakMemory is the most memory that a process had. Source: proc(5).
func peakMemory(t testing.TB, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "VmHWM:")
	require.True(t, found)
	return number(t, strings.Fields(after)[0]) / 1024
}
