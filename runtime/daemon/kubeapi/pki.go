package kubeapi

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"leeward/messages/api"
)

const (
	// authorityLives is how long the daemon's own authority, and what it signs for servers, is good for.
	authorityLives = 10 * 365 * 24 * time.Hour
	// clientLives is how long a client certificate is good for.
	clientLives = 365 * 24 * time.Hour
	// backdated is how far behind clocks of clients may be.
	backdated = 5 * time.Minute
)

// authority signs the certificates of the daemon and of its clients. It is kept, for every kubeconfig trusts it.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	// pem is the certificate as clients are given it.
	pem []byte
}

// openAuthority returns the authority of a folder, and makes one where there is none.
func openAuthority(folder string, now time.Time) (*authority, error) {
	certFile, keyFile := filepath.Join(folder, "ca.crt"), filepath.Join(folder, "ca.key")
	a, err := readAuthority(certFile, keyFile)
	if !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of certificates: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "leeward-ca"},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(authorityLives),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	signed, err := sign(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if err := writeKey(keyFile, key); err != nil {
		return nil, err
	}
	if err := os.WriteFile(certFile, signed, 0o644); err != nil {
		return nil, fmt.Errorf("keep the authority: %w", err)
	}
	return readAuthority(certFile, keyFile)
}

func readAuthority(certFile, keyFile string) (*authority, error) {
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key: %w", err)
	}
	certificate, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read the authority: %w", err)
	}
	parsed, err := cert.ParseCertsPEM(certificate)
	if err != nil {
		return nil, fmt.Errorf("read the authority %s: %w", certFile, err)
	}
	private, err := keyutil.ParsePrivateKeyPEM(key)
	if err != nil {
		return nil, fmt.Errorf("read the authority's key %s: %w", keyFile, err)
	}
	signer, ok := private.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("read the authority's key %s: a %T cannot sign", keyFile, private)
	}
	return &authority{certificate: parsed[0], key: signer, pem: certificate}, nil
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("keep the authority's key: %w", err)
	}
	return nil
}

// pair is a certificate and its key, in PEM.
type pair struct{ certificate, key []byte }

// server returns the certificate of the daemon, for the names and addresses that clients call it by.
func (a *authority) server(hosts []string, now time.Time) (pair, error) {
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "leewardd"},
		NotBefore: now.Add(-backdated), NotAfter: a.certificate.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if address := net.ParseIP(h); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	return a.issue(template)
}

// client returns a certificate that says who a client is: his name, and the groups that he is in.
func (a *authority) client(name string, groups []string, now time.Time) (pair, error) {
	return a.issue(&x509.Certificate{
		Subject:   pkix.Name{CommonName: name, Organization: groups},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(clientLives),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make a key: %w", err)
	}
	signed, err := sign(template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	text, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return pair{}, fmt.Errorf("write a key: %w", err)
	}
	return pair{signed, text}, nil
}

// sign returns the certificate in PEM, with a serial number by chance.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("number a certificate: %w", err)
	}
	template.SerialNumber = serial
	signed, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("sign a certificate for %s: %w", template.Subject.CommonName, err)
	}
	return inPEM(signed), nil
}

func inPEM(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}

// User is a user who gets a kubeconfig.
type User struct {
	Name   string
	Groups []string
}

// Admin may do everything.
func Admin() User { return User{Name: "leeward:admin", Groups: []string{AdminGroup}} }

// Agent is the agent of a cluster.
func Agent(cluster string) User {
	return User{Name: api.AgentUserPrefix + cluster, Groups: []string{AgentGroup}}
}

// Pusher is the daemon where it acts for clusters in push mode.
func Pusher() User { return User{Name: "leeward:pusher", Groups: []string{PusherGroup}} }

// Kubeconfig makes a kubeconfig for a user of the daemon that keeps its data in a folder. The daemon need not run, and
// knows the user by the certificate in it, which is good for a year.
func Kubeconfig(dataDir string, at Endpoint, u User, now time.Time) (*clientcmdapi.Config, error) {
	a, err := openAuthority(filepath.Join(dataDir, "pki"), now)
	if err != nil {
		return nil, err
	}
	return a.kubeconfig(at, u, now)
}

func (a *authority) kubeconfig(at Endpoint, u User, now time.Time) (*clientcmdapi.Config, error) {
	p, err := a.client(u.Name, u.Groups, now)
	if err != nil {
		return nil, err
	}
	trusted, err := at.trusted(a.pem)
	if err != nil {
		return nil, err
	}
	const name = "leeward"
	c := clientcmdapi.NewConfig()
	c.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + at.Address, CertificateAuthorityData: trusted}
	c.AuthInfos[u.Name] = &clientcmdapi.AuthInfo{ClientCertificateData: p.certificate, ClientKeyData: p.key}
	c.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: u.Name, Namespace: "default"}
	c.CurrentContext = name
	return c, nil
}

// writeKubeconfig writes a file that only its owner can read.
func writeKubeconfig(file string, c *clientcmdapi.Config) error {
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", file, err)
	}
	return nil
}
