package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"leeward/messages/api"
	"leeward/runtime/client/clienttest"
	"leeward/runtime/client/credentials"
	"leeward/runtime/client/join"
)

const secretsPath = "/api/v1/namespaces/karmada-cluster/secrets"

// memberOf serves the only answer that join asks a member for.
func memberOf(t *testing.T, code int, body string) string {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/api/v1/namespaces/kube-system" || r.Header.Get("Authorization") != "Bearer t0k3n" {
			code = http.StatusTeapot
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return memberFile(t, s.URL)
}

func memberFile(t *testing.T, url string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "member")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `{"clusters": [{"name": "c", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}],
		"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}], "users": [{"name": "u", "user": {"token": "t0k3n"}}], "current-context": "c"}`, url), 0o600))
	return file
}

const kubeSystem = `{"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "kube-system", "uid": "the-uid"}}`

func TestAClusterJoinsWithItsCredentials(t *testing.T) {
	hub, member := served(t), memberOf(t, http.StatusOK, kubeSystem)
	for _, dry := range []string{"client", "server"} {
		code, stdout, stderr := at(t, hub, "join eu-3 --cluster-kubeconfig "+member+" --dry-run="+dry)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, "cluster/eu-3 joined (")
	}
	hub.Await(clustersPath+"/eu-3", func(o *unstructured.Unstructured) bool { return o == nil })
	code, stdout, stderr := at(t, hub, "join eu-3 --region eu --zone a,b --cluster-kubeconfig "+member)
	require.Zero(t, code, stderr)
	require.Equal(t, "cluster/eu-3 joined\n", stdout)
	hub.Await(clustersPath+"/eu-3", func(o *unstructured.Unstructured) bool {
		text, err := json.Marshal(o.Object["spec"])
		require.NoError(t, err)
		require.Regexp(t, `^{"apiEndpoint":"https://127[^"]*","id":"the-uid","insecureSkipTLSVerification":true,"region":"eu","secretRef":{"name":"eu-3","namespace":"karmada-cluster"},"syncMode":"Push","zones":\["a","b"\]}$`, string(text))
		return true
	})
	hub.Await(secretsPath+"/eu-3", func(o *unstructured.Unstructured) bool {
		require.Equal(t, map[string]any{"token": base64.StdEncoding.EncodeToString([]byte("t0k3n"))}, o.Object["data"])
		require.Equal(t, "eu-3", o.GetOwnerReferences()[0].Name)
		return true
	})
	code, _, stderr = at(t, hub, "join eu-4 --cluster-kubeconfig "+member)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "the member is registered already, as cluster eu-3: its id is the-uid")

	code, stdout, stderr = at(t, hub, "unjoin eu-3")
	require.Zero(t, code, stderr)
	require.Equal(t, "cluster/eu-3 unjoined\n", stdout)
	for _, path := range []string{clustersPath + "/eu-3", secretsPath + "/eu-3"} {
		hub.Await(path, func(o *unstructured.Unstructured) bool { return o == nil })
	}
	code, _, stderr = at(t, hub, "unjoin eu-3")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "cluster eu-3: not found")
}

func TestWhatCannotJoinIsRefusedAndNothingIsWritten(t *testing.T) {
	hub := served(t)
	hub.Put(secretsPath+"/left", `{"metadata": {"name": "left"}}`)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	away := "https://" + silent.Addr().String()
	require.NoError(t, silent.Close())
	good := memberOf(t, http.StatusOK, kubeSystem)
	status := func(code int, reason string) string {
		return memberOf(t, code, fmt.Sprintf(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d}`, reason, code))
	}
	for name, c := range map[string]struct {
		line, says string
		code       int
	}{
		"a name that is none":    {"join EU_1 --cluster-kubeconfig " + good, `"EU 1" is not the name of a cluster`, exitInvalid},
		"a taken name":           {"join eu-1 --cluster-kubeconfig " + good, "cluster eu-1 exists already", exitFailed},
		"a Secret of that name":  {"join left --cluster-kubeconfig " + good, "the Secret karmada-cluster/left exists already", exitFailed},
		"no file":                {"join a --cluster-kubeconfig nonesuch", "--cluster-kubeconfig: stat nonesuch", exitInvalid},
		"no context":             {"join a --cluster-context b --cluster-kubeconfig " + good, `--cluster-kubeconfig: ` + good + `: read the kubeconfig: context "b" does not exist`, exitInvalid},
		"a member that is away":  {"join a --cluster-kubeconfig " + memberFile(t, away), "the member " + away + " does not answer: ", exitFailed},
		"refused credentials":    {"join a --cluster-kubeconfig " + status(401, "Unauthorized"), "refuses the credentials", exitFailed},
		"weak credentials":       {"join a --cluster-kubeconfig " + status(403, "Forbidden"), "does not let them read its namespace kube-system", exitFailed},
		"a server of else":       {"join a --cluster-kubeconfig " + status(404, "NotFound"), "is it the API server of a cluster?", exitFailed},
		"both":                   {"join a --print-manifests --cluster-kubeconfig " + good, "none of the others can be", exitInvalid},
		"neither":                {"join a", "at least one of the flags", exitInvalid},
		"manifests with a place": {"join a --print-manifests --region eu", "none of the others can be", exitInvalid},
		"an image that is none":  {"join a --print-manifests --image a:b_--x", "is not the reference of an image", exitInvalid},
		"many replicas":          {"join a --print-manifests --replicas 11", "must be 1 to 10", exitInvalid},
		"a zone without a name":  {"join a --zone b,,c --cluster-kubeconfig " + good, `--zone: zone 2 of "b,,c" has no name`, exitInvalid},
		"a zone twice":           {"join a --zone b,c,b --cluster-kubeconfig " + good, `--zone: "b" is named twice`, exitInvalid},
		"two names":              {"join a b --print-manifests", "want the name of one cluster, not 2", exitInvalid},
		"nothing to take back":   {"unjoin left", "cluster left: not found", exitFailed},
		"an endless wait":        {"unjoin eu-1 --timeout 48h", "must be 1s to 24h", exitInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := at(t, hub, c.line)
			require.Contains(t, stderr, c.says)
			require.Equal(t, c.code, code)
			require.Empty(t, stdout)
		})
	}
	require.Empty(t, hub.Requests())
}

func TestOnlySoManyClustersJoin(t *testing.T) {
	hub := clienttest.New(t, nil)
	for i := range credentials.Most {
		hub.Put(fmt.Sprintf("%s/m%d", clustersPath, i), fmt.Sprintf(`{"metadata": {"name": "m%d"}, "spec": {"syncMode": "Push", "secretRef": {"namespace": "a", "name": "b"}}}`, i))
	}
	code, _, stderr := at(t, hub, "join a --cluster-kubeconfig "+memberOf(t, http.StatusOK, kubeSystem))
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "200 clusters are in push mode, and no more may be")
}

func TestUnjoinSaysWhatRemainsAndRemovesItByForce(t *testing.T) {
	t.Parallel()
	hub := served(t)
	hub.Put(clustersPath+"/old", `{"metadata": {"name": "old", "finalizers": ["karmada.io/cluster-controller"]}, "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "ClusterNotReachable"}]}}`)
	for i := range 12 {
		hub.Put(fmt.Sprintf("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-old/works/w%02d", i),
			fmt.Sprintf(`{"metadata": {"name": "w%02d", "namespace": "karmada-es-old", "finalizers": ["karmada.io/execution-controller"]}}`, i))
	}
	const binding = "/apis/work.karmada.io/v1alpha2/namespaces/shop/resourcebindings/db"
	hub.Put(binding, `{"metadata": {"name": "db", "namespace": "shop"},
		"spec": {"clusters": [{"name": "eu-1"}, {"name": "eu-2"}, {"name": "eu-3"}, {"name": "eu-4"}]}, "status": {"evictions": [{"cluster": "old", "state": "Evicting"}, {"cluster": "other", "state": "Evicting"}],
		"aggregatedStatus": [{"clusterName": "eu-1", "applied": true, "health": "Unhealthy"}, {"clusterName": "eu-2", "health": "Unknown", "appliedMessage": "quota"}, {"clusterName": "eu-4", "applied": true, "health": "Healthy"}]}}`)
	code, _, stderr := at(t, hub, "unjoin old --timeout 1s")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "; 1 evictions wait until the new copies are healthy, or for the end of the grace period:\n  shop/db  eu-1: Unhealthy, eu-2: quota, eu-3: no report; run unjoin again to wait on. --force")
	require.Contains(t, stderr, "cluster old is being deleted, and not gone after 1s: Ready is False (ClusterNotReachable); 12 Works remain in karmada-es-old (w00, w01, w02, w03, w04, w05, w06, w07, w08, w09, ...)")
	before := hub.Get(clustersPath + "/old")
	code, _, stderr = at(t, hub, "unjoin old --timeout 1s --force")
	require.Equal(t, exitFailed, code, "the hub makes it again until they end")
	require.Contains(t, stderr, "what runs in the member remains; the hub keeps the Cluster, being deleted, until 1 evictions end, which wait until the new copies are healthy, or for the end of the grace period:\n  shop/db  eu-1: Unhealthy")

	text, err := before.MarshalJSON()
	require.NoError(t, err)
	hub.Put(clustersPath+"/old", string(text))
	hub.Remove(binding)
	code, stdout, stderr := at(t, hub, "unjoin old --timeout 1s --force")
	require.Zero(t, code, stderr)
	require.Equal(t, "cluster/old unjoined\n", stdout)
	hub.Await(clustersPath+"/old", func(o *unstructured.Unstructured) bool { return o == nil })
	hub.Await("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-old/works/w11", func(o *unstructured.Unstructured) bool { return o == nil })
}

// The example of the documentation is what join prints.
func TestTheManifestsOfAnAgent(t *testing.T) {
	code, stdout, stderr := at(t, served(t), "join member1 --print-manifests")
	require.Zero(t, code, stderr)
	example, err := os.ReadFile("../../docs/examples/agent.yaml")
	require.NoError(t, err)
	require.Equal(t, string(example), stdout, "leeward join member1 --print-manifests > docs/examples/agent.yaml")

	hub := memberFile(t, "https://127.0.0.1:7443")
	code, stdout, stderr = at(t, served(t), "join member1 --print-manifests --image r.example.com/a@sha256:abc --replicas 1 --agent-kubeconfig "+hub)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "names the server https://127.0.0.1:7443, which is another one in the cluster")
	require.Contains(t, stdout, "image: r.example.com/a@sha256:abc #")
	_, rest, found := strings.Cut(stdout, "  kubeconfig: ")
	require.True(t, found)
	encoded, _, _ := strings.Cut(rest, "\n")
	text, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	stored, err := clientcmd.Load(text)
	require.NoError(t, err)
	require.Equal(t, "t0k3n", stored.AuthInfos["u"].Token)
	require.NotContains(t, stdout, "It needs the Secret")

	require.NoError(t, os.WriteFile(hub, []byte(strings.Replace(string(text), "token: t0k3n", "tokenFile: /nonesuch", 1)), 0o600))
	code, _, stderr = at(t, served(t), "join member1 --print-manifests --agent-kubeconfig "+hub)
	require.Equal(t, exitInvalid, code)
	require.Contains(t, stderr, "gets its credentials outside the file")
}

// Who reads Secrets in a member gets no more of the hub than the member's own agent may.
func TestTheManifestsOfAnAgentHoldNoOthersCredentials(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "hub")
	for _, c := range []struct {
		user   string
		groups []string
		says   string
	}{
		{"leeward:agent:member1", []string{"leeward:agents"}, ""},
		{"system:node:karmada", []string{"system:nodes"}, ""}, // of another hub: it says who may do what
		{"leeward:agent:member2", []string{"leeward:agents"}, `its client certificate is of the user "leeward:agent:member2" in the groups ["leeward:agents"]`},
		{"ada", []string{"builders", "leeward:admins"}, `its client certificate is of the user "ada" in the groups ["builders" "leeward:admins"]`},
		{"admin", []string{"system:masters"}, `its client certificate is of the user "admin"`},
	} {
		certificate := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: c.user, Organization: c.groups}}
		text, err := x509.CreateCertificate(rand.Reader, certificate, certificate, key.Public(), key)
		require.NoError(t, err)
		config := clientcmdapi.NewConfig()
		config.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://hub.example.com"}
		config.AuthInfos["u"] = &clientcmdapi.AuthInfo{ClientCertificateData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: text}), ClientKeyData: []byte("key")}
		config.Contexts["c"], config.CurrentContext = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}, "c"
		require.NoError(t, clientcmd.WriteToFile(*config, file))
		code, stdout, stderr := at(t, served(t), "join member1 --print-manifests --agent-kubeconfig "+file)
		if c.says == "" {
			require.Zero(t, code, stderr)
			continue
		}
		require.Equal(t, exitInvalid, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "--agent-kubeconfig: "+file+": "+c.says)
		require.Contains(t, stderr, "leewardd kubeconfig --agent member1 writes one")
	}
}

func TestAJoinThatTheHubRefusesHalfwayLeavesNoCredentials(t *testing.T) {
	hub := clienttest.New(t, nil)
	hub.Lack(clustersPath)
	member := &credentials.Member{Endpoint: "https://member", Token: "t0k3n"}
	r := &join.Request{Hub: hub.Client(io.Discard), Member: member, Cluster: &api.Cluster{}}
	r.Cluster.Name = "eu-1"
	member.Describe(r.Cluster)
	require.ErrorContains(t, r.Join(t.Context()), "create the cluster: ")
	requests := hub.Requests()
	require.Contains(t, requests[len(requests)-1], "DELETE "+secretsPath+"/eu-1")
	hub.Await(secretsPath+"/eu-1", func(o *unstructured.Unstructured) bool { return o == nil })
}
