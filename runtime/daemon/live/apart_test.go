package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/rules/taint"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

func TestADrainWithADeadlineGoesOnAfterAStart(t *testing.T) {
	f := running(t)
	until := start.Add(time.Hour).Truncate(time.Second)
	edit(f, member("m1"), func(c *api.Cluster) {
		c.Annotations = map[string]string{api.AnnotationDrain: until.Format(time.RFC3339)}
	})
	require.NoError(t, f.step())
	require.True(t, get(f, member("m1")).Status.Drain.Deadline.Time.Equal(until))
	before := f.engine.Version()
	f.restart()
	require.Equal(t, before, f.engine.Version(), "a start writes nothing that stands")

	f.Close()
	sooner := until.Add(-time.Minute)
	edit(f, member("m1"), func(c *api.Cluster) { c.Annotations[api.AnnotationDrain] = sooner.Format(time.RFC3339) })
	f.open()
	require.True(t, get(f, member("m1")).Status.Drain.Deadline.Time.Equal(sooner), "it was changed while nobody listened")
}

func TestAClusterThatOthersHoldIsLetGoByUs(t *testing.T) {
	f := running(t)
	const theirs = "backup.example.com/keep"
	edit(f, member("m1"), func(c *api.Cluster) { c.Finalizers = append(c.Finalizers, theirs) })
	require.NoError(t, f.step())
	f.remove(member("m1"))
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.serves("m2", 2)
	f.lets("m1")
	f.pass(time.Hour)
	left := get(f, member("m1"))
	require.NotNil(t, left, "it is not ours alone to delete")
	require.Equal(t, []string{theirs}, left.Finalizers)
	forgets(f) // they live for an hour
	f.restart()
	require.Equal(t, []string{theirs}, get(f, member("m1")).Finalizers)
	require.Equal(t, "m2:2", placed(f))
	require.Empty(t, f.events(member("m1")), "it was told")
	edit(f, member("m1"), func(c *api.Cluster) { c.Labels = map[string]string{"tier": "gold"} })
	require.NoError(t, f.step())
	require.Empty(t, f.events(member("m1")), "it joins no more")
	require.Nil(t, f.world.Store().Cluster("m1"))
}

// forgets has all Events expire.
func forgets(f *fixture) {
	f.t.Helper()
	for key, e := range f.engine.Table(catalog.Events.Name()).Snapshot().Under("", "") {
		require.NoError(f.t, f.engine.Commit(engine.Delete(key, engine.VersionOf(e))))
	}
}

// A policy that asks for a taint has it back when people remove it, and a start changes nothing of that.
func TestATaintThatUsersRemoveAndThatAPolicyAsksForIsBackBeforeAStart(t *testing.T) {
	f := running(t)
	p := named(&api.ClusterTaintPolicy{}, api.PolicyGroupVersion, "ClusterTaintPolicy", "", "ready")
	p.Spec.AddOnConditions = []api.MatchCondition{{ConditionType: api.ConditionReady, Operator: api.MatchIn, StatusValues: []metav1.ConditionStatus{metav1.ConditionTrue}}}
	p.Spec.Taints = []api.PolicyTaint{{Key: "known", Effect: corev1.TaintEffectNoSchedule}}
	f.apply(p)
	known := func() bool {
		return taint.Find(get(f, member("m1")).Spec.Taints, "known", corev1.TaintEffectNoSchedule) >= 0
	}
	require.True(t, known())
	edit(f, member("m1"), func(c *api.Cluster) { c.Spec.Taints = nil })
	require.NoError(t, f.step())
	require.True(t, known())
	before := f.engine.Version()
	f.restart()
	require.Equal(t, before, f.engine.Version())
}

func TestAClusterThatIsGoneImmediatelyIsEvictedFrom(t *testing.T) {
	f := running(t)
	table, key := f.table(member("m1"))
	_, version := table.Get(key)
	require.NoError(t, f.engine.Commit(engine.Delete(key, version)), "somebody took its finalizers")
	require.NoError(t, f.step())
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
}

func TestADeletionOfAClusterIsPreviewed(t *testing.T) {
	f := running(t)
	old := get(f, member("m1"))
	deleted := api.Copy(old).(*api.Cluster)
	deleted.DeletionTimestamp = &metav1.Time{Time: f.clock.Now()}
	require.Equal(t, []string{"preview: 1 binding would be evicted, immediately"}, f.config.Warnings(t.Context(), settings(t), deleted, old))
	require.Empty(t, f.config.Warnings(t.Context(), settings(t), api.Copy(old), old))
}
