// Package credentials says how the API server of a member is reached, and by which credentials: what a kubeconfig holds, and what a
// hub stores of it in a Cluster and a Secret. Nothing of it names a file or a program, so that who may write a Cluster or a
// Secret reads no file of the hub and runs nothing there.
package credentials

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"leeward/messages/api"
	"leeward/runtime/client"
)

// Namespace holds the Secrets, and nothing else may be referred to. Source: Karmada.
const Namespace = api.LeaseNamespace

// The keys of a Secret. Source: Karmada, which knows the first two.
const (
	keyToken = "token"
	keyCA    = "caBundle"
	keyCert  = corev1.TLSCertKey
	keyKey   = corev1.TLSPrivateKeyKey
)

// LabelCluster is on a Secret that join created; its value is the cluster.
const LabelCluster = "leeward.dev/cluster"

// Most is how many clusters of one hub have their credentials there.
const Most = 200

// mostBytes is how large the credentials of one cluster are together, and mostFile a kubeconfig.
const (
	mostBytes = 64 << 10
	mostFile  = 1 << 20
)

// Member is one API server.
type Member struct {
	// Endpoint is its URL: "https://10.0.0.1:6443".
	Endpoint string
	// ProxyURL is a proxy before it; empty: none. Insecure is set where its certificate is not verified.
	ProxyURL string
	Insecure bool
	// Token, or Cert and Key, are what identifies the hub there; CA are the authorities that its certificate is verified against, as PEM.
	Token         string
	CA, Cert, Key []byte
}

// Load reads the credentials of a context of a kubeconfig; an empty context is its current one.
func Load(file, context string) (*Member, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if info.Size() > mostFile {
		return nil, fmt.Errorf("%s has %d bytes: it may have %d", file, info.Size(), mostFile)
	}
	c, err := client.Load(file, context)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	m, err := of(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// of takes what is needed from a configuration.
func of(c *rest.Config) (*Member, error) {
	switch {
	case c.ExecProvider != nil:
		return nil, fmt.Errorf("its user runs the program %s, which the hub cannot: it takes a token or a client certificate", c.ExecProvider.Command)
	case c.AuthProvider != nil, c.Username != "":
		return nil, errors.New("its user has neither a token nor a client certificate: the hub takes no other credentials")
	case c.Impersonate.UserName != "":
		return nil, errors.New("its user acts as another (field as), which the hub does not")
	case c.ServerName != "":
		return nil, errors.New("its cluster has the field tls-server-name, which a Cluster has not")
	}
	if err := rest.LoadTLSFiles(c); err != nil {
		return nil, err
	}
	m := &Member{Endpoint: strings.TrimSuffix(c.Host, "/"), Insecure: c.Insecure, Token: c.BearerToken, CA: c.CAData, Cert: c.CertData, Key: c.KeyData}
	if m.Token != "" {
		m.Cert, m.Key = nil, nil // one suffices, and is rotated alone
	}
	if c.Proxy != nil {
		at, err := c.Proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: "member"}})
		if err != nil {
			return nil, fmt.Errorf("proxy-url: %w", err)
		}
		m.ProxyURL = at.String()
	}
	return m, m.check()
}

// check reports what cannot be used. No error says what a credential is.
func (m *Member) check() error {
	at, err := url.Parse(m.Endpoint)
	switch size := len(m.Token) + len(m.CA) + len(m.Cert) + len(m.Key); {
	case err != nil || at.Host == "":
		return fmt.Errorf("the server %q is not a URL", m.Endpoint)
	case at.Scheme != "https":
		return fmt.Errorf("the server %q is not https: anyone on the way could read the credentials", m.Endpoint)
	case at.User != nil, at.RawQuery != "", at.Fragment != "":
		return errors.New("the server has more than a host and a path in its URL")
	case size > mostBytes:
		return fmt.Errorf("the credentials have %d bytes: they may have %d", size, mostBytes)
	case m.Token == "" && len(m.Cert) == 0:
		return errors.New("there is neither a token nor a client certificate")
	case strings.ContainsFunc(m.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the token has a character that no token has")
	case m.Insecure && len(m.CA) > 0:
		return errors.New("there are authorities for a certificate that is not verified: remove one of both")
	case len(m.CA) > 0 && !x509.NewCertPool().AppendCertsFromPEM(m.CA):
		return errors.New("the authorities hold no certificate")
	}
	if len(m.Cert)+len(m.Key) > 0 {
		if _, err := tls.X509KeyPair(m.Cert, m.Key); err != nil {
			return fmt.Errorf("the client certificate and its key: %w", err)
		}
	}
	return nil
}

// Secret is what a hub stores of the credentials of a cluster.
func (m *Member) Secret(cluster string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: cluster, Labels: map[string]string{LabelCluster: cluster}}, Type: corev1.SecretTypeOpaque, Data: map[string][]byte{}}
	for key, value := range map[string][]byte{keyToken: []byte(m.Token), keyCA: m.CA, keyCert: m.Cert, keyKey: m.Key} { // order-free: each key once
		if len(value) > 0 {
			s.Data[key] = value
		}
	}
	return s
}

// Describe has a Cluster say how it is reached.
func (m *Member) Describe(c *api.Cluster) {
	c.Spec.SyncMode, c.Spec.APIEndpoint = api.Push, m.Endpoint
	c.Spec.InsecureSkipTLSVerification, c.Spec.ProxyURL = m.Insecure, m.ProxyURL
	c.Spec.SecretRef = &api.LocalSecretReference{Namespace: Namespace, Name: c.Name}
}

// Pushed reports whether a hub is to act for a cluster by itself.
func Pushed(c *api.Cluster) bool { return c.Spec.SyncMode == api.Push && c.Spec.SecretRef != nil }

// Read puts together what a hub has of a cluster. The Secret is nil where there is none.
func Read(c *api.Cluster, s *corev1.Secret) (*Member, error) {
	ref := c.Spec.SecretRef
	switch {
	case ref.Namespace != Namespace:
		return nil, fmt.Errorf("spec.secretRef.namespace is %s: credentials are read from the namespace %s alone", ref.Namespace, Namespace)
	case len(c.Spec.ProxyHeader) > 0:
		return nil, errors.New("spec.proxyHeader is not supported")
	case s == nil:
		return nil, fmt.Errorf("the Secret %s/%s does not exist", ref.Namespace, ref.Name)
	}
	m := &Member{
		Endpoint: c.Spec.APIEndpoint, ProxyURL: c.Spec.ProxyURL, Insecure: c.Spec.InsecureSkipTLSVerification,
		Token: string(s.Data[keyToken]), CA: s.Data[keyCA], Cert: s.Data[keyCert], Key: s.Data[keyKey],
	}
	if m.Insecure {
		m.CA = nil // Karmada stores both
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("cluster %s and its Secret %s/%s: %w", c.Name, ref.Namespace, ref.Name, err)
	}
	return m, nil
}

// Same reports whether two are the same server by the same credentials.
func (m *Member) Same(o *Member) bool {
	return m.Endpoint == o.Endpoint && m.ProxyURL == o.ProxyURL && m.Insecure == o.Insecure && m.Token == o.Token &&
		slices.Equal(m.CA, o.CA) && slices.Equal(m.Cert, o.Cert) && slices.Equal(m.Key, o.Key)
}

// Config is what clients need to speak to the server, over connections of their own. What it answers is bounded.
func (m *Member) Config() (*rest.Config, error) {
	c, err := m.config()
	if err != nil {
		return nil, err
	}
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounded{next} })
	return Apart(c)
}

// Stream is what passes requests of others on to the server, over a connection of its own for each. What it answers has no end, and
// may be another protocol, which HTTP/2 does not allow.
func (m *Member) Stream() (*url.URL, http.RoundTripper, error) {
	at, err := url.Parse(m.Endpoint)
	if err != nil {
		return nil, nil, fmt.Errorf("the server %q is not a URL: %w", m.Endpoint, err)
	}
	c, err := m.config()
	if err != nil {
		return nil, nil, err
	}
	c.NextProtos = []string{"http/1.1"}
	transport, err := rest.TransportFor(c)
	return at, transport, err
}

func (m *Member) config() (*rest.Config, error) {
	c := &rest.Config{
		Host: m.Endpoint, BearerToken: m.Token, Proxy: http.ProxyFromEnvironment,
		TLSClientConfig: rest.TLSClientConfig{Insecure: m.Insecure, CAData: m.CA, CertData: m.Cert, KeyData: m.Key},
	}
	if m.ProxyURL != "" {
		at, err := url.Parse(m.ProxyURL)
		if err != nil {
			return nil, fmt.Errorf("the proxy %q is not a URL: %w", m.ProxyURL, err)
		}
		c.Proxy = http.ProxyURL(at)
	}
	return c, nil
}

// Apart has the clients of a configuration share connections that no others use, and that nothing keeps once the clients are gone:
// client-go keeps those of each certificate for the life of the process. The configuration must say which proxy is used.
func Apart(c *rest.Config) (*rest.Config, error) {
	transport, err := rest.TransportFor(c)
	if err != nil {
		return nil, err
	}
	return &rest.Config{Host: c.Host, Transport: transport}, nil
}

// mostAnswer is how long one answer of a member is read, of a watch too, which its client then begins again where it was: no member
// fills the memory of the hub. A test lowers it.
var mostAnswer int64 = 256 << 20

// bounded cuts off answers that are too long.
type bounded struct{ http.RoundTripper }

// RoundTrip makes one request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err != nil || answer.StatusCode == http.StatusSwitchingProtocols {
		return answer, err
	}
	answer.Body = &cut{answer.Body, mostAnswer}
	return answer, nil
}

// WrappedRoundTripper is what makes the requests, for those who close its connections.
func (b bounded) WrappedRoundTripper() http.RoundTripper { return b.RoundTripper }

// cut is a body of which no more is read than so many bytes.
type cut struct {
	io.ReadCloser
	left int64
}

// Read reads on, and fails past the bound.
func (c *cut) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the member's answer is longer than %d bytes", mostAnswer)
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
