package kubeapi

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/util/cert"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

const (
	// registrar is the cluster in the name of the user as whom karmadactl register writes roles.
	registrar = "rbac-generator"
	// registrarLives is how long his certificate is good for, and signedAtLeast the least that may be asked for. Source of the latter: Kubernetes.
	registrarLives = time.Hour
	signedAtLeast  = 10 * time.Minute
	// requestsLive is how long a request is stored: karmadactl asks for its certificate for 5 min.
	requestsLive = 10 * time.Minute
	// mostRequest is how many bytes a request may have, and mostRequests how many are stored, of one user and of all.
	mostRequest        = 16 << 10
	mostRequestsOfUser = 100
	mostRequests       = 1000
	leastRSA           = 2048
)

// certificateRequests are by whom, and whether they were granted.
var certificateRequests = &kind{catalog.CertificateRequests, look{
	list: &certificatesv1.CertificateSigningRequestList{}, short: []string{"csr"}, lives: requestsLive,
	columns: []column{
		nameColumn, ageColumn,
		shown("SignerName", func(r *certificatesv1.CertificateSigningRequest) any { return r.Spec.SignerName }),
		shown("Requestor", func(r *certificatesv1.CertificateSigningRequest) any { return r.Spec.Username }),
		shown("Condition", func(*certificatesv1.CertificateSigningRequest) any { return "Approved,Issued" }),
	},
}}

// requesting serves certificate requests. One that may be granted is granted in the same step, and any other is refused: no request waits
// for an approval. They are created, read and deleted.
type requesting struct {
	readOnly
	server *Server
}

var _ rest.GracefulDeleter = requesting{}

// Create grants a request, or says why not.
func (r requesting) Create(ctx context.Context, o runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	asked, is := o.(*certificatesv1.CertificateSigningRequest)
	if !is {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a CertificateSigningRequest: %T", o))
	}
	asking, err := userFrom(ctx)
	if err != nil {
		return nil, err
	}
	if most, many := r.many(asking.GetName()); many {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%d certificate requests are stored, for %s each", most, requestsLive), int(requestsLive/time.Second))
	}
	g, err := r.server.grant(asking, &asked.Spec)
	if err != nil {
		return nil, apierrors.NewForbidden(r.kind.Name(), asked.Name, err)
	}
	now := r.server.config.Clock.Now()
	signed, err := r.server.authority.certify(g, now)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	asked.Finalizers, asked.OwnerReferences = nil, nil // nothing keeps it
	asked.Spec.Username, asked.Spec.UID, asked.Spec.Groups, asked.Spec.Extra = asking.GetName(), asking.GetUID(), asking.GetGroups(), nil
	approved := metav1.NewTime(now.Truncate(time.Second))
	asked.Status = certificatesv1.CertificateSigningRequestStatus{Certificate: signed, Conditions: []certificatesv1.CertificateSigningRequestCondition{{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AutoApproved", Message: g.reason, LastUpdateTime: approved, LastTransitionTime: approved,
	}}}
	stored, err := r.store.Create(ctx, asked, validate, options)
	if err == nil {
		r.server.config.Logger.Info().Str("user", asking.GetName()).Str("for", g.name).Dur("lasts", g.lasts).Msg("client certificate signed")
	}
	return stored, err
}

// many reports whether no more requests of a user are stored, and how many there are.
func (r requesting) many(name string) (most int, many bool) {
	table := r.server.config.Engine.Table(r.kind.Name())
	if table.Len() >= mostRequests {
		return mostRequests, true
	}
	own := 0
	for _, o := range table.Snapshot().Under(engine.Prefix(r.kind.Name()), "") {
		if o.(*certificatesv1.CertificateSigningRequest).Spec.Username == name {
			own++
		}
	}
	return mostRequestsOfUser, own >= mostRequestsOfUser
}

// Delete deletes a request. The user who writes roles deletes his own.
func (r requesting) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if u, err := userFrom(ctx); err == nil && isRegistrar(u) && !strings.HasPrefix(name, "agent-"+registrar+"-") {
		return nil, false, apierrors.NewForbidden(r.kind.Name(), name, errors.New("it is not one of this user"))
	}
	return r.store.Delete(ctx, name, validate, options)
}

// granted is a client certificate that will be signed.
type granted struct {
	name   string
	public crypto.PublicKey
	lasts  time.Duration
	reason string
}

// grant says which certificate a user gets by a request, or why none. Source: Karmada's agentcsrapproving controller; stricter is that no
// token gets the name of a cluster that exists.
func (s *Server) grant(asking user.Info, spec *certificatesv1.CertificateSigningRequestSpec) (granted, error) {
	if spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return granted{}, fmt.Errorf("spec.signerName: %q: only %s signs here", spec.SignerName, certificatesv1.KubeAPIServerClientSignerName)
	}
	request, err := readRequest(spec.Request)
	if err != nil {
		return granted{}, fmt.Errorf("spec.request: %w", err)
	}
	if err := forClients(spec.Usages); err != nil {
		return granted{}, fmt.Errorf("spec.usages: %w", err)
	}
	cluster, _ := strings.CutPrefix(request.Subject.CommonName, KarmadaAgentPrefix)
	g := granted{name: request.Subject.CommonName, public: request.PublicKey, lasts: clientLives}
	if g.reason, err = s.entitled(asking, cluster, g.name); err != nil {
		return granted{}, err
	}
	if cluster == registrar {
		g.lasts = registrarLives
	}
	if spec.ExpirationSeconds != nil {
		asked := time.Duration(*spec.ExpirationSeconds) * time.Second
		if asked < signedAtLeast {
			return granted{}, fmt.Errorf("spec.expirationSeconds: %d: must be at least %d", *spec.ExpirationSeconds, signedAtLeast/time.Second)
		}
		g.lasts = min(g.lasts, asked)
	}
	return g, nil
}

// entitled says why a user may have the certificate of a name.
func (s *Server) entitled(asking user.Info, cluster, name string) (reason string, err error) {
	switch {
	case asking.GetName() == name && slices.Contains(asking.GetGroups(), KarmadaAgentGroup) && cluster != registrar:
		return "the agent renews its own certificate", nil
	case !slices.Contains(asking.GetGroups(), BootstrapGroup):
		return "", errors.New("spec.request: an agent gets its own certificate again, and the holder of a bootstrap token that of a cluster to be registered")
	case s.config.Engine.Table(catalog.Clusters.Name()).Version(engine.Key(catalog.Clusters.Name(), "", cluster)) != 0:
		return "", fmt.Errorf("spec.request: cluster %s exists: its agent has credentials, and no bootstrap token gets them", cluster)
	}
	return "the holder of a bootstrap token registers a cluster", nil
}

// readRequest reads a request for the client certificate of an agent.
func readRequest(text []byte) (*x509.CertificateRequest, error) {
	if len(text) > mostRequest {
		return nil, fmt.Errorf("%d bytes, and may have %d", len(text), mostRequest)
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != cert.CertificateRequestBlockType || len(rest) > 0 {
		return nil, errors.New("must be one certificate request in PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	if err := request.CheckSignature(); err != nil {
		return nil, err
	}
	cluster, is := strings.CutPrefix(request.Subject.CommonName, KarmadaAgentPrefix)
	switch {
	case !slices.Equal(request.Subject.Organization, []string{KarmadaAgentGroup}):
		return nil, fmt.Errorf("organizations %q: must be %s alone", request.Subject.Organization, KarmadaAgentGroup)
	case !is || len(validation.IsDNS1123Label(cluster)) > 0:
		return nil, fmt.Errorf("common name %q: must be %s and the name of a cluster", request.Subject.CommonName, KarmadaAgentPrefix)
	case len(request.DNSNames)+len(request.EmailAddresses)+len(request.IPAddresses)+len(request.URIs) > 0:
		return nil, errors.New("must have no alternative names")
	}
	return request, strong(request.PublicKey)
}

// strong refuses keys that are too weak to be signed.
func strong(key crypto.PublicKey) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < leastRSA {
			return fmt.Errorf("an RSA key of %d bits: must have at least %d", k.N.BitLen(), leastRSA)
		}
		return nil
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return nil
	}
	return fmt.Errorf("a key of type %T", key)
}

// forClients wants the usages of a client certificate, each once.
func forClients(usages []certificatesv1.KeyUsage) error {
	sorted := slices.Sorted(slices.Values(usages))
	least := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature}
	if slices.Equal(sorted, least) || slices.Equal(sorted, append(least, certificatesv1.UsageKeyEncipherment)) {
		return nil
	}
	return fmt.Errorf("%q: must be %q, and may be %q", usages, least, certificatesv1.UsageKeyEncipherment)
}

// certify signs a certificate for a key of its holder's. Of what he asked for it has the name alone.
func (a *authority) certify(g granted, now time.Time) ([]byte, error) {
	return sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: g.name, Organization: []string{KarmadaAgentGroup}},
		NotBefore: now.Add(-backdated), NotAfter: now.Add(g.lasts),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, g.public, a.key)
}
