package kubeapi

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/util/keyutil"

	"leeward/runtime/fleet/config"
)

// MostLasting is how long a token may be good for that the daemon itself has signed.
const MostLasting = 12 * time.Hour

const (
	tokenIssuer = "leewardd"
	// mostOfToken is how long a token may be, in bytes, so that no other is looked at.
	mostOfToken = 4096
)

// claims are what a token says: the name is its subject.
type claims struct {
	jwt.RegisteredClaims
	Groups []string `json:"groups,omitempty"`
}

// Token signs a token for a user of the daemon that keeps its data in a folder. The daemon need not run. A client that has the token
// is that user until it ends; to remove pki/tokens.key, and to start the daemon again, ends all of them.
func Token(dataDir string, u User, lasts time.Duration, now time.Time) (string, error) {
	if err := u.signable(lasts); err != nil {
		return "", &config.Invalid{Problem: err}
	}
	key, err := openTokenKey(dataDir)
	if err != nil {
		return "", err
	}
	at := jwt.NewNumericDate
	signed, err := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		RegisteredClaims: jwt.RegisteredClaims{Issuer: tokenIssuer, Subject: u.Name, NotBefore: at(now.Add(-backdated)), IssuedAt: at(now), ExpiresAt: at(now.Add(lasts))},
		Groups:           u.Groups,
	}).SignedString(key)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	if len(signed) > mostOfToken {
		return "", &config.Invalid{Problem: fmt.Errorf("the token would have %d bytes, and may have %d: give a shorter name, or fewer groups", len(signed), mostOfToken)}
	}
	return signed, nil
}

// signable reports what is wrong with a user who is to get a token.
func (u *User) signable(lasts time.Duration) error {
	switch {
	case u.Name == "" || strings.HasPrefix(u.Name, "system:"):
		return fmt.Errorf("user %q: must have a name, and none that begins with \"system:\"", u.Name)
	case slices.ContainsFunc(u.Groups, func(g string) bool { return g == "" || strings.HasPrefix(g, "system:") }):
		return fmt.Errorf("groups %q: must have names, and none that begins with \"system:\"", u.Groups)
	case lasts <= 0 || lasts > MostLasting:
		return fmt.Errorf("%s is out of range: a token is good for up to %s", lasts, MostLasting)
	}
	return nil
}

// openTokenKey returns the key that signs tokens, and makes one where there is none.
func openTokenKey(dataDir string) (*ecdsa.PrivateKey, error) {
	file := filepath.Join(dataDir, "pki", "tokens.key")
	key, err := readTokenKey(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of certificates: %w", err)
	}
	fresh, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return fresh, writeKey(file, fresh)
}

func readTokenKey(file string) (*ecdsa.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the key of tokens: %w", err)
	}
	parsed, err := keyutil.ParsePrivateKeyPEM(text)
	if err != nil {
		return nil, fmt.Errorf("read the key of tokens %s: %w", file, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the key of tokens %s: a %T does not sign them", file, parsed)
	}
	return key, nil
}

// ownTokens knows users by the tokens that the daemon has signed.
type ownTokens struct {
	parser *jwt.Parser
	key    *ecdsa.PublicKey
}

var _ authenticator.Token = ownTokens{}

func newOwnTokens(dataDir string, c clock.Clock) (ownTokens, error) {
	key, err := openTokenKey(dataDir)
	if err != nil {
		return ownTokens{}, err
	}
	return ownTokens{key: &key.PublicKey, parser: jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}), jwt.WithIssuer(tokenIssuer), jwt.WithExpirationRequired(), jwt.WithTimeFunc(c.Now),
	)}, nil
}

// claimed reports whether a token says that the daemon has signed it.
func (o ownTokens) claimed(token string) bool {
	var c claims
	_, _, err := o.parser.ParseUnverified(token, &c)
	return err == nil && c.Issuer == tokenIssuer
}

// AuthenticateToken returns who has a token. One of another issuer is for others to know.
func (o ownTokens) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	if len(token) > mostOfToken {
		return nil, false, nil
	}
	if !o.claimed(token) {
		return nil, false, nil
	}
	var c claims
	if _, err := o.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return o.key, nil }); err != nil {
		return nil, false, fmt.Errorf("a token of the daemon: %w", err)
	}
	u := User{c.Subject, c.Groups}
	if err := u.signable(MostLasting); err != nil {
		return nil, false, fmt.Errorf("a token of the daemon: %w", err)
	}
	if c.ExpiresAt.Sub(c.IssuedAt.Time) > MostLasting {
		return nil, false, fmt.Errorf("a token of the daemon: it is good for more than %s", MostLasting)
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: u.Name, Groups: u.Groups}}, true, nil
}
