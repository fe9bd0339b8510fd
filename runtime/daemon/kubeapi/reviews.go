package kubeapi

import (
	"context"
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"leeward/messages/api"
)

// review serves a kind that is answered in its status and not kept.
type review[T runtime.Object] struct {
	empty      T
	singular   string
	namespaced bool
	answer     func(ctx context.Context, asked T) error
}

var (
	_ rest.Storage              = review[*api.FailoverPreview]{}
	_ rest.Scoper               = review[*api.FailoverPreview]{}
	_ rest.SingularNameProvider = review[*api.FailoverPreview]{}
)

func (r review[T]) New() runtime.Object     { return fresh(r.empty) }
func (r review[T]) NamespaceScoped() bool   { return r.namespaced }
func (r review[T]) GetSingularName() string { return r.singular }

// Destroy has nothing to give back.
func (r review[T]) Destroy() {}

// Create answers.
func (r review[T]) Create(ctx context.Context, o runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	asked, ok := o.(T)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("not a %s: %T", r.singular, o))
	}
	if validate != nil {
		if err := validate(ctx, o.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	return asked, r.answer(ctx, asked)
}

// access answers who may do what.
type access struct {
	authorizer.Authorizer
	rules authorizer.RuleResolver
}

func (a access) ofSelf(ctx context.Context, r *authorizationv1.SelfSubjectAccessReview) error {
	asking, err := userFrom(ctx)
	if err != nil {
		return err
	}
	r.Status = a.decide(ctx, asking, r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return nil
}

func (a access) ofOther(ctx context.Context, r *authorizationv1.SubjectAccessReview) error {
	r.Status = a.decide(ctx, userOf(&r.Spec), r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes)
	return nil
}

func (a access) ofOtherHere(ctx context.Context, r *authorizationv1.LocalSubjectAccessReview) error {
	here := request.NamespaceValue(ctx)
	if r.Spec.ResourceAttributes == nil || r.Spec.ResourceAttributes.Namespace != here {
		return apierrors.NewBadRequest("spec.resourceAttributes.namespace must be " + here)
	}
	r.Status = a.decide(ctx, userOf(&r.Spec), r.Spec.ResourceAttributes, nil)
	return nil
}

func userOf(s *authorizationv1.SubjectAccessReviewSpec) user.Info {
	return &user.DefaultInfo{Name: s.User, UID: s.UID, Groups: s.Groups}
}

func (a access) decide(ctx context.Context, u user.Info, r *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	asked := authorizer.AttributesRecord{User: u}
	switch {
	case r != nil:
		asked.ResourceRequest, asked.Verb, asked.Namespace, asked.Name = true, r.Verb, r.Namespace, r.Name
		asked.APIGroup, asked.APIVersion, asked.Resource, asked.Subresource = r.Group, r.Version, r.Resource, r.Subresource
	case n != nil:
		asked.Verb, asked.Path = n.Verb, n.Path
	}
	decision, reason, err := a.Authorize(ctx, asked)
	status := authorizationv1.SubjectAccessReviewStatus{Allowed: decision == authorizer.DecisionAllow, Reason: reason}
	if err != nil {
		status.EvaluationError = err.Error()
	}
	return status
}

func (a access) rulesOfSelf(ctx context.Context, r *authorizationv1.SelfSubjectRulesReview) error {
	asking, err := userFrom(ctx)
	if err != nil {
		return err
	}
	resources, paths, incomplete, err := a.rules.RulesFor(ctx, asking, r.Spec.Namespace)
	if err != nil {
		return err
	}
	r.Status = authorizationv1.SubjectRulesReviewStatus{Incomplete: incomplete}
	for _, rule := range resources {
		r.Status.ResourceRules = append(r.Status.ResourceRules, authorizationv1.ResourceRule{
			Verbs: rule.GetVerbs(), APIGroups: rule.GetAPIGroups(), Resources: rule.GetResources(), ResourceNames: rule.GetResourceNames(),
		})
	}
	for _, rule := range paths {
		r.Status.NonResourceRules = append(r.Status.NonResourceRules, authorizationv1.NonResourceRule{
			Verbs: rule.GetVerbs(), NonResourceURLs: rule.GetNonResourceURLs(),
		})
	}
	return nil
}

// whoAmI answers who asks.
func whoAmI(ctx context.Context, r *authenticationv1.SelfSubjectReview) error {
	asking, err := userFrom(ctx)
	if err != nil {
		return err
	}
	extra := make(map[string]authenticationv1.ExtraValue, len(asking.GetExtra()))
	for key, values := range asking.GetExtra() { // order-free: copied into a map
		extra[key] = values
	}
	r.Status.UserInfo = authenticationv1.UserInfo{
		Username: asking.GetName(), UID: asking.GetUID(), Groups: asking.GetGroups(), Extra: extra,
	}
	return nil
}

func userFrom(ctx context.Context) (user.Info, error) {
	u, ok := request.UserFrom(ctx)
	if !ok {
		return nil, apierrors.NewInternalError(errors.New("the request has no user"))
	}
	return u, nil
}
