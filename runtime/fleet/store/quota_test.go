package store_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
)

var teamQuota = api.Key{APIVersion: api.PolicyGroupVersion, Kind: "FederatedResourceQuota", Namespace: "default", Name: "team"}

// quotaOf limits the cpus of a namespace. What its manifest says of usage does not count.
func quotaOf(namespace, cpus string) *api.FederatedResourceQuota {
	return &api.FederatedResourceQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: teamQuota.APIVersion, Kind: teamQuota.Kind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: teamQuota.Name},
		Spec:       api.FederatedResourceQuotaSpec{Overall: corev1.ResourceList{"cpu": resource.MustParse(cpus)}},
		Status: api.FederatedResourceQuotaStatus{
			OverallUsed:      corev1.ResourceList{"cpu": resource.MustParse("99")},
			AggregatedStatus: []api.ClusterQuotaStatus{{ClusterName: "member1"}},
		},
	}
}

// used is a quota's status less its limits and what clusters say.
func used(t *testing.T, f *fleet, key api.Key) string {
	t.Helper()
	status := f.Get(key).(*api.FederatedResourceQuota).Status
	require.Len(t, status.AggregatedStatus, 1)
	status.Overall, status.AggregatedStatus = nil, nil
	text, err := json.Marshal(status)
	require.NoError(t, err)
	return string(text)
}

func TestAQuotaShowsWhatItsNamespaceUses(t *testing.T) {
	f := newFleet(t)
	f.Put(quotaOf("default", "4"))
	f.Put(quotaOf("shop", "4"))
	requests := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("500m")}}
	on := func(cluster string) []api.TargetCluster { return []api.TargetCluster{{Name: cluster, Replicas: 2}} }
	for _, step := range []struct {
		name string
		fact messages.Fact
		want string
	}{
		{"nothing at first, whatever the manifest said", &messages.Restarted{}, `{"overallUsed":{"cpu":"0"}}`},
		{"a workload that is not placed uses nothing",
			&messages.BindingUpdated{Binding: web, Spec: &api.BindingSpec{Replicas: 2, ReplicaRequirements: requests}}, `{"overallUsed":{"cpu":"0"}}`},
		{"placed it does", &messages.Scheduled{Binding: web, Clusters: on("member1")}, `{"overallUsed":{"cpu":"1"}}`},
		{"health is no use", healthy("member1", 2), `{"overallUsed":{"cpu":"1"}}`},
		{"an old copy holds what it has", evicting("member1", api.PurgeGracefully), `{"overallUsed":{"cpu":"0"},"overallEvicting":{"cpu":"1"}}`},
		{"on top of the new one", &messages.Scheduled{Binding: web, Clusters: on("member2")}, `{"overallUsed":{"cpu":"1"},"overallEvicting":{"cpu":"1"}}`},
		{"until it goes", &messages.EvictionEnded{Binding: web, Cluster: "member1"}, `{"overallUsed":{"cpu":"1"}}`},
		{"a workload that is gone uses nothing", &messages.BindingDeleted{Binding: web}, `{"overallUsed":{"cpu":"0"}}`},
	} {
		f.apply(step.fact)
		require.JSONEq(t, step.want, used(t, f, teamQuota), step.name)
	}
	shop := teamQuota
	shop.Namespace = "shop"
	require.JSONEq(t, `{"overallUsed":{"cpu":"0"}}`, used(t, f, shop), "another namespace")
}

func TestAQuotaIsChargedForComponents(t *testing.T) {
	f := newFleet(t)
	f.Put(quotaOf("default", "40"))
	requests := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("2")}}
	set := messages.NewComponentSet([]api.Component{{Name: "head", Replicas: 1}, {Name: "workers", Replicas: 3, ReplicaRequirements: requests}})
	f.apply(&messages.BindingUpdated{Binding: web, Spec: &api.BindingSpec{Components: set.Components}})
	require.JSONEq(t, `{"overallUsed":{"cpu":"0"}}`, used(t, f, teamQuota), "not before they are placed")
	f.apply(&messages.Scheduled{Binding: web, Clusters: []api.TargetCluster{{Name: "member1", Components: set.Targets}}})
	require.JSONEq(t, `{"overallUsed":{"cpu":"6"}}`, used(t, f, teamQuota))
	f.apply(&messages.EvictionStarted{Binding: web, Cluster: "member1", Task: api.GracefulEvictionTask{FromCluster: "member1"}})
	require.JSONEq(t, `{"overallUsed":{"cpu":"0"},"overallEvicting":{"cpu":"6"}}`, used(t, f, teamQuota), "the old copy holds all of them")
}

func TestAQuotaTakesInWhatIsThere(t *testing.T) {
	f := newFleet(t)
	requests := &api.ReplicaRequirements{ResourceRequest: corev1.ResourceList{"cpu": resource.MustParse("1")}}
	f.apply(&messages.BindingUpdated{Binding: web, Spec: &api.BindingSpec{ReplicaRequirements: requests}})
	f.apply(&messages.Scheduled{Binding: web, Clusters: spread(1)})
	f.Put(quotaOf("default", "4"))
	require.JSONEq(t, `{"overallUsed":{"cpu":"3"}}`, used(t, f, teamQuota))
	before := f.Get(teamQuota).(*api.FederatedResourceQuota)
	f.apply(&messages.Scheduled{Binding: web, Clusters: spread(2)})
	require.EqualValues(t, 3, before.Status.OverallUsed.Cpu().Value(), "a snapshot stays")
	require.Less(t, before.ResourceVersion, f.Get(teamQuota).GetResourceVersion())

	f.Put(quotaOf("default", "6000m"))
	require.JSONEq(t, `{"overallUsed":{"cpu":"6"}}`, used(t, f, teamQuota), "an edit")
	f.Delete(teamQuota)
	f.apply(&messages.Scheduled{Binding: web, Clusters: spread(1)})
	f.Put(quotaOf("default", "4"))
	require.JSONEq(t, `{"overallUsed":{"cpu":"3"}}`, used(t, f, teamQuota), "after a time without")
}
