package replay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/scenario"
	"leeward/runtime/scenario/replay"
)

// began is noon of a day.
var began = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// standing is a fleet of three in which a binding runs on m1, which has run its copy for an hour.
func standing() *scenario.Scenario {
	b := &api.ResourceBinding{TypeMeta: metav1.TypeMeta{APIVersion: api.WorkGroupVersion, Kind: "ResourceBinding"}}
	b.Namespace, b.Name = "default", "web-deployment"
	b.Spec.Resource = api.ObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "web"}
	b.Spec.Replicas, b.Spec.Clusters = 2, []api.TargetCluster{{Name: "m1", Replicas: 2}}
	b.Spec.Placement = &api.Placement{SpreadConstraints: []api.SpreadConstraint{{SpreadByField: "cluster", MinGroups: 1, MaxGroups: 1}}}
	b.Annotations = map[string]string{api.AnnotationAppliedPlacement: `{"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]}`}
	b.Status.LastScheduledTime = &metav1.Time{Time: began.Add(-time.Hour)}
	b.Status.AggregatedStatus = []api.AggregatedStatusItem{{ClusterName: "m1", Health: api.Healthy, Applied: true}}
	s := &scenario.Scenario{Name: "standing", Duration: time.Hour, Began: &scenario.Beginning{At: began, Objects: []api.Object{b}}}
	for _, name := range []string{"m1", "m2", "m3"} {
		c := &api.Cluster{TypeMeta: metav1.TypeMeta{APIVersion: api.ClusterGroupVersion, Kind: "Cluster"}}
		c.Name, c.Spec.SyncMode = name, api.Pull
		c.Status.Conditions = []metav1.Condition{{Type: api.ConditionReady, Status: metav1.ConditionTrue}}
		s.Began.Objects = append(s.Began.Objects, c)
	}
	s.Began.Inputs = []*scenario.RecordedInput{{Cluster: "m1", ToMember: []messages.ToMember{
		&messages.RunCopy{Binding: "default/web-deployment", Replicas: 2, Adopt: true},
	}}}
	return s
}

func replayed(t *testing.T, s *scenario.Scenario) *replay.Run {
	t.Helper()
	run, err := replay.Play(s, replay.Options{Seed: 1})
	require.NoError(t, err)
	require.True(t, run.Passed)
	return run
}

// kinds are those of the facts of a run, each once.
func kinds(run *replay.Run) map[string]int {
	all := map[string]int{}
	for i := range run.Events {
		all[run.Events[i].Fact.Kind()]++
	}
	return all
}

func TestAFleetThatExistedGoesOnAsItWas(t *testing.T) {
	run := replayed(t, standing())
	require.Equal(t, began, run.Start)
	require.NotContains(t, kinds(run), "CopyStarted")
	require.NotContains(t, kinds(run), "Scheduled")
}

func TestWhatWasRecordedIsSaidAtItsTime(t *testing.T) {
	s := standing()
	failed := messages.TaintEdit{Taint: corev1.Taint{Key: "failed", Effect: corev1.TaintEffectNoExecute}}
	s.Timeline = []scenario.Step{
		{At: time.Minute, Recorded: true, Action: &scenario.RecordedInput{Cluster: "m1", ToIt: []messages.ToCluster{&messages.TaintsEdited{Edits: []messages.TaintEdit{failed}}}}},
	}
	run := replayed(t, s)
	for i := range run.Events {
		if f, ok := run.Events[i].Fact.(*messages.EvictionStarted); ok {
			require.Equal(t, began.Add(time.Minute), run.Events[i].At)
			require.Equal(t, messages.ClusterName("m1"), f.Cluster)
			return
		}
	}
	require.Fail(t, "nothing was evicted")
}

func TestWhatIsNoLongerPossibleIsPassedOver(t *testing.T) {
	s := standing()
	s.Timeline = []scenario.Step{
		{At: time.Minute, Recorded: true, Action: &scenario.Delete{Object: api.Key{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "default", Name: "gone"}}},
		{At: time.Minute, Recorded: true, Action: &scenario.RecordedInput{Cluster: "m9", ToIt: []messages.ToCluster{&messages.ClusterDeleted{}}}},
	}
	replayed(t, s)
	s.Timeline[0].Recorded = false
	_, err := replay.Play(s, replay.Options{})
	require.ErrorContains(t, err, "there is no such object")
}
