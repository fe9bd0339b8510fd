package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

// row is an object as a writer has stored it.
type row struct {
	object  api.Object
	version int64
}

func (r *row) Object() api.Object { return r.object }
func (r *row) Version() int64     { return r.version }

func TestABindingIsTheRowsUnlessSomethingIsMadeOfIt(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), healthy("member1", 2))
	stored := f.Snapshot(webKey).(*api.ResourceBinding)
	for name, c := range map[string]struct {
		edit   func(*api.ResourceBinding)
		shared bool
	}{
		"as it is stored":                                {func(*api.ResourceBinding) {}, true},
		"its generation is not counted":                  {func(b *api.ResourceBinding) { b.Generation = 0 }, false},
		"the replicas that serve are in its status only": {func(b *api.ResourceBinding) { b.Status.AggregatedStatus[0].ReadyReplicas = 0 }, false},
	} {
		theirs := stored.DeepCopyObject().(*api.ResourceBinding)
		c.edit(theirs)
		was, s := theirs.DeepCopyObject(), store.New(1)
		s.Load(theirs, &row{theirs, 7})
		require.Equal(t, was, theirs, name)
		ours := s.Binding(web)
		require.Equal(t, c.shared, ours.Spec == &theirs.Spec, name)
		require.EqualValues(t, 2, ours.Status.AggregatedStatus[0].ReadyReplicas, name)
		require.NotZero(t, ours.Meta.Generation, name)
		require.EqualValues(t, 7, s.Stored(webKey).Version(), name)
	}
	theirs, s := cluster("member1"), store.New(1)
	s.Load(theirs, &row{theirs, 7})
	require.NotSame(t, theirs, s.Cluster("member1"), "facts change clusters as they stand")

	s = store.New(1)
	s.Load(theirs, nil)
	require.Same(t, theirs, s.Cluster("member1"), "it was handed over")
	require.Nil(t, s.Stored(api.KeyOf(theirs)))
}

func TestABindingIsTheRowsUntilItChanges(t *testing.T) {
	f := newFleet(t)
	f.apply(f.placed("member1"), healthy("member1", 2))
	theirs := f.Snapshot(webKey).(*api.ResourceBinding)
	version := f.Version(webKey)
	f.Committed(webKey, &row{theirs, 1}, version-1)
	require.NotSame(t, &theirs.Spec, f.Binding(web).Spec, "it has changed since")
	require.True(t, f.Decided(webKey))

	f.Committed(webKey, &row{theirs, 1}, version)
	require.Same(t, &theirs.Spec, f.Binding(web).Spec)
	require.False(t, f.Decided(webKey))
	require.Equal(t, version, f.Version(webKey))
	f.requireNoChange(webKey, healthy("member1", 2))
	require.Same(t, &theirs.Spec, f.Binding(web).Spec, "nothing has changed")

	was := theirs.DeepCopyObject()
	f.apply(healthy("member1", 1))
	require.NotSame(t, &theirs.Spec, f.Binding(web).Spec)
	require.True(t, f.Decided(webKey))
	require.Equal(t, was, theirs, "it is not the store's to change")
	require.EqualValues(t, 1, f.Binding(web).Status.AggregatedStatus[0].ReadyReplicas)

	theirs = f.Snapshot(webKey).(*api.ResourceBinding)
	f.Committed(webKey, &row{theirs, 2}, f.Version(webKey))
	was = theirs.DeepCopyObject()
	f.Annotate(webKey, map[string]string{"a": "b"})
	require.Equal(t, was, theirs)
	require.Equal(t, "b", f.Binding(web).Meta.Annotations["a"])
}

// TestWhatIsReportedOfAClusterIsNotDecided for its object may say so already, which what machines decide never does.
func TestWhatIsReportedOfAClusterIsNotDecided(t *testing.T) {
	f := newFleet(t)
	key := store.ClusterKey("member1")
	reported := func() messages.Fact {
		return &messages.ConditionChanged{Cluster: "member1", Type: "Ready", Status: metav1.ConditionFalse, Message: fmt.Sprint(f.Version(key))}
	}
	f.apply(reported())
	require.False(t, f.Decided(key))
	f.apply(&messages.TaintAdded{Cluster: "member1", Taint: corev1.Taint{Key: "a", Effect: corev1.TaintEffectNoExecute}})
	require.True(t, f.Decided(key))
	f.apply(reported())
	require.True(t, f.Decided(key), "of both")
	f.Committed(key, &row{f.Snapshot(key), 1}, f.Version(key))
	require.False(t, f.Decided(key))

	f.apply(&messages.HoldPlaced{HoldScope: messages.HoldScope{Cluster: "member1"}, Reason: "a check"})
	require.True(t, f.Decided(store.GovernorKey))
	f.Committed(store.GovernorKey, &row{f.Snapshot(store.GovernorKey), 2}, f.Version(store.GovernorKey))
	require.False(t, f.Decided(store.GovernorKey))
	f.SetPause(&api.Hold{Reason: "a check"})
	require.False(t, f.Decided(store.GovernorKey), "people did")
}

// TestWhatOthersStoreChangesNoRow though the machines go on with what they had.
func TestWhatOthersStoreChangesNoRow(t *testing.T) {
	for name, next := range map[string]func(*fleet, store.Row){
		"they have stored another":          func(f *fleet, r store.Row) { f.Heard(webKey, r) },
		"it was committed as it was before": func(f *fleet, r store.Row) { f.Committed(webKey, r, 0) },
		"they have deleted it":              func(f *fleet, _ store.Row) { f.Heard(webKey, nil) },
	} {
		f := newFleet(t)
		f.apply(f.placed("member1"), healthy("member1", 2))
		first := f.Snapshot(webKey).(*api.ResourceBinding)
		f.Committed(webKey, &row{first, 1}, f.Version(webKey))
		was := first.DeepCopyObject()
		next(f, &row{first.DeepCopyObject().(api.Object), 2})
		f.apply(healthy("member1", 1))
		require.Equal(t, was, first, name)
		require.EqualValues(t, 1, f.Binding(web).Status.AggregatedStatus[0].ReadyReplicas, name)
	}
}

func TestATemplateThatIsStoredIsTheRows(t *testing.T) {
	s := store.New(1)
	s.Track()
	own, theirs := object("apps/v1", "Deployment", "default", "web"), object("apps/v1", "Deployment", "default", "web")
	own.SetGeneration(3)
	theirs.SetGeneration(3)
	theirs.SetResourceVersion("77")
	key, stored := api.KeyOf(own), &row{theirs, 77}
	s.Committed(key, stored, 0)
	require.Empty(t, s.Objects(), "there is nothing that could be it")
	s.Put(own)
	require.Same(t, stored, s.Stored(key))
	version := s.Version(key)
	require.NotSame(t, theirs, s.Get(key))
	s.Committed(key, stored, 0)
	require.Same(t, theirs, s.Get(key))
	require.Same(t, theirs, s.Snapshot(key))
	require.Equal(t, []api.Object{theirs}, s.Objects())
	require.Empty(t, s.Changed(), "it is stored")
	require.Equal(t, version, s.Version(key), "nothing has changed")

	edited := object("apps/v1", "Deployment", "default", "web")
	edited.SetGeneration(4)
	s.Heard(key, &row{edited, 78})
	require.Equal(t, int64(3), s.Get(key).GetGeneration(), "the machines have what they had")
	require.NotSame(t, theirs, s.Get(key))
	require.Equal(t, "77", theirs.GetResourceVersion())
	s.Committed(key, &row{edited, 78}, 0)
	require.Equal(t, int64(3), s.Get(key).GetGeneration(), "they have made something else of it")

	s.Put(own)
	require.False(t, s.Decided(key), "people did")
	require.Same(t, own, s.Get(key))
	require.NotEqual(t, "77", own.GetResourceVersion())
	require.EqualValues(t, 78, s.Stored(key).Version())
	s.Load(theirs, stored)
	require.Same(t, theirs, s.Get(key))
	require.EqualValues(t, 77, s.Stored(key).Version())

	uncounted, s := &appsv1.Deployment{TypeMeta: typeMeta("apps/v1", "Deployment"), ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}, store.New(1)
	s.Load(uncounted, &row{uncounted, 1})
	require.EqualValues(t, 1, s.Get(key).GetGeneration())
	require.Zero(t, uncounted.GetGeneration(), "it is not the store's to count")
}

// TestAnObjectIsStoredUntilItsDeletionIsCommitted whatever has become of it meanwhile.
func TestAnObjectIsStoredUntilItsDeletionIsCommitted(t *testing.T) {
	s, o := store.New(1), cluster("member1")
	key := api.KeyOf(o)
	require.Nil(t, s.Stored(key))
	s.Load(o, &row{o, 1})
	s.Delete(key)
	require.EqualValues(t, 1, s.Stored(key).Version())
	s.Heard(key, &row{o, 2})
	require.EqualValues(t, 2, s.Stored(key).Version(), "others have edited it")
	s.Put(cluster("member1"))
	require.EqualValues(t, 2, s.Stored(key).Version(), "it is to be that now")
	s.Delete(key)
	s.Committed(key, nil, 0)
	require.Nil(t, s.Stored(key))
	s.Put(cluster("member1"))
	require.Nil(t, s.Stored(key))
	s.Committed(key, &row{o, 3}, s.Version(key))
	require.EqualValues(t, 3, s.Stored(key).Version())
	s.Committed(key, nil, 0)
	require.Nil(t, s.Stored(key), "it is to be made again")
	require.True(t, s.Has(key))
}
