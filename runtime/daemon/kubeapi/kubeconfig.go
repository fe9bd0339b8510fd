package kubeapi

import (
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User is a user who gets a kubeconfig.
type User struct {
	Name   string
	Groups []string
}

// Admin may do everything.
func Admin() User { return User{Name: "leeward:admin", Groups: []string{AdminGroup}} }

// Agent is the agent of a cluster.
func Agent(cluster string) User {
	return User{Name: AgentPrefix + cluster, Groups: []string{AgentGroup}}
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
