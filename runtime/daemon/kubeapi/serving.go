package kubeapi

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/util/cert"

	"leeward/runtime/fleet/config"
)

// loopback are the names by which programs on the daemon's own machine call it.
var loopback = []string{"localhost", "127.0.0.1", "::1"}

// secure says how the server proves what it is, and how clients do.
func (s *Server) secure(generic *server.Config) (err error) {
	now := s.config.Clock.Now()
	if s.authority, err = openAuthority(filepath.Join(s.config.DataDir, "pki"), now); err != nil {
		return err
	}
	host, _, err := net.SplitHostPort(s.Addr())
	if err != nil {
		return fmt.Errorf("read the address %s: %w", s.Addr(), err)
	}
	own, err := s.authority.server(append(append([]string{host}, loopback...), s.config.Hosts...), now)
	if err != nil {
		return err
	}
	generic.SecureServing = &server.SecureServingInfo{Listener: s.listener, MinTLSVersion: tls.VersionTLS12}
	if err := s.prove(generic.SecureServing, own); err != nil {
		return err
	}
	clients, err := s.clientAuthorities()
	if err != nil {
		return err
	}
	generic.SecureServing.ClientCA = clients
	generic.Authentication.Authenticator, err = s.authentication(clients)
	return err
}

// prove has the server show its own certificate, or, where there is one, that of the configuration: then its own is for
// those on its own machine only, so that the administrator's kubeconfig works whatever happens to the other.
func (s *Server) prove(serving *server.SecureServingInfo, own pair) (err error) {
	if s.config.ServingCert == "" {
		serving.Cert, err = dynamiccertificates.NewStaticCertKeyContent("server", own.certificate, own.key)
		return err
	}
	if serving.Cert, err = dynamiccertificates.NewDynamicServingContentFromFiles("server", s.config.ServingCert, s.config.ServingKey); err != nil {
		return &config.Invalid{Problem: fmt.Errorf("read the serving certificate: %w", err)}
	}
	local, err := dynamiccertificates.NewStaticSNICertKeyContent("loopback", own.certificate, own.key, loopback...)
	serving.SNICerts = []dynamiccertificates.SNICertKeyContentProvider{local}
	return err
}

// clientAuthorities are those whose certificates say who clients are.
func (s *Server) clientAuthorities() (dynamiccertificates.CAContentProvider, error) {
	own, err := dynamiccertificates.NewStaticCAContent("clients", s.authority.pem)
	if err != nil || s.config.ClientCA == "" {
		return own, err
	}
	others, err := dynamiccertificates.NewDynamicCAContentFromFile("client-ca", s.config.ClientCA)
	if err != nil {
		return nil, &config.Invalid{Problem: fmt.Errorf("read the authorities of clients: %w", err)}
	}
	return dynamiccertificates.NewUnionCAContentProvider(own, others), nil
}

// Endpoint is where and how clients reach a daemon.
type Endpoint struct {
	// Address is host:port.
	Address string
	// ServingCert is the file of the certificate that the daemon shows there, with those of its authorities; "" for one
	// of its own authority.
	ServingCert string
}

// trusted returns, in PEM, the authorities that a client at the endpoint has to trust: none where those of its system
// will do.
func (e Endpoint) trusted(own []byte) ([]byte, error) {
	host, _, err := net.SplitHostPort(e.Address)
	if err != nil {
		return nil, fmt.Errorf("read the address %q: %w", e.Address, err)
	}
	if address := net.ParseIP(host); e.ServingCert == "" || host == "localhost" || address != nil && address.IsLoopback() {
		return own, nil
	}
	text, err := os.ReadFile(e.ServingCert)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate: %w", err)
	}
	chain, err := cert.ParseCertsPEM(text)
	if err != nil {
		return nil, fmt.Errorf("read the serving certificate %s: %w", e.ServingCert, err)
	}
	var trusted []byte
	for _, c := range chain {
		if c.IsCA || string(c.RawIssuer) == string(c.RawSubject) { // who signs for himself, too
			trusted = append(trusted, inPEM(c.Raw)...)
		}
	}
	return trusted, nil
}
