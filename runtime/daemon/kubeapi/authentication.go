package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	tokenunion "k8s.io/apiserver/pkg/authentication/token/union"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/oidc"

	"leeward/runtime/fleet/config"
)

// authentication knows clients by certificates and by bearer tokens. A client that has neither may only ask whether the daemon
// is well, and for the description of the server that is signed with bootstrap tokens.
func (s *Server) authentication(clients dynamiccertificates.CAContentProvider) (authenticator.Request, error) {
	tokens, err := s.tokens()
	if err != nil {
		return nil, err
	}
	known := []authenticator.Request{
		x509request.NewDynamic(clients.VerifyOptions, x509request.CommonNameUserConversion), bearertoken.New(tokenunion.New(tokens...)),
	}
	var health []apiserver.AnonymousAuthCondition
	for _, path := range append(slices.Clip(healthPaths), clusterInfoPath) {
		health = append(health, apiserver.AnonymousAuthCondition{Path: path})
	}
	return union.NewFailOnError(
		group.NewAuthenticatedGroupAdder(union.New(known...)),
		anonymous.NewAuthenticator(health),
	), nil
}

// tokens are those who know clients by a token: the daemon, which has signed it, the Secrets of bootstrap tokens, the file tokens.csv, if it is there, of lines
// token,user,uid,"group1,group2", and the issuers of the configuration.
func (s *Server) tokens() (known []authenticator.Token, err error) {
	own, err := newOwnTokens(s.config.DataDir, s.config.Clock)
	if err != nil {
		return nil, err
	}
	known = append(known, own)
	if ofFleet(s.config.Engine) {
		known = append(known, bootstrapTokens{s.config.Engine, s.config.Clock})
	}
	file := filepath.Join(s.config.DataDir, "tokens.csv")
	switch listed, err := tokenfile.NewCSV(file); {
	case err == nil:
		known = append(known, listed)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	if s.config.Authentication == "" {
		return known, nil
	}
	issuers, err := readIssuers(s.config.Authentication)
	if err != nil {
		return nil, &config.Invalid{Problem: fmt.Errorf("read who issues tokens: %s: %w", s.config.Authentication, err)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.forget = cancel
	for _, issuer := range issuers {
		trusted, err := newIssuer(ctx, issuer)
		if err != nil {
			return nil, fmt.Errorf("trust the issuer of tokens %s: %w", issuer.Issuer.URL, err)
		}
		known = append(known, trusted)
	}
	return known, nil
}

// readIssuers reads an AuthenticationConfiguration of Kubernetes.
func readIssuers(file string) ([]apiserver.JWTAuthenticator, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder(), text)
	if err != nil {
		return nil, err
	}
	configured, ok := decoded.(*apiserver.AuthenticationConfiguration)
	switch {
	case !ok:
		return nil, fmt.Errorf("not an AuthenticationConfiguration: %T", decoded)
	case configured.Anonymous != nil:
		return nil, errors.New("anonymous: it is settled who may do what without a name")
	}
	return configured.JWT, validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), configured, nil).ToAggregate()
}

// newIssuer returns who knows clients by the tokens of an issuer, until the context is done. It asks the issuer for its
// keys, and again, until it has them.
func newIssuer(ctx context.Context, issuer apiserver.JWTAuthenticator) (authenticator.Token, error) {
	options := oidc.Options{JWTAuthenticator: issuer, SupportedSigningAlgs: oidc.AllValidSigningAlgorithms()}
	if text := issuer.Issuer.CertificateAuthority; text != "" {
		authorities, err := dynamiccertificates.NewStaticCAContent("issuer", []byte(text))
		if err != nil {
			return nil, err
		}
		options.CAContentProvider = authorities
	}
	return oidc.New(ctx, options)
}
