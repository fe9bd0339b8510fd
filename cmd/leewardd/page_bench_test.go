package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"leeward/runtime/daemon/kubeapi"
	"leeward/runtime/daemon/picture"
)

// BenchmarkTheLivePage has the figures of docs/performance.md: a daemon in a process of its own, what it does when nothing happens
// and how fast it decides when a cluster fails, without viewers, with one, and with fifty.
func BenchmarkTheLivePage(b *testing.B) {
	workloads, idle, crowds := 100_000, 20*time.Second, []int{0, 1, 50}
	if testing.Short() {
		workloads, idle, crowds = 500, 100*time.Millisecond, crowds[2:]
	}
	for _, viewers := range crowds {
		b.Run(fmt.Sprint(viewers), func(b *testing.B) {
			for b.Loop() {
				c := newCrowd(b, workloads, 20)
				c.inFolder()
				c.await("placed", func() bool { return len(c.placed) == c.fleet.Bindings })
				c.settles(4)
				v := c.viewed(viewers)
				began := v.now()
				measured, stop := context.WithTimeout(b.Context(), idle)
				<-measured.Done()
				stop()
				v.report(b, began, "-idle")
				b.ReportMetric(c.explained("binding", "default/app0000001-deployment"), "s-explain-binding")
				b.ReportMetric(c.explained("cluster", failing), "s-explain-cluster")
				affected := c.fleet.Bindings * 2 / c.fleet.Clusters
				began = v.now()
				c.taint(noExecute)
				c.awaitEvicted(affected * 9 / 10)
				v.report(b, began, "-storm")
				b.ReportMetric(float64(affected*9/10)/time.Since(began.at).Seconds(), "evictions/s")
				c.ends(b)
				if viewers > 0 {
					b.ReportMetric(v.first.Seconds(), "s-first-picture")
				}
				v.leave()
			}
		})
	}
}

// explained returns how many seconds an explanation takes.
func (c *crowd) explained(kind, name string) float64 {
	c.t.Helper()
	began := time.Now()
	code, body := c.daemon.read(fmt.Sprintf("/ui/data/explain?kind=%s&name=%s", kind, name))
	require.Equal(c.t, http.StatusOK, code, body)
	return time.Since(began).Seconds()
}

// viewers view the fleet of a crowd, each on a connection of its own.
type viewers struct {
	t     testing.TB
	pid   int
	count int
	bytes atomic.Int64
	// first is how long the first of them waited for a picture.
	first time.Duration
	leave func()
}

// viewed has so many viewers view the fleet; the first alone until it has a picture.
func (c *crowd) viewed(count int) *viewers {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	v := &viewers{t: c.t, pid: c.process.Pid, count: count, leave: func() { cancel(); reading.Wait() }}
	c.t.Cleanup(v.leave)
	trusted, err := rest.TLSConfigFor(c.daemon.client)
	require.NoError(c.t, err)
	for i := range count {
		own := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted.RootCAs}, ForceAttemptHTTP2: true}}
		token, err := kubeapi.Token(c.dir, kubeapi.User{Name: fmt.Sprint("viewer", i/picture.MostOfUser), Groups: []string{kubeapi.ViewerGroup}}, time.Hour, time.Now())
		require.NoError(c.t, err)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.daemon.client.Host+"/ui/data/watch", nil)
		require.NoError(c.t, err)
		r.Header.Set("Authorization", "Bearer "+token)
		began, seen := time.Now(), make(chan struct{})
		reading.Go(func() { v.read(own, r, sync.OnceFunc(func() { close(seen) })) })
		if i == 0 {
			<-seen
			v.first = time.Since(began)
		}
	}
	return v
}

// read reads what a viewer is told until it leaves.
func (v *viewers) read(own *http.Client, r *http.Request, seen func()) {
	answer, err := own.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		v.bytes.Add(int64(len(line)))
		if bytes.HasPrefix(line, []byte("data: ")) {
			seen()
		}
	}
}

// moment is when so much CPU was used and so much was read.
type moment struct {
	at    time.Time
	cpu   time.Duration
	bytes int64
}

func (v *viewers) now() moment { return moment{time.Now(), cpuOf(v.t, v.pid), v.bytes.Load()} }

func (v *viewers) report(b *testing.B, since moment, when string) {
	b.Helper()
	now := v.now()
	took := now.at.Sub(since.at).Seconds()
	b.ReportMetric(100*(now.cpu-since.cpu).Seconds()/took, "%cpu"+when)
	if v.count > 0 {
		b.ReportMetric(float64(now.bytes-since.bytes)/took/float64(v.count)/1000, "KB/s/viewer"+when)
	}
}

// cpuOf is the processor time that a process has used. Source: proc(5), in hundredths of a second.
func cpuOf(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(t, err)
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	ticks := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(string(f))
		require.NoError(t, err)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
