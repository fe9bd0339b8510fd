package store

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

// Annotations by which a binding names the policy that claimed its resource, beside api.AnnotationPolicyNamespace. Source: Karmada.
const (
	annotationPolicyName    = "propagationpolicy.karmada.io/name"
	annotationClusterPolicy = "clusterpropagationpolicy.karmada.io/name"
)

// bindingCreated makes the binding, unless people made it before a policy claimed the resource.
func (s *Store) bindingCreated(at time.Time, f *messages.BindingCreated) {
	e := s.bindings[f.Binding]
	if e == nil {
		s.Put(newBinding(at, f))
	} else if e.own(); e.binding.claim(f.Policy, f.Spec) {
		s.touch(e)
		s.recharge(f.Binding)
	}
}

func newBinding(at time.Time, f *messages.BindingCreated) api.Object {
	key := BindingKey(f.Binding)
	kind := metav1.TypeMeta{APIVersion: key.APIVersion, Kind: key.Kind}
	meta := metav1.ObjectMeta{
		Namespace:         key.Namespace,
		Name:              key.Name,
		CreationTimestamp: metav1.Time{Time: at},
		Annotations:       withPolicy(nil, f.Policy),
	}
	spec := *f.Spec
	spec.Resource.UID = cmp.Or(spec.Resource.UID, f.UID)
	if key.Namespace == "" {
		return &api.ClusterResourceBinding{TypeMeta: kind, ObjectMeta: meta, Spec: spec}
	}
	return &api.ResourceBinding{TypeMeta: kind, ObjectMeta: meta, Spec: spec}
}

// claim overwrites what the policy and the resource give, and keeps what is decided about the
// binding itself: its clusters, its eviction tasks, who requires it and when it was to be rescheduled.
func (b *Binding) claim(policy string, given *api.BindingSpec) (changed bool) {
	annotations := withPolicy(b.Meta.Annotations, policy)
	changed = !maps.Equal(annotations, b.Meta.Annotations)
	b.Meta.Annotations = annotations

	next := *given
	next.Resource.UID = cmp.Or(next.Resource.UID, b.Spec.Resource.UID)
	next.Clusters = b.Spec.Clusters
	next.GracefulEvictionTasks = b.Spec.GracefulEvictionTasks
	next.RequiredBy = b.Spec.RequiredBy
	next.RescheduleTriggeredAt = b.Spec.RescheduleTriggeredAt
	if equality.Semantic.DeepEqual(*b.Spec, next) {
		return changed
	}
	*b.Spec = next
	b.Meta.Generation++
	return true
}

// Owner is the policy that has the binding's resource; empty: none.
func (b *Binding) Owner() messages.PropagationName {
	if name := b.Meta.Annotations[annotationClusterPolicy]; name != "" {
		return messages.PropagationName(name)
	}
	return messages.NamePropagation(b.Meta.Annotations[api.AnnotationPolicyNamespace], b.Meta.Annotations[annotationPolicyName])
}

// withPolicy returns the annotations with the name of the policy that now holds the claim, given as
// "PropagationPolicy default/web" or "ClusterPropagationPolicy all"; an empty one changes nothing.
func withPolicy(annotations map[string]string, policy string) map[string]string {
	if policy == "" {
		return annotations
	}
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return key == api.AnnotationPolicyNamespace || key == annotationPolicyName || key == annotationClusterPolicy
	})
	kind, name, _ := strings.Cut(policy, " ")
	if kind == "ClusterPropagationPolicy" {
		annotations[annotationClusterPolicy] = name
		return annotations
	}
	annotations[api.AnnotationPolicyNamespace], annotations[annotationPolicyName], _ = strings.Cut(name, "/")
	return annotations
}
