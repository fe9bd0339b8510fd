package kubeapi

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// isRegistrar reports whether a user is who karmadactl register writes the roles of an agent as. At a Karmada that user may do everything.
func isRegistrar(u user.Info) bool {
	return u != nil && u.GetName() == KarmadaAgentPrefix+registrar && slices.Contains(u.GetGroups(), KarmadaAgentGroup)
}

func byRegistrar(ctx context.Context) bool {
	u, known := request.UserFrom(ctx)
	return known && isRegistrar(u)
}

// rolesUnkept are resources of which karmadactl register creates objects that are not stored, as it does namespaces.
var rolesUnkept = []string{"clusterroles", "clusterrolebindings", "roles", "rolebindings"}

var registrarRules = []rule{
	{verbs: []string{"get"}, groups: []string{catalog.Clusters.Kind.Group}, resources: []string{catalog.Clusters.Plural}},
	{verbs: []string{"create"}, groups: []string{""}, resources: []string{"namespaces"}},
	{verbs: []string{"create"}, groups: []string{rbacv1.GroupName}, resources: rolesUnkept},
	{verbs: []string{"delete"}, groups: []string{catalog.CertificateRequests.Kind.Group}, resources: []string{catalog.CertificateRequests.Plural}},
}

// asIfCreated answers karmadactl register as if an object were created. It is not stored: what an agent may do is settled here
// (karmadaAgentRules), roles are templates for the members, and the daemon makes the namespace of a cluster.
func asIfCreated(o runtime.Object) (runtime.Object, error) {
	created, err := meta.Accessor(o)
	if err != nil {
		return nil, err
	}
	rest.FillObjectMetaSystemFields(created)
	return o, nil
}

// registering serves a kind to karmadactl register, too, which creates nothing, and learns of a Cluster only that it exists.
type registering struct{ objects }

// Get returns an object.
func (r registering) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	o, err := r.objects.Get(ctx, name, options)
	if err == nil && byRegistrar(ctx) {
		return nil, apierrors.NewForbidden(r.kind.Name(), name, errors.New("it exists already"))
	}
	return o, err
}

// Create creates an object, or answers as if it had.
func (r registering) Create(ctx context.Context, o runtime.Object, validate rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	if byRegistrar(ctx) {
		return asIfCreated(o)
	}
	return r.objects.Create(ctx, o, validate, options)
}

// ofFleet reports whether an engine keeps a fleet: other servers have nothing for agents.
func ofFleet(e *engine.Engine) bool { return e.Table(catalog.Clusters.Name()) != nil }

// serveKarmada serves what Karmada's agents and karmadactl ask for, beside the kinds of a fleet.
func (s *Server) serveKarmada(keeps *keeper, served map[schema.GroupVersion]map[string]rest.Storage) error {
	webhooks, err := keeps.webhooks()
	if err != nil {
		return err
	}
	place(served, webhookConfigurations.version(), webhookConfigurations.Plural, webhooks)
	requests, err := keeps.serve(certificateRequests)
	if err != nil {
		return err
	}
	place(served, certificateRequests.version(), certificateRequests.Plural, requesting{
		readOnly{requests[certificateRequests.Plural].(objects).Store, certificateRequests}, s,
	})
	core := served[corev1.SchemeGroupVersion]
	core["configmaps"] = configMaps{core["configmaps"].(objects), s}
	serveRegistering(served)
	return nil
}

// serveRegistering has karmadactl register find what it asks for.
func serveRegistering(served map[schema.GroupVersion]map[string]rest.Storage) {
	for _, resource := range rolesUnkept {
		served[rbacv1.SchemeGroupVersion][resource] = registering{served[rbacv1.SchemeGroupVersion][resource].(objects)}
	}
	clusters := served[catalog.Clusters.Kind.GroupVersion()]
	if kept, is := clusters[catalog.Clusters.Plural].(objects); is { // an engine without Karmada's kinds has none
		clusters[catalog.Clusters.Plural] = registering{kept}
	}
}
