package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/ptr"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// everlasting are the namespaces that are always there.
var everlasting = []string{metav1.NamespaceDefault, metav1.NamespaceSystem, api.LeaseNamespace, karmadaSystem}

// foundedIn are the namespaces that a server creates: where there are nodes, that of their Leases, too.
func foundedIn(e *engine.Engine) []string {
	if e.Table(catalog.Nodes.Name()) == nil {
		return everlasting
	}
	return append(slices.Clone(everlasting), corev1.NamespaceNodeLease)
}

var (
	namespaceResource = corev1.Resource("namespaces")
	leaseResource     = coordinationv1.Resource("leases")
)

// foundNamespaces creates the namespaces that must be there and are not.
func foundNamespaces(e *engine.Engine, now metav1.Time) error {
	for _, name := range foundedIn(e) {
		n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uuid.NewUUID(), CreationTimestamp: now}}
		n.Status.Phase = corev1.NamespaceActive
		err := e.Commit(engine.Create(engine.Key(namespaceResource, "", name), n))
		if exists := new(engine.Conflict); err != nil && !errors.As(err, &exists) {
			return fmt.Errorf("create namespace %s: %w", name, err)
		}
	}
	return nil
}

// namespaces serves namespaces. One that is deleted takes along what is in it.
type namespaces struct {
	objects
	// contents are what may be in a namespace, beside objects of custom kinds.
	contents []objects
	keeps    *keeper
}

// Create creates a namespace, or answers karmadactl register as if it had.
func (n namespaces) Create(ctx context.Context, o runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	if byRegistrar(ctx) {
		return asIfCreated(o)
	}
	return n.objects.Create(ctx, o, validate, options)
}

// Delete has a namespace go, so that nothing more comes into it; the collector empties it first, whatever is killed meanwhile.
func (n namespaces) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, options *metav1.DeleteOptions) (runtime.Object, bool, error) {
	if slices.Contains(everlasting, name) {
		return nil, false, apierrors.NewForbidden(namespaceResource, name, errors.New("this namespace may not be deleted"))
	}
	return n.objects.Delete(ctx, name, validate, &metav1.DeleteOptions{ // whatever is asked for, nothing is orphaned
		Preconditions: options.Preconditions, DryRun: options.DryRun, PropagationPolicy: ptr.To(metav1.DeletePropagationForeground),
	})
}

// empty deletes what is in a namespace. Objects with finalizers stay until those are gone.
func (n namespaces) empty(ctx context.Context, name string) error {
	inside := request.WithNamespace(ctx, name)
	for _, c := range n.contents {
		_, err := c.DeleteCollection(inside, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, &internalversion.ListOptions{})
		if err != nil {
			return fmt.Errorf("empty namespace %s of %s: %w", name, c.kind.Plural, err)
		}
	}
	for _, r := range defined(n.keeps.engine) {
		if r.ClusterScoped {
			continue
		}
		c, err := n.keeps.untyped(r)
		if err == nil {
			_, err = c.DeleteCollection(inside, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, &internalversion.ListOptions{})
		}
		if err != nil {
			return fmt.Errorf("empty namespace %s of %s: %w", name, r.Plural, err)
		}
	}
	return nil
}

// DeleteCollection is not for namespaces: each is deleted by its name.
func (n namespaces) DeleteCollection(context.Context, rest.ValidateObjectFunc, *metav1.DeleteOptions, *internalversion.ListOptions) (runtime.Object, error) {
	return nil, apierrors.NewMethodNotSupported(namespaceResource, "deletecollection")
}

// lifecycle admits new objects only into namespaces that are there, lets only those keep an owner from being deleted who may
// delete it, and only those write bootstrap tokens who may register clusters.
type lifecycle struct {
	engine *engine.Engine
	access authorizer.Authorizer
}

var _ admission.ValidationInterface = lifecycle{}

// Handles says that only what is written is looked at.
func (l lifecycle) Handles(operation admission.Operation) bool {
	return operation == admission.Create || operation == admission.Update
}

// Validate refuses what may not be written where it is.
func (l lifecycle) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if err := l.validateOwners(ctx, a); err != nil {
		return err
	}
	if err := l.validateToken(ctx, a); err != nil || a.GetOperation() != admission.Create {
		return err
	}
	resource := a.GetResource().GroupResource()
	if a.GetNamespace() == "" || resource == namespaceResource || l.engine.Table(resource) == nil && catalog.Reserved(resource.Group) {
		return nil
	}
	n := l.namespace(a.GetNamespace())
	if n == nil {
		if err := l.engine.Fresh(ctx); err != nil { // another replica may have made it
			return asStatus(err)
		}
		n = l.namespace(a.GetNamespace())
	}
	switch {
	case n == nil:
		return apierrors.NewNotFound(namespaceResource, a.GetNamespace())
	case n.GetDeletionTimestamp() != nil:
		return admission.NewForbidden(a, fmt.Errorf("namespace %s is being deleted: nothing more comes into it", a.GetNamespace()))
	}
	return nil
}

// validateOwners requires that a user who has an object block the deletion of a cluster-scoped owner may delete that owner. An
// owner within the namespace is in the same hands as the object. Source: Kubernetes' OwnerReferencesPermissionEnforcement.
func (l lifecycle) validateOwners(ctx context.Context, a admission.Attributes) error {
	written, ok := a.GetObject().(metav1.Object)
	if !ok {
		return nil
	}
	before, _ := a.GetOldObject().(metav1.Object)
	for _, r := range written.GetOwnerReferences() {
		owner, known := ownerOf(l.engine, r, a.GetNamespace())
		if !ptr.Deref(r.BlockOwnerDeletion, false) || !known || owner.namespace != "" {
			continue
		}
		kind := ownerKind(l.engine, api.Key{APIVersion: r.APIVersion, Kind: r.Kind})
		if before != nil && slices.ContainsFunc(before.GetOwnerReferences(), func(was metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(was, r) }) {
			continue
		}
		decision, _, err := l.access.Authorize(ctx, authorizer.AttributesRecord{
			User: a.GetUserInfo(), Verb: "delete", ResourceRequest: true, Name: r.Name,
			APIGroup: kind.Kind.Group, APIVersion: kind.Kind.Version, Resource: kind.Plural,
		})
		if err != nil || decision != authorizer.DecisionAllow {
			return admission.NewForbidden(a, fmt.Errorf("metadata.ownerReferences: blockOwnerDeletion of %s %s takes the right to delete it", r.Kind, r.Name))
		}
	}
	return nil
}

// validateToken requires of who writes a bootstrap token that he may register clusters: its holder may.
func (l lifecycle) validateToken(ctx context.Context, a admission.Attributes) error {
	s, is := a.GetObject().(*corev1.Secret)
	if !is || s.Type != corev1.SecretTypeBootstrapToken {
		return nil
	}
	decision, _, err := l.access.Authorize(ctx, authorizer.AttributesRecord{
		User: a.GetUserInfo(), Verb: "create", ResourceRequest: true,
		APIGroup: catalog.Clusters.Kind.Group, APIVersion: catalog.Clusters.Kind.Version, Resource: catalog.Clusters.Plural,
	})
	if err != nil || decision != authorizer.DecisionAllow {
		return admission.NewForbidden(a, fmt.Errorf("type: %s takes the right to create Clusters", s.Type))
	}
	return nil
}

// namespace is nil where there is none of that name.
func (l lifecycle) namespace(name string) engine.Object {
	n, _ := l.engine.Table(namespaceResource).Get(engine.Key(namespaceResource, "", name))
	return n
}

// inNamespaces returns what serves the kinds that live in namespaces.
func inNamespaces(kinds []*kind, served map[schema.GroupVersion]map[string]rest.Storage) []objects {
	var contents []objects
	for _, k := range kinds {
		if s, ok := served[k.version()][k.Plural].(objects); ok && !k.ClusterScoped {
			contents = append(contents, s)
		}
	}
	return contents
}
