// Package join registers a cluster at a hub with its credentials, for the hub to act there by itself, and takes all of that back.
package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/client"
	"leeward/runtime/client/credentials"
	"leeward/runtime/fleet/catalog"
)

// answersWithin is how long the member may take to answer.
const answersWithin = 10 * time.Second

// Request is a cluster that is to join.
type Request struct {
	Hub    *client.Client
	Member *credentials.Member
	// Cluster has its name, and where it is.
	Cluster *api.Cluster
}

// Check asks the member whether it takes the credentials, and notes in the Cluster what identifies it. It writes nothing.
func (r *Request) Check(ctx context.Context) error {
	c, err := r.Member.Config()
	if err != nil {
		return err
	}
	member, err := client.New(c, silence{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	n, err := member.Get(ctx, catalog.Namespaces, "", metav1.NamespaceSystem)
	switch at := r.Member.Endpoint; {
	case apierrors.IsUnauthorized(err):
		return fmt.Errorf("the member %s refuses the credentials: %w", at, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("the member %s knows the credentials, and does not let them read its namespace %s, whose uid identifies it: %w", at, metav1.NamespaceSystem, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("the member %s has no namespace %s: is it the API server of a cluster?", at, metav1.NamespaceSystem)
	case err != nil:
		return fmt.Errorf("the member %s does not answer: %w", at, err)
	}
	r.Cluster.Spec.ID = string(n.GetUID())
	r.Member.Describe(r.Cluster)
	return nil
}

// silence is where the member's warnings go.
type silence struct{}

func (silence) Write(p []byte) (int, error) { return len(p), nil }

// Try asks the hub whether it would take the cluster. It writes nothing.
func (r *Request) Try(ctx context.Context) error {
	all, _, err := r.Hub.List(ctx, catalog.Clusters, "", "")
	if err != nil {
		return fmt.Errorf("list clusters: %w", err)
	}
	pushed, name := 0, r.Cluster.Name
	for _, o := range all {
		c := o.(*api.Cluster)
		switch {
		case c.Name == name:
			return fmt.Errorf("cluster %s exists already: choose another name, or take it back with leeward unjoin %s", name, name)
		case c.Spec.ID != "" && c.Spec.ID == r.Cluster.Spec.ID:
			return fmt.Errorf("the member is registered already, as cluster %s: its id is %s", c.Name, c.Spec.ID)
		case credentials.Pushed(c):
			pushed++
		}
	}
	if pushed >= credentials.Most {
		return fmt.Errorf("%d clusters are in push mode, and no more may be: run leeward-agent in this one (--print-manifests)", pushed)
	}
	switch _, err := r.Hub.Get(ctx, catalog.Secrets, credentials.Namespace, name); {
	case err == nil:
		return fmt.Errorf("the Secret %s/%s exists already: leeward unjoin %s removes it if an earlier join left it", credentials.Namespace, name, name)
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("read the Secret %s/%s: %w", credentials.Namespace, name, err)
	}
	if err := r.Hub.TryCreate(ctx, catalog.Clusters, r.Cluster); err != nil {
		return fmt.Errorf("the hub refuses the cluster: %w", err)
	}
	return nil
}

// Join stores the credentials and registers the cluster, which was checked and tried. What it began is removed again when the hub
// refuses the rest.
func (r *Request) Join(ctx context.Context) error {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: credentials.Namespace}}
	if _, err := r.Hub.Get(ctx, catalog.Namespaces, "", n.Name); apierrors.IsNotFound(err) {
		if _, err := r.Hub.Create(ctx, catalog.Namespaces, n); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create the namespace %s: %w", n.Name, err)
		}
	}
	secret := r.Member.Secret(r.Cluster.Name)
	if _, err := r.Hub.Create(ctx, catalog.Secrets, secret); err != nil {
		return fmt.Errorf("create the Secret %s/%s: %w", secret.Namespace, secret.Name, err)
	}
	stored, err := r.Hub.Create(ctx, catalog.Clusters, r.Cluster)
	if err != nil {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), answersWithin)
		defer cancel()
		return errors.Join(fmt.Errorf("create the cluster: %w", err), r.Hub.Delete(undo, catalog.Secrets, secret.Namespace, secret.Name))
	}
	err = r.Hub.Patch(ctx, &client.Patch{Resource: catalog.Secrets, Namespace: secret.Namespace, Name: secret.Name, Body: ownedBy(stored)})
	if err != nil {
		return fmt.Errorf("cluster %s has joined, and its Secret will outlast it: %w", r.Cluster.Name, err)
	}
	return nil
}

// ownedBy has an object be deleted with a cluster.
func ownedBy(o api.Object) map[string]any {
	version, kind := catalog.Clusters.Kind.ToAPIVersionAndKind()
	return map[string]any{"metadata": map[string]any{"ownerReferences": []any{
		map[string]any{"apiVersion": version, "kind": kind, "name": o.GetName(), "uid": o.GetUID()},
	}}}
}
