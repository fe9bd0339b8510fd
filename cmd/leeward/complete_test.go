package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAShellIsOfferedTheNamesThatThereAre(t *testing.T) {
	s := served(t)
	for line, offered := range map[string]string{
		"cordon":                           "eu-1 eu-2",
		"uncordon eu-1":                    "eu-2",
		"unjoin":                           "eu-1 eu-2",
		"drain clusters":                   "eu-1 eu-2",
		"taint":                            "clusters nodes",
		"taint nodes":                      "n1 n2",
		"taint clusters eu-2":              "eu-1",
		"hold":                             "clusters bindings clusterresourcebindings deployments statefulsets",
		"hold cluster":                     "eu-1 eu-2",
		"release binding --namespace shop": "nginx web-deployment",
		"release thing":                    "",
		"hold cluster eu-1":                "eu-2",
	} {
		t.Run(line, func(t *testing.T) {
			var out bytes.Buffer
			args := append(append([]string{"__complete"}, words(line)...), "--kubeconfig", kubeconfigOf(t, s.URL()), "")
			require.Zero(t, execute(args, &out, io.Discard))
			require.Equal(t, append(strings.Fields(offered), ":4"), strings.Fields(out.String()), "and no files")
		})
	}
}

// completed is what a shell is offered at the end of a line.
func completed(t *testing.T, line, typed string) []string {
	t.Helper()
	var out bytes.Buffer
	require.Zero(t, execute(append(append([]string{"__complete"}, words(line)...), typed), &out, io.Discard))
	return strings.Fields(out.String())
}

func TestAShellIsOfferedTheNamesThatFilesHave(t *testing.T) {
	t.Chdir("../..")
	for _, c := range []struct{ line, typed, offered string }{
		{"explain -f " + weak, "", "binding cluster policy node pod :4"},
		{"explain cluster -f " + weak, "eu", "eu-1 eu-2 :4"},
		{"explain binding -f " + weak, "shop/", "shop/cart-deployment shop/web-deployment :4"},
		{"explain binding -n shop -f " + weak, "", "cart-deployment web-deployment :4"},
		{"explain rb -f " + nginxFile, "", "nginx-deployment :4"},
		{"explain rb -f " + recordedFile, "", "nginx-deployment :4"},
		{"explain policy -f " + weak, "n", "not-ready :4"},
		{"explain policy -n shop -f " + weak, "", "cart not-ready web :4"},
		{"explain node -f " + zoneFile, "b", "b-1 b-2 :4"},
		{"explain node -f " + rackFile, "eu-1/", "eu-1/a1 eu-1/a2 eu-1/b1 eu-1/b2 :4"},
		{"explain pod -f " + zoneFile + " --at 5m", "db", "db-0 db-1 :4"},
		{"explain pod -n default -f " + zoneFile + " --at 6m10s", "web-h24hqrfnkm-v", "web-h24hqrfnkm-vt8ww :4"},
		{"explain pod -f " + zoneFile + " --at 6m", "web-h24hqrfnkm-v", ":4"},
		{"explain pod -f " + rackFile + " --at 2m", "eu-1/default/web-5dx2hzpj8z-p", "eu-1/default/web-5dx2hzpj8z-pdzcw eu-1/default/web-5dx2hzpj8z-pr2sd :4"},
		{"explain pod -f " + nginxFile, "", ":4"},
		{"explain moon -f " + nginxFile, "", ":4"},
		{"explain cluster member1 -f " + nginxFile, "", ":4"},
		{"explain cluster -f nowhere.yaml", "", ":4"},
		{"explain cluster -f go.mod", "", ":4"},
		{"what-if -f " + weak + " --lose", "", "cluster= zone= region= provider= :6"},
		{"what-if -f " + weak + " --lose", "region=", "region=asia region=eu region=us :4"},
		{"what-if -f " + weak + " --lose", "provider=north,w", "provider=north,west :4"},
		{"what-if -f " + weak + " --lose", "moon=", ":4"},
		{"what-if -f " + weak + " --drain", "us", "us-1 us-2 :4"},
		{"what-if -f " + weak + " --taint", "us-1", "us-1= :6"},
		{"what-if -f " + weak + " --condition", "us-1", "us-1/ :6"},
		{"diff -f " + weak + " --lose", "cluster=a", "cluster=asia-1 :4"},
	} {
		require.Equal(t, strings.Fields(c.offered), completed(t, c.line, c.typed), "%s %s", c.line, c.typed)
	}
}

func TestAShellIsOfferedTheNamesOfAFleetThatAServerHas(t *testing.T) {
	t.Chdir("../..")
	s := servedFleet(t, runningFleet(t))
	at := " --kubeconfig " + kubeconfigOf(t, s.URL())
	require.Equal(t, []string{"eu-1", "eu-2", ":4"}, completed(t, "explain cluster"+at, "eu"))
	require.Equal(t, []string{"shop/web-deployment", ":4"}, completed(t, "explain binding"+at, "shop/w"))
	require.Equal(t, []string{"region=eu", ":4"}, completed(t, "what-if"+at+" --lose", "region=e"))
	s.Put("/api/v1/nodes/n1", `{"metadata": {"name": "n1"}}`)
	s.Put("/api/v1/namespaces/shop/pods/web-1", `{"metadata": {"namespace": "shop", "name": "web-1"}, "spec": {"nodeName": "n1"}}`)
	require.Equal(t, []string{"n1", ":4"}, completed(t, "explain node"+at, ""))
	require.Equal(t, []string{"shop/web-1", ":4"}, completed(t, "explain pod"+at, ""))
	require.Equal(t, []string{"web-1", ":4"}, completed(t, "explain pod -n shop"+at, "w"))
	s.Forbid("/apis/cluster.karmada.io/v1alpha1/clusters")
	require.Equal(t, []string{":4"}, completed(t, "explain cluster"+at, "eu"))
	require.Empty(t, s.Requests(), "nothing is written at the server")
}

func TestWhatAShellIsOfferedIsBounded(t *testing.T) {
	dir := t.TempDir()
	cluster := "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: c%d}\n---\n"
	var many strings.Builder
	for i := range mostOffered + 1 {
		fmt.Fprintf(&many, cluster, i)
	}
	file := filepath.Join(dir, "many.yaml")
	require.NoError(t, os.WriteFile(file, []byte(many.String()), 0o600))
	require.Len(t, completed(t, "explain cluster -f "+file, ""), mostOffered+1, "and the directive")
	large := filepath.Join(dir, "large.yaml")
	require.NoError(t, os.WriteFile(large, fmt.Appendf(nil, cluster+"#%s", 1, strings.Repeat("x", mostCompleted)), 0o600))
	require.Equal(t, []string{":4"}, completed(t, "explain cluster -f "+large, ""))
	require.Equal(t, []string{":4"}, completed(t, "explain cluster -f "+os.DevNull, ""), "it is no regular file")
}
