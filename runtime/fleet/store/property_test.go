package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// dice draws facts about member1 and web that a fleet of three clusters could tell.
type dice struct{ *rand.Rand }

func (d dice) cluster() messages.ClusterName {
	return messages.ClusterName(fmt.Sprintf("member%d", 1+d.IntN(3)))
}

func (d dice) targets() (list []api.TargetCluster) {
	for i := range 3 {
		if d.IntN(2) == 0 {
			list = append(list, api.TargetCluster{Name: fmt.Sprintf("member%d", i+1), Replicas: d.Int32N(3)})
		}
	}
	return list
}

func (d dice) mode() api.PurgeMode {
	return []api.PurgeMode{api.PurgeDirectly, api.PurgeGracefully, api.PurgeNever}[d.IntN(3)]
}

func (d dice) fact() messages.Fact {
	applied := []*api.Placement{placement, {}, nil}[d.IntN(3)]
	when := start.Add(time.Duration(d.IntN(3)))
	status := []metav1.ConditionStatus{"True", "False", "Unknown"}[d.IntN(3)]
	t := taint([]string{"a", "b"}[d.IntN(2)], []string{"", "v"}[d.IntN(2)], "NoExecute", when)
	facts := []messages.Fact{
		ready(status, "R"),
		&messages.ConditionRemoved{Cluster: "member1", Type: "Ready"},
		&messages.TaintAdded{Cluster: "member1", Taint: t},
		&messages.TaintRemoved{Cluster: "member1", Taint: t},
		&messages.LabelsChanged{Cluster: "member1", Labels: map[string]string{"n": string(status)}},
		&messages.ClusterSpecChanged{Cluster: "member1", Region: string(status)},
		&messages.ClusterLeaving{Cluster: "member1"},
		&messages.BindingUpdated{
			Binding: web, Policy: "PropagationPolicy default/" + t.Key,
			Spec: &api.BindingSpec{Replicas: d.Int32N(3), Placement: applied},
		},
		&messages.Scheduled{Binding: web, Clusters: d.targets(), Applied: applied},
		&messages.ScheduleFailed{Binding: web, Reason: string(status), Cleared: d.IntN(2) == 0},
		&messages.PlacementConfirmed{Binding: web},
		evicting(d.cluster(), d.mode()),
		&messages.EvictionEnded{Binding: web, Cluster: d.cluster()},
		&messages.EvictionWithdrawn{Binding: web, Cluster: d.cluster(), Clusters: d.targets()},
		healthy(d.cluster(), d.Int32N(3)),
		&messages.HealthChanged{Binding: web, Cluster: d.cluster(), Health: api.Unhealthy, Since: when},
		&messages.HealthForgotten{Binding: web, Cluster: d.cluster()},
		&messages.RescheduleRequested{Binding: web, At: when},
		&messages.EvictionCancelled{Binding: web, Cluster: d.cluster()},
	}
	return facts[d.IntN(len(facts))]
}

// A fact changes the version exactly if it changes the object, and raises the generation by one
// exactly if it changes the spec or begins a deletion; and no snapshot ever changes.
func TestVersionsGenerationsAndSnapshots(t *testing.T) {
	for seed := range uint64(8) {
		f := newFleet(t)
		d := dice{rand.New(rand.NewPCG(seed, 0))}
		var snapshots []api.Object
		var texts []string
		for range 150 {
			fact := d.fact()
			before := []api.Object{f.Get(member1), f.Get(webKey)}
			f.apply(fact)
			for i, o := range []api.Object{f.Get(member1), f.Get(webKey)} {
				requireCounted(t, before[i], o, fact)
				snapshots, texts = append(snapshots, o), append(texts, jsonOf(t, o))
			}
		}
		for i := range snapshots {
			require.Equal(t, texts[i], jsonOf(t, snapshots[i]), "seed %d", seed)
		}
	}
}

func requireCounted(t *testing.T, before, after api.Object, fact messages.Fact) {
	t.Helper()
	changed := after.GetResourceVersion() != before.GetResourceVersion()
	require.Equal(t, changed, exactly(before) != exactly(after), "%s: version\n%s\n%s", fact.Kind(), exactly(before), exactly(after))
	want := before.GetGeneration()
	left := before.GetDeletionTimestamp() == nil && after.GetDeletionTimestamp() != nil
	if left || exactlySpec(before) != exactlySpec(after) {
		want++
	}
	require.Equal(t, want, after.GetGeneration(), "%s: generation", fact.Kind())
}

var resourceVersion = regexp.MustCompile(`"resourceVersion":"\d+"`)

// exactly writes all of an object but its resourceVersion, with times to the nanosecond.
func exactly(o api.Object) string {
	text, _ := json.Marshal(o)
	return resourceVersion.ReplaceAllString(string(text), "") + fmt.Sprint(nanoseconds(reflect.ValueOf(o)))
}

func exactlySpec(o api.Object) string {
	spec := reflect.ValueOf(o).Elem().FieldByName("Spec")
	text, _ := json.Marshal(spec.Interface())
	return string(text) + fmt.Sprint(nanoseconds(spec))
}

// nanoseconds collects what JSON cuts off the times within a value.
func nanoseconds(v reflect.Value) (list []int) {
	if t, ok := v.Interface().(time.Time); ok {
		return []int{t.Nanosecond()}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return nanoseconds(v.Elem())
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if field.IsExported() && len(field.Index) == 1 {
				list = append(list, nanoseconds(v.FieldByIndex(field.Index))...)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = append(list, nanoseconds(v.Index(i))...)
		}
	}
	return list
}

func jsonOf(t *testing.T, o api.Object) string {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	return string(text)
}

// Facts that tell of no object; every other fact of package messages is applied.
var passedBy = []string{
	"OutageBegan", "OutageEnded", "HeartbeatStopped", "HeartbeatReturned", "PolicyIgnored", "TaintSpared", "TaintingFailed", "OverridesAwaited", "InterpretationFailed",
	"HandoverBlocked", "PurgeOvertaken", "CopyStarted", "CopyScaled", "CopyUpdated", "CopyPreserved", "CopyAdopted", "CopyStopped",
	"CopyWanted", "CopyUnwanted",
	"PodEvictionScheduled", "PodEvictionCancelled", "PodEvicted", "PodDeletionRequested", "PodEvictionFailed", "PodBudgetChanged", "PodEvictionBlocked", "NodeDrainStarted", "NodeDrained", "NodeDrainFailed",
	"PodCreated", "PodBound", "PodUnschedulable", "PodPhaseChanged", "PodDeleted",
	"NodeRegistered", "NodeDeleted", "NodeConditionChanged", "NodeTaintAdded", "NodeTaintRemoved", "NodeTaintQueued", "NodeCordoned", "NodeUncordoned",
	"NodeLabelsChanged", "KubeletStopped", "KubeletReturned", "ZoneStateChanged", "DisruptionChanged",
	"ObjectApplied", "ObjectDeleted", "ObjectExpired", "ObjectRejected", "Scaled", "SettingChanged", "Crashed", "ClockStepped", "Restarted",
	"ActivationDeferred", "BudgetExceeded",
}

func TestEveryFactIsAppliedOrKnownToPassBy(t *testing.T) {
	var source []byte
	for _, name := range []string{"apply.go", "cluster.go", "binding.go"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		source = append(source, text...)
	}
	for _, fact := range messages.Facts() {
		kind := fact.Kind()
		applied := regexp.MustCompile(`case \*messages\.` + kind + `:`).Match(source)
		require.NotEqual(t, applied, slices.Contains(passedBy, kind), "%s: apply it or name it in passedBy", kind)
	}

	f := newFleet(t)
	for _, fact := range []messages.Fact{
		&messages.HeartbeatStopped{Cluster: "member1"},
		&messages.HandoverBlocked{Binding: web, Cluster: "member1"},
		&messages.ObjectApplied{Object: "Cluster member1"},
		&messages.Crashed{}, &messages.ClockStepped{By: time.Minute}, &messages.Restarted{},
	} {
		f.requireNoChange(member1, fact)
		f.requireNoChange(webKey, fact)
	}
}

// A new engine reads every instant back as exactly as it was written.
func TestInstantsKeepTheirNanoseconds(t *testing.T) {
	f := newFleet(t)
	f.apply(&messages.TaintAdded{Cluster: "member1", Taint: taint("down", "", "NoExecute", start)}, f.placed("member1"),
		&messages.HealthChanged{Binding: web, Cluster: "member1", Health: api.Unhealthy, Since: start})

	b, c := f.Get(webKey).(*api.ResourceBinding), f.Get(member1).(*api.Cluster)
	require.Equal(t, start, c.Spec.Taints[0].TimeAdded.Time)
	require.Equal(t, start, b.Status.AggregatedStatus[0].UnhealthySince.Time)
	require.Equal(t, f.now.Add(-time.Second), b.Status.LastScheduledTime.Time)
	require.Same(t, placement, f.Binding(web).Applied)
	require.Equal(t, webKey, store.BindingKey(f.Binding(web).Name()))
}
