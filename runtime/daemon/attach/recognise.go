package attach

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Server is what an API server is the server of.
type Server string

// The servers that a daemon can be attached to.
const (
	Karmada    Server = "Karmada"
	Kubernetes Server = "Kubernetes"
)

// karmadas are the groups of Karmada's API.
var karmadas = []string{"cluster.karmada.io", "policy.karmada.io", "work.karmada.io"}

// Recognise asks an API server, by discovery, what it is. Karmada's serves Kubernetes' kinds, too, and no kubelet looks at them. An error
// says what the server has, and what it lacks.
func Recognise(ctx context.Context, c *rest.Config) (Server, error) {
	clients, err := kubernetes.NewForConfig(c)
	if err != nil {
		return "", fmt.Errorf("connect to %s: %w", c.Host, err)
	}
	ask := func(path string, answer any) error {
		answered := clients.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").Do(ctx)
		err := answered.Error() // in the server's words
		if err == nil {
			data, _ := answered.Raw() // it has no error
			err = json.Unmarshal(data, answer)
		}
		if err != nil {
			return fmt.Errorf("ask the API server what it has: GET %s: %w", path, err)
		}
		return nil
	}
	var groups metav1.APIGroupList
	if err := ask("/apis", &groups); err != nil {
		return "", err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool { return g.Name == name })
	}
	lacks := slices.DeleteFunc(slices.Clone(karmadas), has)
	switch {
	case len(lacks) == 0:
		return Karmada, nil
	case len(lacks) < len(karmadas):
		return "", fmt.Errorf("the API server has a part of Karmada's API, and not %s: it is neither Karmada's nor that of a cluster", strings.Join(lacks, ", "))
	}
	var core metav1.APIResourceList
	if err := ask("/api/v1", &core); err != nil {
		return "", err
	}
	for _, name := range []string{"nodes", "pods"} {
		if !slices.ContainsFunc(core.APIResources, func(r metav1.APIResource) bool { return r.Name == name }) {
			return "", fmt.Errorf("the API server has neither Karmada's API (%s) nor %s: give the kubeconfig of a Karmada or a Kubernetes API server", strings.Join(karmadas, ", "), name)
		}
	}
	return Kubernetes, nil
}
