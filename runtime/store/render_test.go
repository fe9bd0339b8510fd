package store_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/store"
)

func TestABindingReadsAsItsManifest(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1", "member2"), healthy("member1", 2), healthy("member2", 1), evicting("member2", api.PurgeGracefully))

	text, err := json.MarshalIndent(f.Get(webKey), "", "  ")
	require.NoError(t, err)
	require.Equal(t, `{
  "kind": "ResourceBinding",
  "apiVersion": "work.karmada.io/v1alpha2",
  "metadata": {
    "name": "web-deployment",
    "namespace": "default",
    "resourceVersion": "6",
    "generation": 3,
    "creationTimestamp": "2026-01-01T12:00:01Z",
    "annotations": {
      "policy.karmada.io/applied-placement": "{\"clusterAffinity\":{\"clusterNames\":[\"member1\",\"member2\",\"member3\"]}}"
    }
  },
  "spec": {
    "resource": {
      "apiVersion": "",
      "kind": "",
      "name": ""
    },
    "replicas": 2,
    "clusters": [
      {
        "name": "member1",
        "replicas": 2
      }
    ],
    "gracefulEvictionTasks": [
      {
        "fromCluster": "member2",
        "purgeMode": "Gracefully",
        "replicas": 2,
        "reason": "",
        "producer": ""
      }
    ],
    "placement": {
      "clusterAffinity": {
        "clusterNames": [
          "member1",
          "member2",
          "member3"
        ]
      }
    }
  },
  "status": {
    "schedulerObservedGeneration": 2,
    "lastScheduledTime": "2026-01-01T12:00:02Z",
    "conditions": [
      {
        "type": "Scheduled",
        "status": "True",
        "lastTransitionTime": "2026-01-01T12:00:02Z",
        "reason": "Success",
        "message": "placed on member1:2, member2:2"
      },
      {
        "type": "FullyApplied",
        "status": "True",
        "lastTransitionTime": "2026-01-01T12:00:04Z",
        "reason": "FullyAppliedSuccess",
        "message": "every cluster has applied its copy"
      }
    ],
    "aggregatedStatus": [
      {
        "clusterName": "member1",
        "status": {
          "availableReplicas": 2,
          "readyReplicas": 2,
          "replicas": 2,
          "updatedReplicas": 2
        },
        "applied": true,
        "health": "Healthy",
        "readyReplicas": 2
      },
      {
        "clusterName": "member2",
        "status": {
          "availableReplicas": 1,
          "readyReplicas": 1,
          "replicas": 2,
          "updatedReplicas": 1
        },
        "applied": true,
        "health": "Healthy",
        "readyReplicas": 1
      }
    ]
  }
}`, string(text))
}

func TestResourceVersionIsTheVersion(t *testing.T) {
	f := newFleet(t)
	f.apply(ready("True", "Up"))
	f.apply(&messages.BindingCreated{Binding: "role", Spec: &api.BindingSpec{}})
	f.Put(object("v1", "ConfigMap", "default", "cfg"))
	for _, o := range f.Objects() {
		require.Equal(t, strconv.FormatUint(f.Version(api.KeyOf(o)), 10), o.GetResourceVersion(), "%s", api.KeyOf(o))
	}
	require.Equal(t, "5", f.Get(api.Key{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "cfg"}).GetResourceVersion())
}

func TestReadingTwiceIsCheap(t *testing.T) {
	f := newFleet(t)
	require.Same(t, f.Get(webKey), f.Get(webKey))
	first := f.Get(webKey)
	f.apply(healthy("member1", 2))
	require.NotSame(t, first, f.Get(webKey))
	require.Empty(t, first.(*api.ResourceBinding).Status.AggregatedStatus, "a snapshot stays as it was")
}

func TestTheAnnotationFollowsTheAppliedPlacement(t *testing.T) {
	f := newFleet(t)
	shown := func() (string, bool) {
		text, ok := f.Get(webKey).GetAnnotations()[api.AnnotationAppliedPlacement]
		return text, ok
	}
	_, there := shown()
	require.False(t, there, "none before the first placement")
	for range 2 {
		f.apply(f.placed("member1"))
		text, _ := shown()
		require.Equal(t, `{"clusterAffinity":{"clusterNames":["member1","member2","member3"]}}`, text)
	}
	f.apply(&messages.BindingUpdated{Binding: web, Spec: &api.BindingSpec{}},
		&messages.ScheduleFailed{Binding: web, Cleared: true})
	_, there = shown()
	require.False(t, there, "a placement that is gone is not shown")
}

func TestRawStatus(t *testing.T) {
	const full = `{"availableReplicas":2,"readyReplicas":2,"replicas":2,"updatedReplicas":2}`
	tests := []struct {
		name  string
		spec  api.BindingSpec
		raw   string
		facts []messages.Fact
		want  string
	}{
		{"counts follow the report", api.BindingSpec{Replicas: 2, Clusters: targets("member1")}, "", []messages.Fact{healthy("member1", 2)}, full},
		{"a workload scaled to zero", api.BindingSpec{ReplicaRequirements: &api.ReplicaRequirements{}}, "", []messages.Fact{healthy("member1", 0)}, `{"availableReplicas":0,"readyReplicas":0,"replicas":0,"updatedReplicas":0}`},
		{"a resource without replicas", api.BindingSpec{}, "", []messages.Fact{healthy("member1", 0)}, ""},
		{"a copy that is still to shrink", api.BindingSpec{Replicas: 2}, "", []messages.Fact{healthy("member1", 2)}, full},
		{"what only the manifest knows stays", api.BindingSpec{Replicas: 2, Clusters: targets("member1")}, `{"leader":"web-0","readyReplicas":1,"big":12345678901234567890}`, []messages.Fact{healthy("member1", 2)}, `{"availableReplicas":2,"big":12345678901234567890,"leader":"web-0","readyReplicas":2,"replicas":2,"updatedReplicas":2}`},
		{"a manifest's own count holds until a report", api.BindingSpec{Replicas: 2, Clusters: targets("member1")}, `{"readyReplicas":2}`, nil, full},
		{"a status that is no object", api.BindingSpec{Replicas: 2, Clusters: targets("member1")}, `[1]`, []messages.Fact{healthy("member1", 2)}, full},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := &api.ResourceBinding{
				TypeMeta:   typeMeta(api.WorkGroupVersion, "ResourceBinding"),
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-deployment"},
				Spec:       test.spec,
			}
			if test.raw != "" {
				b.Status.AggregatedStatus = []api.AggregatedStatusItem{{ClusterName: "member1", Status: &runtime.RawExtension{Raw: []byte(test.raw)}}}
			}
			f := &fleet{Store: store.New(), t: t, now: start}
			f.Put(b)
			f.apply(test.facts...)
			item := f.Get(webKey).(*api.ResourceBinding).Status.AggregatedStatus[0]
			if test.want == "" {
				require.Nil(t, item.Status)
				return
			}
			require.Equal(t, test.want, string(item.Status.Raw))
		})
	}
}
