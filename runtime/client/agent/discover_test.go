package agent

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
)

// discovering answers paths with texts: one that begins with a number is an answer of that code.
func discovering(t *testing.T, form string, answers map[string]string) (d *discovery, asked func() []string) {
	t.Helper()
	var codes []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := answers[r.URL.Path]
		tag := fmt.Sprintf("%q", fmt.Sprint(len(text)))
		code := http.StatusOK
		switch {
		case text == "":
			code = http.StatusNotFound
		case text == "503":
			code = http.StatusServiceUnavailable
		case r.Header.Get("If-None-Match") == tag:
			code = http.StatusNotModified
		}
		w.Header().Set("Content-Type", form)
		w.Header().Set("ETag", tag)
		w.WriteHeader(code)
		codes = append(codes, fmt.Sprint(r.URL.Path, " ", code))
		if code == http.StatusOK {
			_, _ = w.Write([]byte(text))
		}
	}))
	t.Cleanup(server.Close)
	c, err := clientOf(&rest.Config{Host: server.URL}, corev1.SchemeGroupVersion)
	require.NoError(t, err)
	return newDiscovery(c), func() []string { return codes }
}

func namesOf(kinds []*meta.RESTMapping) (all []string) {
	for _, k := range kinds {
		all = append(all, fmt.Sprint(k.GroupVersionKind.GroupVersion(), " ", k.Resource.Resource, " ", k.GroupVersionKind.Kind, " ", k.Scope.Name()))
	}
	return all
}

func TestKindsThatAServerTellsTogether(t *testing.T) {
	answers := map[string]string{
		"/api": `{"items":[{"metadata":{"name":""},"versions":[{"version":"v1","freshness":"Current","resources":[
			{"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced","subresources":[{"subresource":"status","responseKind":{"kind":"Pod"}}]},
			{"resource":"nodes","responseKind":{"kind":"Node"},"scope":"Cluster"},{"resource":"nothing","scope":"Cluster"}]}]}]}`,
		"/apis": `{"items":[{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}`,
	}
	d, asked := discovering(t, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", answers)
	for range 2 {
		f, err := d.all(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"v1 pods Pod namespace", "v1 nodes Node root"}, namesOf(f.kinds))
		require.EqualError(t, f.incomplete, "metrics.k8s.io/v1beta1 does not answer")
	}
	require.Equal(t, []string{"/api 200", "/apis 200", "/api 304", "/apis 200"}, asked(), "what did not change is not sent again, unless it was not complete")

	answers["/apis"] = "not JSON"
	_, err := d.all(t.Context())
	require.ErrorContains(t, err, "read what /apis answers: ")
	answers["/apis"] = "503"
	_, err = d.all(t.Context())
	require.ErrorContains(t, err, "/apis: 503")
}

func TestKindsThatAServerTellsOneByOne(t *testing.T) {
	d, _ := discovering(t, "application/json", map[string]string{
		"/api":          `{"versions":["v1"]}`,
		"/api/v1":       `{"resources":[{"name":"pods","kind":"Pod","namespaced":true},{"name":"pods/log","kind":"Pod","namespaced":true}]}`,
		"/apis":         `{"groups":[{"name":"apps","versions":[{"groupVersion":"apps/v1"}]},{"name":"a.example.com","versions":[{"groupVersion":"a.example.com/v1"}]}]}`,
		"/apis/apps/v1": `{"resources":[{"name":"deployments","kind":"Deployment","namespaced":true}]}`,
	})
	f, err := d.all(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"v1 pods Pod namespace", "apps/v1 deployments Deployment namespace"}, namesOf(f.kinds))
	require.EqualError(t, f.incomplete, "a.example.com/v1: Not Found")
}

func TestAnAnswerOfDiscoveryIsBounded(t *testing.T) {
	d, _ := discovering(t, "application/json", map[string]string{"/api": strings.Repeat(" ", largestDiscovery+1)})
	_, err := d.all(t.Context())
	require.ErrorContains(t, err, "/api: the answer is larger than 67108864 bytes")
}

// A certificate that has expired is mended by people, who read why in the condition of the Cluster.
func TestAMemberThatIsNotReachedSaysWhy(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	expired := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, expired, expired, key.Public(), key)
	require.NoError(t, err)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	probed := func(authority []byte) probe {
		t.Helper()
		c, err := clientOf(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{ServerName: "localhost", CAData: authority}}, corev1.SchemeGroupVersion)
		require.NoError(t, err)
		return (&member{discovery: newDiscovery(c)}).probe(t.Context())
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.Equal(t, probe{unreachable.status, unreachable.reason, "cluster is not reachable: its certificate is valid from 2025-01-01T00:00:00Z to 2026-01-01T00:00:00Z"}, probed(authority))
	server.Close()
	require.Contains(t, probed(authority).message, "cluster is not reachable: dial tcp "+strings.TrimPrefix(server.URL, "https://"))
}
