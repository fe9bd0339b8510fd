package kubeapi_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/cluster-bootstrap/token/jws"
	"k8s.io/utils/ptr"

	"leeward/runtime/daemon/kubeapi"
)

const (
	tokensPath   = "/api/v1/namespaces/kube-system/secrets"
	infoPath     = "/api/v1/namespaces/kube-public/configmaps/cluster-info"
	requestsPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	rbacPath     = "/apis/rbac.authorization.k8s.io/v1/"
)

// tokenSecret is a bootstrap token as karmadactl token create writes it.
func tokenSecret(id, secret string, expires time.Time, changed map[string]string) *corev1.Secret {
	data := map[string]string{
		"token-id": id, "token-secret": secret, "expiration": expires.UTC().Format(time.RFC3339), "usage-bootstrap-authentication": "true",
		"usage-bootstrap-signing": "true", "auth-extra-groups": kubeapi.BootstrapGroup,
	}
	maps.Copy(data, changed)
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id}, Type: corev1.SecretTypeBootstrapToken, Data: map[string][]byte{}}
	for name, value := range data { // order-free: copied into a map
		s.Data[name] = []byte(value)
	}
	return s
}

// by sends requests with a bearer token, a certificate of a key, or with neither.
func (d *daemon) by(t *testing.T, identify func(*rest.Config)) *asker {
	t.Helper()
	c := rest.AnonymousClientConfig(d.as(kubeapi.Admin()))
	identify(c)
	client, err := rest.HTTPClientFor(c)
	require.NoError(t, err)
	return &asker{t, client, c.Host}
}

func bearing(token string) func(*rest.Config) { return func(c *rest.Config) { c.BearerToken = token } }

func anonymously(*rest.Config) {}

// asks is a certificate request as karmadactl and the agent write it.
func asks(t *testing.T, name, user string, key crypto.Signer, change func(*x509.CertificateRequest, *certificatesv1.CertificateSigningRequestSpec)) *certificatesv1.CertificateSigningRequest {
	t.Helper()
	request := &x509.CertificateRequest{Subject: pkix.Name{CommonName: user, Organization: []string{kubeapi.KarmadaAgentGroup}}}
	spec := certificatesv1.CertificateSigningRequestSpec{
		SignerName: certificatesv1.KubeAPIServerClientSignerName, ExpirationSeconds: ptr.To[int32](31536000),
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth},
	}
	if change != nil {
		change(request, &spec)
	}
	if spec.Request == nil {
		text, err := x509.CreateCertificateRequest(rand.Reader, request, key)
		require.NoError(t, err)
		spec.Request = pem.EncodeToMemory(&pem.Block{Type: cert.CertificateRequestBlockType, Bytes: text})
	}
	return &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"karmada.io/system": "true"}}, Spec: spec}
}

// certified asks for a certificate, and returns who sends requests with it, and how long it is good for.
func (d *daemon) certified(t *testing.T, a *asker, name, user string) (*asker, time.Duration) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	a.ask(201, "POST", requestsPath+"?timeout=10s", takesProtobuf, asks(t, name, user, key, nil))
	stored := read(t, a.ask(200, "GET", requestsPath+"/"+name+"?timeout=10s", takesProtobuf, nil), &certificatesv1.CertificateSigningRequest{})
	require.Equal(t, certificatesv1.CertificateApproved, stored.Status.Conditions[0].Type)
	signed, err := cert.ParseCertsPEM(stored.Status.Certificate)
	require.NoError(t, err)
	require.Equal(t, user, signed[0].Subject.CommonName)
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return d.by(t, func(c *rest.Config) { c.CertData, c.KeyData = stored.Status.Certificate, text }), signed[0].NotAfter.Sub(signed[0].NotBefore)
}

func TestTheRequestsOfKarmadactlTokenAndRegister(t *testing.T) {
	t.Parallel()
	d := serve(t)
	d.create(clusters, cluster("taken"))
	admin, anyone := d.asker(t, kubeapi.Admin()), d.by(t, anonymously)
	anyone.ask(404, "GET", infoPath, takesProtobuf, nil) // no token is to sign it
	admin.ask(404, "GET", tokensPath+"/bootstrap-token-abcdef", takesProtobuf, nil)
	admin.ask(201, "POST", tokensPath, takesProtobuf, tokenSecret("abcdef", "0123456789abcdef", clock.New().Now().Add(24*time.Hour), nil))
	require.Contains(t, string(admin.ask(200, "GET", tokensPath+"?fieldSelector=type%3Dbootstrap.kubernetes.io%2Ftoken", takesJSON, nil)), "bootstrap-token-abcdef")

	info := read(t, anyone.ask(200, "GET", infoPath, takesProtobuf, nil), &corev1.ConfigMap{})
	require.True(t, jws.DetachedTokenIsValid(info.Data["jws-kubeconfig-abcdef"], info.Data["kubeconfig"], "abcdef", "0123456789abcdef"))
	described, err := clientcmd.Load([]byte(info.Data["kubeconfig"]))
	require.NoError(t, err)
	require.Len(t, described.Clusters, 1)
	require.Empty(t, described.AuthInfos)
	require.Equal(t, d.as(kubeapi.Admin()).CAData, described.Clusters[""].CertificateAuthorityData)

	holder := d.by(t, bearing("abcdef.0123456789abcdef"))
	writer, lasts := d.certified(t, holder, "agent-rbac-generator-m1abcde", "system:karmada:agent:rbac-generator")
	require.Equal(t, time.Hour+5*time.Minute, lasts, "not the year that was asked for")
	writer.ask(404, "GET", fleetPath+"/m1", takesJSON, nil)
	everything := []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}
	writer.ask(201, "POST", rbacPath+"clusterroles", takesProtobuf, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:m1:agent"}, Rules: everything})
	writer.ask(201, "POST", rbacPath+"clusterrolebindings", takesProtobuf, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "system:karmada:m1:agent"}})
	for _, namespace := range []string{"karmada-cluster", "karmada-es-m1"} {
		writer.ask(201, "POST", "/api/v1/namespaces", takesProtobuf, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		writer.ask(201, "POST", rbacPath+"namespaces/"+namespace+"/roles", takesProtobuf, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: namespace}, Rules: everything})
		writer.ask(201, "POST", rbacPath+"namespaces/"+namespace+"/rolebindings", takesProtobuf, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "r", Namespace: namespace}})
	}
	for _, path := range []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"} {
		require.Contains(t, string(admin.ask(200, "GET", rbacPath+path, takesJSON, nil)), `"items":[]`, "nothing of it is stored")
	}
	admin.ask(404, "GET", "/api/v1/namespaces/karmada-es-m1", takesJSON, nil)
	writer.ask(200, "DELETE", requestsPath+"/agent-rbac-generator-m1abcde", takesProtobuf, nil)

	agent, lasts := d.certified(t, holder, "m1-abcde", "system:karmada:agent:m1")
	require.Equal(t, 365*24*time.Hour+5*time.Minute, lasts)
	agent.ask(201, "POST", fleetPath, takesJSON, registered)
	again, _ := d.certified(t, agent, "m1-fghij", "system:karmada:agent:m1")
	again.ask(200, "GET", fleetPath+"/m1", takesJSON, nil)
	d.refusesBeforeRegistration(t, anyone, holder, writer)
	d.refusesCertificates(t, holder, agent)
}

// refusesBeforeRegistration sends what those may not do who are about to register a cluster.
func (d *daemon) refusesBeforeRegistration(t *testing.T, anyone, holder, writer *asker) {
	t.Helper()
	for path, code := range map[string]int{"/api/v1/namespaces/kube-public/configmaps": 401, fleetPath: 401} {
		anyone.ask(code, "GET", path, takesJSON, nil)
	}
	anyone.ask(403, "DELETE", infoPath, takesJSON, nil)
	team := d.asker(t, kubeapi.User{Name: "kit", Groups: []string{kubeapi.EditorGroup + ":kube-system"}})
	mine := tokenSecret("system", "0123456789abcdef", clock.New().Now().Add(time.Hour), nil)
	require.Contains(t, string(team.ask(403, "POST", tokensPath, takesJSON, mine)), "the right to create Clusters")
	mine.Type = corev1.SecretTypeOpaque
	team.ask(201, "POST", tokensPath, takesJSON, mine)
	for _, path := range []string{fleetPath, fleetPath + "/m1", tokensPath, secretsPath, worksPath, requestsPath} {
		holder.ask(403, "GET", path, takesJSON, nil)
	}
	holder.ask(403, "POST", fleetPath, takesJSON, registered)
	holder.ask(403, "DELETE", requestsPath+"/m1-abcde", takesJSON, nil)
	for _, path := range []string{fleetPath, tokensPath, secretsPath, worksPath, rbacPath + "clusterroles"} {
		writer.ask(403, "GET", path, takesJSON, nil)
	}
	require.Contains(t, string(writer.ask(403, "GET", fleetPath+"/taken", takesJSON, nil)), "it exists already")
	writer.ask(403, "DELETE", requestsPath+"/m1-abcde", takesJSON, nil)
	writer.ask(403, "POST", requestsPath, takesJSON, asks(t, "w", "system:karmada:agent:m9", ellipticKey(t), nil))
	writer.ask(403, "POST", requestsPath, takesJSON, asks(t, "w", "system:karmada:agent:rbac-generator", ellipticKey(t), nil))
	writer.ask(403, "POST", secretsPath, takesJSON, opaque("rbac-generator", nil))
	writer.ask(403, "DELETE", rbacPath+"clusterroles/system:karmada:m1:agent", takesJSON, nil)
}

func ellipticKey(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// refusesCertificates asks for certificates that are not signed.
func (d *daemon) refusesCertificates(t *testing.T, holder, agent *asker) {
	t.Helper()
	key := ellipticKey(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	const m9 = "system:karmada:agent:m9"
	type request = x509.CertificateRequest
	type spec = certificatesv1.CertificateSigningRequestSpec
	for what, c := range map[string]struct {
		by     *asker
		user   string
		key    crypto.Signer
		change func(*request, *spec)
		says   string
	}{
		"the agent of a cluster that exists":     {holder, "system:karmada:agent:taken", key, nil, "cluster taken exists"},
		"another agent":                          {agent, m9, key, nil, "an agent gets its own certificate again"},
		"who writes roles, by an agent":          {agent, "system:karmada:agent:rbac-generator", key, nil, "an agent gets its own certificate again"},
		"an administrator":                       {holder, "leeward:admin", key, nil, "must be system:karmada:agent: and the name of a cluster"},
		"a name of no cluster":                   {holder, "system:karmada:agent:A/B", key, nil, "must be system:karmada:agent:"},
		"a group of administrators":              {holder, m9, key, func(r *request, _ *spec) { r.Subject.Organization = []string{kubeapi.AdminGroup} }, "organizations"},
		"a second group":                         {holder, m9, key, func(r *request, _ *spec) { r.Subject.Organization = append(r.Subject.Organization, "system:masters") }, "organizations"},
		"a server's name":                        {holder, m9, key, func(r *request, _ *spec) { r.DNSNames = []string{"hub"} }, "alternative names"},
		"a certificate of servers":               {holder, m9, key, func(_ *request, s *spec) { s.Usages[2] = certificatesv1.UsageServerAuth }, "spec.usages"},
		"the usages of an authority":             {holder, m9, key, func(_ *request, s *spec) { s.Usages = append(s.Usages, certificatesv1.UsageCertSign) }, "spec.usages"},
		"another signer":                         {holder, m9, key, func(_ *request, s *spec) { s.SignerName = "kubernetes.io/kubelet-serving" }, "spec.signerName"},
		"a moment":                               {holder, m9, key, func(_ *request, s *spec) { s.ExpirationSeconds = ptr.To[int32](5) }, "spec.expirationSeconds: 5"},
		"no request":                             {holder, m9, key, func(_ *request, s *spec) { s.Request = []byte("x") }, "one certificate request in PEM"},
		"a request that is large":                {holder, m9, key, func(_ *request, s *spec) { s.Request = make([]byte, 17<<10) }, "may have 16384"},
		"a weak key":                             {holder, m9, weak, nil, "an RSA key of 1024 bits"},
		"what a bootstrap token of no group may": {d.by(t, bearing("nogrup.0123456789abcdef")), m9, key, nil, ""},
	} {
		code := 403
		if strings.Contains(what, "of no group") {
			code = 401 // there is no such token
		}
		answer := strings.ReplaceAll(string(c.by.ask(code, "POST", requestsPath, takesJSON, asks(t, "x", c.user, c.key, c.change))), `\"`, `"`)
		require.Contains(t, answer, c.says, what)
	}
	forged := asks(t, "x", m9, key, nil)
	forged.Spec.Request[100] ^= 1
	holder.ask(403, "POST", requestsPath, takesJSON, forged)
	for n := range 101 {
		answer := holder.send("POST", requestsPath, takesJSON, inProtobuf, first(inBytes(t, asks(t, "many-"+string(rune('a'+n/26))+string(rune('a'+n%26)), m9, key, nil))))
		require.NoError(t, answer.Body.Close())
		if answer.StatusCode == http.StatusTooManyRequests {
			require.Equal(t, 99, n, "one of this holder's is stored already")
			agent.ask(201, "POST", requestsPath, takesJSON, asks(t, "own", "system:karmada:agent:m1", key, nil)) // other users are not concerned
			return
		}
		require.Equal(t, 201, answer.StatusCode)
	}
	t.Fatal("one user stores as many requests as he likes")
}

func first[A, B any](a A, _ B) A { return a }

func TestABootstrapTokenIsGoodForWhatItsSecretSays(t *testing.T) {
	t.Parallel()
	now := clock.NewMock()
	now.Set(clock.New().Now())
	d := serve(t, func(c *kubeapi.Config) { c.Clock = now })
	admin := d.asker(t, kubeapi.Admin())
	const secret = "0123456789abcdef"
	soon := now.Now().Add(time.Minute)
	for id, s := range map[string]*corev1.Secret{
		"goodid": tokenSecret("goodid", secret, soon, nil),
		"noauth": tokenSecret("noauth", secret, soon, map[string]string{"usage-bootstrap-authentication": "false"}),
		"nosign": tokenSecret("nosign", secret, soon, map[string]string{"usage-bootstrap-signing": ""}),
		"others": tokenSecret("others", secret, soon, map[string]string{"token-id": "goodid"}),
		"groups": tokenSecret("groups", secret, soon, map[string]string{"auth-extra-groups": "leeward:admins"}),
		"nodate": tokenSecret("nodate", secret, soon, map[string]string{"expiration": "tomorrow"}),
		"opaque": tokenSecret("opaque", secret, soon, nil),
	} {
		if id == "opaque" {
			s.Type = corev1.SecretTypeOpaque
		}
		admin.ask(201, "POST", tokensPath, takesProtobuf, s)
	}
	const whoami = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
	for id, code := range map[string]int{"goodid": 201, "nosign": 201, "noauth": 401, "others": 401, "groups": 401, "nodate": 401, "opaque": 401, "absent": 401} {
		answer := string(d.by(t, bearing(id+"."+secret)).ask(code, "POST", whoami, takesJSON, `{}`))
		if code == 201 {
			require.Contains(t, answer, `"username":"system:bootstrap:`+id+`","groups":["system:bootstrappers","system:bootstrappers:karmada:default-cluster-token","system:authenticated"]`)
		}
	}
	d.by(t, bearing("goodid.0123456789abcdeg")).ask(401, "POST", whoami, takesJSON, `{}`)
	info := read(t, d.by(t, anonymously).ask(200, "GET", infoPath, takesProtobuf, nil), &corev1.ConfigMap{})
	delete(info.Data, "kubeconfig")
	require.Len(t, info.Data, 3)
	for _, id := range []string{"goodid", "noauth", "groups"} {
		require.Contains(t, info.Data, "jws-kubeconfig-"+id)
	}
	now.Add(2 * time.Minute)
	d.by(t, bearing("goodid."+secret)).ask(401, "POST", whoami, takesJSON, `{}`)
	d.by(t, anonymously).ask(404, "GET", infoPath, takesJSON, nil)
}
