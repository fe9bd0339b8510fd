package store

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"leeward/messages"
	"leeward/messages/api"
)

// ClusterKey returns the key of a cluster.
func ClusterKey(name messages.ClusterName) api.Key {
	return api.Key{APIVersion: api.ClusterGroupVersion, Kind: "Cluster", Name: string(name)}
}

// BindingKey returns the key of a binding: a ResourceBinding if its name has a namespace, otherwise a
// ClusterResourceBinding.
func BindingKey(name messages.BindingName) api.Key {
	namespace, local := name.Split()
	if namespace == "" {
		return api.Key{APIVersion: api.WorkGroupVersion, Kind: "ClusterResourceBinding", Name: local}
	}
	return api.Key{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding", Namespace: namespace, Name: local}
}

// ranks order the kinds; what is not here is a resource template and comes between quotas and
// bindings.
var ranks = map[metav1.TypeMeta]int{
	{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"}:                         1,
	{APIVersion: api.PolicyGroupVersion, Kind: "ClusterTaintPolicy"}:               2,
	{APIVersion: api.PolicyGroupVersion, Kind: "PropagationPolicy"}:                3,
	{APIVersion: api.PolicyGroupVersion, Kind: "ClusterPropagationPolicy"}:         4,
	{APIVersion: api.PolicyGroupVersion, Kind: "FederatedResourceQuota"}:           5,
	{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"}:                    7,
	{APIVersion: api.WorkGroupVersion, Kind: "ClusterResourceBinding"}:             8,
	{APIVersion: api.AppsGroupVersion, Kind: "WorkloadRebalancer"}:                 9,
	{APIVersion: api.LeewardGroupVersion, Kind: "EvictionBudget"}:                  10,
	{APIVersion: api.LeewardGroupVersion, Kind: "ClusterEvictionBudget"}:           11,
	{APIVersion: api.LeewardGroupVersion, Kind: "Governor"}:                        12,
	{APIVersion: api.ConfigGroupVersion, Kind: "ResourceInterpreterCustomization"}: 13,
}

const templateRank = 6

func rank(k api.Key) int {
	return cmp.Or(ranks[metav1.TypeMeta{APIVersion: k.APIVersion, Kind: k.Kind}], templateRank)
}

// CompareKeys is the order of Objects: by kind as they depend on one another, then by namespace and name.
func CompareKeys(a, b api.Key) int {
	if a.Kind != b.Kind || a.APIVersion != b.APIVersion {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	}
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// UID returns the uid of an object that was given none: a version 8 UUID made of the store's seed and the
// object's key.
func (s *Store) UID(k api.Key) types.UID {
	h := fnv.New128a()
	fmt.Fprintf(h, "%s/%s/%s/%s/%d", k.APIVersion, k.Kind, k.Namespace, k.Name, s.seed)
	b := h.Sum(nil)
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:]))
}
