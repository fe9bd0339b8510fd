package kubeapi

import (
	"context"
	"crypto/subtle"
	"fmt"
	"regexp"

	"github.com/benbjohnson/clock"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	"k8s.io/cluster-bootstrap/token/jws"
	bootstrapsecrets "k8s.io/cluster-bootstrap/util/secrets"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// BootstrapGroup are the holders of bootstrap tokens that may register clusters: each asks for the client certificate of the agent of a
// cluster that does not exist yet. Source: Karmada's karmadactl token create.
const BootstrapGroup = "system:bootstrappers:karmada:default-cluster-token"

// mostTokens is how many bootstrap tokens the description of the server is signed with, the first by name: who is not authenticated has
// them signed.
const mostTokens = 100

var (
	secretResource  = corev1.Resource("secrets")
	clusterInfoPath = "/api/v1/namespaces/" + metav1.NamespacePublic + "/configmaps/" + bootstrapapi.ConfigMapClusterInfo
	bootstrapToken  = regexp.MustCompile(bootstrapapi.BootstrapTokenPattern)
)

// bootstrapTokens are the Secrets of that type in kube-system, as karmadactl token create writes them.
type bootstrapTokens struct {
	engine *engine.Engine
	clock  clock.Clock
}

var _ authenticator.Token = bootstrapTokens{}

// usable returns the secret part of a token that is good for a usage now; "" where it is not.
func (b bootstrapTokens) usable(s *corev1.Secret, usage string) (id, secret string) {
	id, named := bootstrapsecrets.ParseName(s.Name)
	data := func(key string) string { return bootstrapsecrets.GetData(s, key) }
	if !named || s.Type != corev1.SecretTypeBootstrapToken || s.DeletionTimestamp != nil || data(bootstrapapi.BootstrapTokenIDKey) != id ||
		data(bootstrapapi.BootstrapTokenUsagePrefix+usage) != "true" || bootstrapsecrets.HasExpired(s, b.clock.Now()) {
		return "", ""
	}
	return id, data(bootstrapapi.BootstrapTokenSecretKey)
}

// AuthenticateToken returns who has a bootstrap token. What does not read as one is for others to know.
func (b bootstrapTokens) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	parts := bootstrapToken.FindStringSubmatch(token)
	if parts == nil {
		return nil, false, nil
	}
	key := engine.Key(secretResource, metav1.NamespaceSystem, bootstrapapi.BootstrapTokenSecretPrefix+parts[1])
	o, _ := b.engine.Table(secretResource).Get(key)
	s, is := o.(*corev1.Secret)
	if !is {
		return nil, false, nil
	}
	_, secret := b.usable(s, "authentication")
	if secret == "" || subtle.ConstantTimeCompare([]byte(secret), []byte(parts[2])) != 1 {
		return nil, false, nil
	}
	groups, err := bootstrapsecrets.GetGroups(s)
	if err != nil {
		return nil, false, fmt.Errorf("bootstrap token %s/%s: %s: %w", s.Namespace, s.Name, bootstrapapi.BootstrapTokenExtraGroupsKey, err)
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: bootstrapapi.BootstrapUserPrefix + parts[1], Groups: groups}}, true, nil
}

// clusterInfo describes a server to holders of bootstrap tokens: a kubeconfig without credentials, signed with each token. There is none where no token is to sign it.
func (b bootstrapTokens) clusterInfo(kubeconfig string) (*corev1.ConfigMap, error) {
	info := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespacePublic, Name: bootstrapapi.ConfigMapClusterInfo},
		Data:       map[string]string{bootstrapapi.KubeConfigKey: kubeconfig},
	}
	tokens := b.engine.Table(secretResource).Snapshot().Under(engine.Key(secretResource, metav1.NamespaceSystem, bootstrapapi.BootstrapTokenSecretPrefix), "")
	for _, o := range tokens {
		if len(info.Data) > mostTokens {
			break
		}
		id, secret := b.usable(o.(*corev1.Secret), "signing")
		if secret == "" {
			continue
		}
		signature, err := jws.ComputeDetachedSignature(kubeconfig, id, secret)
		if err != nil {
			return nil, fmt.Errorf("sign %s: %w", info.Name, err)
		}
		info.Data[bootstrapapi.JWSSignatureKeyPrefix+id] = signature
	}
	if len(info.Data) == 1 {
		return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), info.Name)
	}
	return info, nil
}

// describedIn is the kubeconfig by which this server is described: where it is, and whom to trust.
func (s *Server) describedIn() (string, error) {
	trusted, err := (Endpoint{s.reached(), s.config.ServingCert}).trusted(s.authority.pem)
	if err != nil {
		return "", err
	}
	c := clientcmdapi.NewConfig()
	c.Clusters[""] = &clientcmdapi.Cluster{Server: "https://" + s.reached(), CertificateAuthorityData: trusted}
	text, err := clientcmd.Write(*c)
	return string(text), err
}

// configMaps serves ConfigMaps, and beside those that are stored the description of the server.
type configMaps struct {
	objects
	server *Server
}

// Get returns one of them.
func (c configMaps) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	if name != bootstrapapi.ConfigMapClusterInfo || request.NamespaceValue(ctx) != metav1.NamespacePublic {
		return c.objects.Get(ctx, name, options)
	}
	text, err := c.server.describedIn()
	if err != nil {
		return nil, err
	}
	return bootstrapTokens{c.server.config.Engine, c.server.config.Clock}.clusterInfo(text)
}

// tokenRules are those of holders of bootstrap tokens.
var tokenRules = []rule{{verbs: []string{"get", "create"}, groups: []string{catalog.CertificateRequests.Kind.Group}, resources: []string{catalog.CertificateRequests.Plural}}}
