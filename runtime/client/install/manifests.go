// Package install applies to an API server what a daemon needs that is attached to it (the rights of its service account, and Leeward's kinds),
// and removes that again.
package install

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"leeward/runtime/fleet/catalog"
)

// Role is what a daemon is to do.
type Role string

// The roles of attached daemons.
const (
	// Shadow writes nothing.
	Shadow Role = "shadow"
	// Act acts in place of Karmada's scheduler and failover controllers.
	Act Role = "act"
	// NodeTaintEviction acts in place of the taint-eviction controller of a Kubernetes cluster.
	NodeTaintEviction Role = "node-taint-eviction"
)

// Roles are all of them.
var Roles = []Role{Shadow, Act, NodeTaintEviction}

// Server is what an API server is the server of.
type Server string

// The servers that a daemon is attached to.
const (
	Karmada    Server = "karmada"
	Kubernetes Server = "kubernetes"
)

//go:embed *.yaml
var files embed.FS

// filesOf are the manifests of a role beside a server, in the order in which they are applied; none: there is no such role there.
func filesOf(r Role, at Server) []string {
	switch {
	case r == Shadow && at == Karmada:
		return []string{"karmada-shadow.yaml"}
	case r == Act && at == Karmada:
		return []string{"karmada-act.yaml", "kinds.yaml", "governor.yaml"}
	case r == Shadow && at == Kubernetes:
		return []string{"kubernetes-shadow.yaml"}
	case r == NodeTaintEviction && at == Kubernetes:
		return []string{"kubernetes-shadow.yaml", "kubernetes-act.yaml"}
	}
	return nil
}

const (
	// DefaultNamespace is that of the service account and of the Lease. Source: leewardd --attach-namespace.
	DefaultNamespace = "leeward-system"
	// LabelManaged says, with its value, that an object was made here.
	LabelManaged = "app.kubernetes.io/managed-by"
	// Manager is that value, and the field manager of what is applied.
	Manager = "leeward-attach"
)

// Choice says which manifests are meant.
type Choice struct {
	Role   Role
	Server Server
	// Namespace is in place of DefaultNamespace.
	Namespace string
}

// Manifests are the objects that a daemon needs, in the order in which they are applied.
func (c *Choice) Manifests() ([]*unstructured.Unstructured, error) {
	names := filesOf(c.Role, c.Server)
	if names == nil {
		return nil, fmt.Errorf("role %s is not for the API server of a %s", c.Role, c.Server)
	}
	var all []*unstructured.Unstructured
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), len(text)); ; {
			o := &unstructured.Unstructured{}
			if err := d.Decode(o); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			c.adapt(o)
			all = append(all, o)
		}
	}
	return all, nil
}

// adapt has a manifest be of the namespace that is meant.
func (c *Choice) adapt(o *unstructured.Unstructured) {
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[LabelManaged] = Manager
	o.SetLabels(labels)
	if o.GetNamespace() == DefaultNamespace {
		o.SetNamespace(c.Namespace)
	}
	if o.GetKind() == catalog.Namespaces.Kind.Kind {
		o.SetName(c.Namespace)
	}
	subjects, _ := o.Object["subjects"].([]any)
	for _, s := range subjects {
		s.(map[string]any)["namespace"] = c.Namespace
	}
}
