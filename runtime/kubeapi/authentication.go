package kubeapi

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	x509request "k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
)

// authentication knows clients by certificates of the authority and by the tokens of a file, if it is there: lines
// of token,user,uid,"group1,group2". Whoever has neither may only ask whether the daemon is well.
func (a *authority) authentication(tokenFile string) (authenticator.Request, error) {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	options := x509request.DefaultVerifyOptions()
	options.Roots = pool
	known := []authenticator.Request{x509request.New(options, x509request.CommonNameUserConversion)}
	switch _, err := os.Stat(tokenFile); {
	case err == nil:
		tokens, err := tokenfile.NewCSV(tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read tokens: %w", err)
		}
		known = append(known, bearertoken.New(tokens))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	var health []apiserver.AnonymousAuthCondition
	for _, path := range healthPaths {
		health = append(health, apiserver.AnonymousAuthCondition{Path: path})
	}
	return union.NewFailOnError(
		group.NewAuthenticatedGroupAdder(union.New(known...)),
		anonymous.NewAuthenticator(health),
	), nil
}
