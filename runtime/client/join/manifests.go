package join

import (
	"crypto/x509"
	_ "embed" // for the manifests
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"leeward/messages/api"
)

//go:embed agent.yaml.tmpl
var agentText string

var agentTemplate = template.Must(template.New("agent.yaml").Option("missingkey=error").Parse(agentText))

// Agent is the agent of one cluster, as it runs there.
type Agent struct {
	Cluster string
	// Image is what runs it, and Replicas how many do: one applies Works.
	Image    string
	Replicas int
	// Kubeconfig is that of the hub, in base64; empty: its Secret is made otherwise.
	Kubeconfig string
}

// references are those of images, as far as they need no quotes in YAML.
var references = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$`)

// The bounds of an agent.
const (
	mostReplicas   = 10
	mostKubeconfig = 256 << 10
)

// Write writes the manifests that a cluster needs for its agent.
func (a *Agent) Write(w io.Writer) error {
	switch {
	case !references.MatchString(a.Image):
		return fmt.Errorf("--image: %q is not the reference of an image", a.Image)
	case a.Replicas < 1 || a.Replicas > mostReplicas:
		return fmt.Errorf("--replicas: %d is out of range: it must be 1 to %d", a.Replicas, mostReplicas)
	}
	return agentTemplate.Execute(w, a)
}

// ReadKubeconfig takes the current context of a kubeconfig of the hub, with what its files hold. It warns of one that is for the
// hub's own machine.
func (a *Agent) ReadKubeconfig(file string) (warning string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.Size() > mostKubeconfig {
		return "", fmt.Errorf("%s has %d bytes: it may have %d", file, info.Size(), mostKubeconfig)
	}
	c, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if err := errors.Join(clientcmd.ConfirmUsable(*c, ""), clientcmdapi.MinifyConfig(c), clientcmdapi.FlattenConfig(c)); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	for name, user := range c.AuthInfos { // order-free: there is one
		if user.Exec != nil || user.AuthProvider != nil || user.TokenFile != "" {
			return "", fmt.Errorf("%s: user %q gets its credentials outside the file: leewardd kubeconfig --agent %s writes one that the agent can use", file, name, a.Cluster)
		}
		if err := a.checkUser(user); err != nil {
			return "", fmt.Errorf("%s: %w", file, err)
		}
	}
	for _, server := range c.Clusters { // order-free: there is one
		if at, err := url.Parse(server.Server); err == nil && isLoopback(at.Hostname()) {
			warning = fmt.Sprintf("Warning: %s names the server %s, which is another one in the cluster: see leewardd kubeconfig --server", file, server.Server)
		}
	}
	text, err := clientcmd.Write(*c)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	if len(text) > mostKubeconfig {
		return "", fmt.Errorf("%s has %d bytes with the files that it names: it may have %d", file, len(text), mostKubeconfig)
	}
	a.Kubeconfig = base64.StdEncoding.EncodeToString(text)
	return warning, nil
}

// checkUser refuses a client certificate that gives the member more of the hub than its own cluster: that of the agent of another
// cluster, or of a user. Other credentials say nothing of whose they are.
func (a *Agent) checkUser(user *clientcmdapi.AuthInfo) error {
	block, _ := pem.Decode(user.ClientCertificateData)
	if block == nil {
		return nil
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("client-certificate-data: %w", err)
	}
	own := api.AgentUserPrefix + a.Cluster
	if name := c.Subject.CommonName; name != own && (strings.HasPrefix(name, api.AgentUserPrefix) || slices.ContainsFunc(c.Subject.Organization, privileged)) {
		return fmt.Errorf("its client certificate is of the user %q in the groups %q, and who reads Secrets in the member could act as that user: leewardd kubeconfig --agent %s writes one for %s", name, c.Subject.Organization, a.Cluster, own)
	}
	return nil
}

// systemMasters may do everything at a Kubernetes or Karmada API server.
const systemMasters = "system:masters"

// privileged reports whether a group may do more at a hub than an agent.
func privileged(group string) bool {
	return group == systemMasters || strings.HasPrefix(group, "leeward:")
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
