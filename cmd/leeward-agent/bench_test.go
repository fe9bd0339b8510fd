package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"leeward/runtime/client/clienttest"
)

// BenchmarkIdle is what an agent takes that has reported 500 Works of a Deployment, each with two pods, and has nothing to do but its heartbeats:
// memory, all of it and without the pages of the binary, and processor time. It is a process of its own.
func BenchmarkIdle(b *testing.B) {
	works, heartbeats := 500, 20
	if testing.Short() {
		works, heartbeats = 20, 1
	}
	program := filepath.Join(b.TempDir(), "leeward-agent")
	built, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".").CombinedOutput()
	require.NoError(b, err, "%s", built)
	hub, member := clienttest.NewFast(b), clienttest.NewFast(b)
	hub.Put("/apis/cluster.karmada.io/v1alpha1/clusters/m1", clienttest.PullCluster)
	member.Put("/api/v1/nodes/n1", `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"256","pods":"2000"},"conditions":[{"type":"Ready","status":"True"}]}}`)
	for i := range works {
		hub.Put(clienttest.WebWork(i))
		member.Put(clienttest.WebPod(i, 0))
		member.Put(clienttest.WebPod(i, 1))
	}
	for b.Loop() {
		process := exec.Command(program, "--cluster", "m1", "--hub-kubeconfig", kubeconfigOf(b, hub), "--kubeconfig", kubeconfigOf(b, member), "--listen", "", "--heartbeat", "1s")
		require.NoError(b, process.Start())
		hub.AwaitStatuses(works)
		hub.AwaitRenewals(3)
		before := processorTicks(b, process.Process.Pid)
		hub.AwaitRenewals(heartbeats)
		b.ReportMetric(float64(processorTicks(b, process.Process.Pid)-before)*10/float64(heartbeats), "cpu-ms/heartbeat")
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Process.Pid))
		require.NoError(b, err)
		for _, field := range []string{"VmRSS", "RssAnon"} {
			kib, err := strconv.Atoi(regexp.MustCompile(field + `:\s+(\d+)`).FindStringSubmatch(string(text))[1])
			require.NoError(b, err)
			b.ReportMetric(float64(kib)/1024, field+"-MiB")
		}
		require.NoError(b, process.Process.Kill())
		_ = process.Wait() // it was killed
		hub.Forget()
	}
}

// processorTicks is what a process has taken, in hundredths of a second.
func processorTicks(b *testing.B, pid int) (ticks int) {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(b, err)
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')'):]))
	for _, f := range fields[12:14] { // utime and stime; the first is what follows the name
		n, err := strconv.Atoi(f)
		require.NoError(b, err)
		ticks += n
	}
	return ticks
}

func kubeconfigOf(b *testing.B, s *clienttest.Fast) string {
	b.Helper()
	c := s.Config()
	file := filepath.Join(b.TempDir(), "kubeconfig")
	require.NoError(b, clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "a", Contexts: map[string]*clientcmdapi.Context{"a": {Cluster: "a", AuthInfo: "a"}},
		Clusters:  map[string]*clientcmdapi.Cluster{"a": {Server: c.Host, InsecureSkipTLSVerify: true}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"a": {Token: c.BearerToken}},
	}, file))
	return file
}
