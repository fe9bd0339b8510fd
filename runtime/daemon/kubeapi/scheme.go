package kubeapi

import (
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// asked are the kinds that are created to be answered, and not kept.
var asked = []struct {
	version schema.GroupVersion
	objects []runtime.Object
}{
	{authenticationv1.SchemeGroupVersion, []runtime.Object{&authenticationv1.SelfSubjectReview{}}},
	{authorizationv1.SchemeGroupVersion, []runtime.Object{
		&authorizationv1.SelfSubjectAccessReview{}, &authorizationv1.SelfSubjectRulesReview{},
		&authorizationv1.SubjectAccessReview{}, &authorizationv1.LocalSubjectAccessReview{},
	}},
	{leewardVersion, []runtime.Object{&api.FailoverPreview{}}},
}

var leewardVersion = schema.GroupVersion{Group: "leeward.dev", Version: "v1alpha1"}

// newScheme returns the Go types of all that the server speaks of. Each is its own internal version, too:
// there is one version of everything, so nothing is ever converted but events and autoscalers.
func newScheme(kinds []*kind) (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	for _, k := range append(slices.Clip(kinds), further...) {
		addBoth(s, k.version(), k.Kind.Kind, k.New())
		addBoth(s, k.version(), k.Kind.Kind+"List", k.list)
		metav1.AddToGroupVersion(s, k.version())
		if err := k.addSelectors(s); err != nil {
			return nil, fmt.Errorf("make the fields of %s known: %w", k.Plural, err)
		}
	}
	for _, a := range asked {
		s.AddKnownTypes(a.version, a.objects...)
		s.AddKnownTypes(schema.GroupVersion{Group: a.version.Group, Version: runtime.APIVersionInternal}, a.objects...)
		metav1.AddToGroupVersion(s, a.version)
	}
	if slices.ContainsFunc(kinds, func(k *kind) bool { return k.Resource == catalog.Pods }) {
		addBoth(s, policyv1.SchemeGroupVersion, "Eviction", &policyv1.Eviction{})
		metav1.AddToGroupVersion(s, policyv1.SchemeGroupVersion)
	}
	addBoth(s, autoscalingv1.SchemeGroupVersion, "Scale", &autoscalingv1.Scale{})
	metav1.AddToGroupVersion(s, eventsv1.SchemeGroupVersion)
	if err := addEvents(s); err != nil {
		return nil, fmt.Errorf("make events known: %w", err)
	}
	if err := addAutoscalers(s); err != nil {
		return nil, fmt.Errorf("make autoscalers known: %w", err)
	}
	return s, nil
}

// addBoth makes a type known as that of a version and of the internal one.
func addBoth(s *runtime.Scheme, gv schema.GroupVersion, kind string, o runtime.Object) {
	s.AddKnownTypeWithName(gv.WithKind(kind), o)
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: gv.Group, Version: runtime.APIVersionInternal, Kind: kind}, o)
}
