package karmada

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
	"leeward/runtime/fleet/observed"
	"leeward/runtime/fleet/store"
)

// kind is a resource of the server that decisions are made of.
type kind struct {
	*catalog.Resource
	// required: without it nothing can be decided. Of what is not, the absence is logged.
	required bool
	// bare: only the metadata of its objects is read, for nothing else of them decides.
	bare bool
	// namespace is the only one that is read; empty: all.
	namespace string
}

// kinds are those that are followed, each after what it refers to.
var kinds = func() (all []*kind) {
	for i := range catalog.All {
		r := &catalog.All[i]
		k := &kind{Resource: r, required: true}
		switch r.Kind.Kind {
		case "Namespace", "Event", "Governor", "OverridePolicy", "ClusterOverridePolicy", "ResourceInterpreterCustomization":
			continue // no decision is made of them
		case "ClusterTaintPolicy", "FederatedResourceQuota", "WorkloadRebalancer", "EvictionBudget", "ClusterEvictionBudget",
			"PriorityClass", "CronJob", "ReplicaSet", "DaemonSet", "Job", "StatefulSet", "Ingress":
			k.required = false
		case "Lease":
			k.required, k.namespace = false, api.LeaseNamespace
		case "Deployment":
		default:
			k.bare = r.Template()
			k.required = !k.bare
		}
		all = append(all, k)
	}
	return all
}()

// acted are the kinds that are followed where Leeward acts: Karmada's detector goes on making bindings of templates and policies, and its
// controllers taint clusters. The Governor has what rates and breakers remember.
var acted = append(slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool {
	switch k.Kind.Kind {
	case "PropagationPolicy", "ClusterPropagationPolicy", "WorkloadRebalancer", "PriorityClass", "ClusterTaintPolicy":
		return true
	}
	return k.Template()
}), &kind{Resource: catalog.Of(store.GovernorKey)})

// path is where its objects are.
func (k *kind) path() []string {
	p := []string{"/", "api", k.Kind.Version}
	if k.Kind.Group != "" {
		p = []string{"/", "apis", k.Kind.Group, k.Kind.Version}
	}
	if k.namespace != "" {
		p = append(p, "namespaces", k.namespace)
	}
	return append(p, k.Plural)
}

// whole reads one object. Fields that are not known here are omitted.
func (k *kind) whole(data []byte) (api.Object, error) {
	o := k.New()
	if err := json.Unmarshal(data, o, catalog.AsJSON); err != nil {
		return nil, fmt.Errorf("decode a %s: %w", k.Kind.Kind, err)
	}
	o.GetObjectKind().SetGroupVersionKind(k.Kind)
	return o, nil
}

// decode reads one object, and keeps of it what decides.
func (k *kind) decode(data []byte) (api.Object, error) {
	o, err := k.whole(data)
	if err != nil {
		return nil, err
	}
	var writers []metav1.ManagedFieldsEntry
	switch o := o.(type) {
	case *api.Work:
		return leanWork(o), nil
	case *api.Cluster: // users write them, and controllers
		timeTaints(o)
		writers = o.ManagedFields
	case *api.ResourceBinding, *api.ClusterResourceBinding:
		writers = o.GetManagedFields()
		sharedPlacements.share(store.AsBinding(o))
	}
	for i := range writers {
		writers[i].FieldsV1 = leanFields(&writers[i])
	}
	o.SetManagedFields(writers)
	return o, nil
}

// work is what is kept of a Work: of which copy it is, and what its agent says.
type work struct {
	metav1.PartialObjectMetadata
	of       place
	ours     bool
	report   *messages.WorkReport
	replicas int32
	counted  bool
}

// place is one binding on one cluster.
type place struct {
	binding messages.BindingName
	cluster messages.ClusterName
}

func leanWork(w *api.Work) *work {
	kept := &work{report: observed.Report(w)}
	kept.of.cluster, kept.of.binding, kept.ours = observed.Copy(w)
	kept.replicas, kept.counted = observed.Replicas(w)
	kept.TypeMeta = w.TypeMeta
	kept.ObjectMeta = metav1.ObjectMeta{
		Namespace: w.Namespace, Name: w.Name, UID: w.UID, ResourceVersion: w.ResourceVersion, Generation: w.Generation, DeletionTimestamp: w.DeletionTimestamp,
	}
	return kept
}
