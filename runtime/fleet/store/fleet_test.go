package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// start has nanoseconds: nothing in the store may cut them off.
var start = time.Date(2026, 1, 1, 12, 0, 0, 123456789, time.UTC)

var placement = &api.Placement{ClusterAffinity: &api.ClusterAffinity{ClusterNames: []string{"member1", "member2", "member3"}}}

const web = messages.BindingName("default/web-deployment")

// fleet is a store under test and its clock.
type fleet struct {
	*store.Store
	t   *testing.T
	now time.Time
}

// newFleet returns a store with cluster member1 and a binding without placement of two replicas, web.
func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{Store: store.New(1), t: t, now: start}
	f.Put(cluster("member1"))
	f.apply(&messages.BindingCreated{Binding: web, Spec: &api.BindingSpec{Replicas: 2, Placement: placement}})
	return f
}

// apply applies facts a second apart.
func (f *fleet) apply(facts ...messages.Fact) {
	for _, fact := range facts {
		f.now = f.now.Add(time.Second)
		f.Apply(f.now, fact)
	}
}

func (f *fleet) placed(clusters ...string) *messages.Scheduled {
	return &messages.Scheduled{Binding: web, Clusters: targets(clusters...), Applied: placement}
}

// condition returns web's condition of one type as "Status Reason: Message", and when it began.
func (f *fleet) condition(kind string) (string, time.Time) {
	for _, c := range f.Binding(web).Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason + ": " + c.Message, c.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}

// requireNoChange applies a fact that must leave an object as it is.
func (f *fleet) requireNoChange(key api.Key, fact messages.Fact) {
	f.t.Helper()
	before := f.Version(key)
	f.apply(fact)
	require.Equal(f.t, before, f.Version(key), "%s", fact.Kind())
}

func cluster(name string) *api.Cluster {
	return &api.Cluster{TypeMeta: typeMeta(api.ClusterGroupVersion, "Cluster"), ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func typeMeta(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

// targets are clusters with two replicas each.
func targets(clusters ...string) []api.TargetCluster {
	var list []api.TargetCluster
	for _, c := range clusters {
		list = append(list, api.TargetCluster{Name: c, Replicas: 2})
	}
	return list
}

func taint(key, value string, effect corev1.TaintEffect, at time.Time) corev1.Taint {
	return corev1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: &metav1.Time{Time: at}}
}

func evicting(cluster messages.ClusterName, mode api.PurgeMode) *messages.EvictionStarted {
	replicas := int32(2)
	task := api.GracefulEvictionTask{FromCluster: string(cluster), PurgeMode: mode, Replicas: &replicas}
	return &messages.EvictionStarted{Binding: web, Cluster: cluster, Task: task}
}

func healthy(cluster messages.ClusterName, ready int32) *messages.HealthChanged {
	return &messages.HealthChanged{Binding: web, Cluster: cluster, Health: api.Healthy, Ready: ready}
}
