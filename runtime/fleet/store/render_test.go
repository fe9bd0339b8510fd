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
	"leeward/runtime/fleet/store"
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
    "uid": "7c1f5b58-c3e2-8c98-95e2-5689989bd7f8",
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
    ],
    "evictions": [
      {
        "cluster": "member2",
        "state": "Evicting"
      }
    ],
    "failoverHistory": [
      {
        "fromCluster": "member2",
        "reason": "",
        "producer": "",
        "startTime": "2026-01-01T12:00:05.123456Z"
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
	two := api.BindingSpec{Replicas: 2, Clusters: targets("member1")}
	report := []messages.Fact{healthy("member1", 2)}
	tests := []struct {
		name  string
		spec  api.BindingSpec
		raw   string
		facts []messages.Fact
		want  string
	}{
		{"counts follow the report", two, "", report, full},
		{
			"a workload scaled to zero", api.BindingSpec{ReplicaRequirements: &api.ReplicaRequirements{}},
			"", []messages.Fact{healthy("member1", 0)},
			`{"availableReplicas":0,"readyReplicas":0,"replicas":0,"updatedReplicas":0}`,
		},
		{"a resource without replicas", api.BindingSpec{}, "", report, ""},
		{"a copy that is still to shrink", api.BindingSpec{Replicas: 2}, "", report, full},
		{
			"what only the manifest knows stays", two,
			`{"leader":"web-0","readyReplicas":1,"big":12345678901234567890}`, report,
			`{"availableReplicas":2,"big":12345678901234567890,"leader":"web-0","readyReplicas":2,"replicas":2,"updatedReplicas":2}`,
		},
		{"a manifest's own count holds until a report", two, `{"readyReplicas":2}`, nil, full},
		{"a status that is no object", two, `[1]`, report, full},
		{"a status that is nothing", two, `null`, report, full},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := manifest(test.spec, "", test.raw)
			if test.raw == "" {
				b.Status.AggregatedStatus = nil
			}
			f := &fleet{Store: store.New(1), t: t, now: start}
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

// manifest is web as people write it, with one copy's raw status.
func manifest(spec api.BindingSpec, applied, raw string) *api.ResourceBinding {
	return &api.ResourceBinding{
		TypeMeta: typeMeta(api.WorkGroupVersion, "ResourceBinding"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "web-deployment",
			Annotations: map[string]string{api.AnnotationAppliedPlacement: applied},
		},
		Spec: spec,
		Status: api.BindingStatus{AggregatedStatus: []api.AggregatedStatusItem{
			{ClusterName: "member1", Status: &runtime.RawExtension{Raw: []byte(raw)}},
		}},
	}
}

// Whatever people put into the texts within a binding, it can be stored, changed, read and stored again.
func FuzzManifest(f *testing.F) {
	f.Add(`{"clusterAffinity":{"clusterNames":["member1"]}}`, `{"readyReplicas":2,"leader":"web-0"}`)
	f.Add(`null`, `null`)
	f.Add(`{"clusterTolerations":[{"key":1}]}`, `{"readyReplicas":"2"}`)
	f.Fuzz(func(t *testing.T, applied, raw string) {
		s := store.New(1)
		s.Put(manifest(api.BindingSpec{Replicas: 2}, applied, raw))
		s.Apply(start, healthy("member2", 1))
		first, err := json.Marshal(s.Get(webKey))
		require.NoError(t, err)

		again := store.New(1)
		read := &api.ResourceBinding{}
		require.NoError(t, json.Unmarshal(first, read))
		again.Put(read)
		again.Apply(start, &messages.HealthForgotten{Binding: web, Cluster: "member3"})
		require.Equal(t, s.Binding(web).Applied, again.Binding(web).Applied)
		second := again.Get(webKey).(*api.ResourceBinding)
		require.Equal(t, s.Get(webKey).(*api.ResourceBinding).Status.AggregatedStatus, second.Status.AggregatedStatus)
	})
}
