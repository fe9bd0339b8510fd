package live

import (
	"errors"
	"fmt"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// TestARelayCommitsAllThatItIsGivenAndLeavesNoneWaiting is given more parts than are on the way at a time.
func TestARelayCommitsAllThatItIsGivenAndLeavesNoneWaiting(t *testing.T) {
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.NewMock()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	f := &Fleet{config: Config{Engine: e}, feed: e.Follow()}
	r := &relay{fleet: f}
	const many = (3*partsOnTheWay)*flushedTogether + 1
	for n := range many {
		p, needed := f.namespaceFor(messages.ClusterName(fmt.Sprint("m", n)), start)
		require.True(t, needed)
		r.addOne(p)
	}
	require.NoError(t, r.end())
	require.Equal(t, many, e.Table(catalog.Namespaces.Name()).Len())
	require.EqualValues(t, many, f.Stats().Written)
	require.Zero(t, f.Stats().Conflicts, "each is committed once")
	select {
	case _, open := <-r.leaving:
		require.False(t, open)
	default:
		t.Fatal("who encodes and queues waits for more")
	}
}

// manyMembers are more clusters than a shared store takes at a time.
func manyMembers() (members []api.Object) {
	for n := range engine.SharedBatch + 20 {
		members = append(members, member(fmt.Sprintf("m%03d", n)))
	}
	return members
}

func TestMoreThanASharedStoreTakesTogetherIsWrittenInSteps(t *testing.T) {
	f, c := newContended(t)
	f.apply(manyMembers()...)
	for _, m := range all[*api.Cluster](f, catalog.Clusters) {
		require.Contains(t, m.Finalizers, ClusterFinalizer)
	}
	require.Len(t, all[*api.Cluster](f, catalog.Clusters), engine.SharedBatch+20)

	f.write(manyMembers()[0])
	for _, m := range manyMembers() {
		edit(f, m.(*api.Cluster), func(m *api.Cluster) { m.Finalizers = nil })
	}
	refused := errors.New("refused")
	c.refuses = func(p *engine.Proposal) error {
		if len(p.Writes) > 1 {
			return refused
		}
		return nil
	}
	require.ErrorIs(t, f.step(), refused)
}

func TestWhatIsTooLargeForASharedStoreIsWrittenInHalves(t *testing.T) {
	f, c := newContended(t)
	var most int
	c.refuses = func(p *engine.Proposal) error {
		if most = max(most, len(p.Writes)); len(p.Writes) > 1 {
			return &engine.TooLarge{Cause: errors.New("more than one")}
		}
		return nil
	}
	f.apply(member("m1"), member("m2"), policy(), deployment(2, "nginx:1"))
	require.Equal(t, "m1:2", placed(f))
	require.NotNil(t, get(f, work("m1")))
	require.Greater(t, most, 1, "it was tried")
}

// TestWhatIsTooLargeByItselfIsOmitted shows a Work that no store of the kind can take: all else goes on.
func TestWhatIsTooLargeByItselfIsOmitted(t *testing.T) {
	f, c := newContended(t)
	_, key := f.table(work("m1"))
	c.refuses = func(p *engine.Proposal) error {
		for _, w := range p.Writes {
			if w.Key == key {
				return &engine.TooLarge{Cause: errors.New("a Work of 2 MiB")}
			}
		}
		return nil
	}
	f.apply(member("m1"), member("m2"), policy(), deployment(2, "nginx:1"))
	require.Equal(t, "m1:2", placed(f))
	require.Nil(t, get(f, work("m1")))
	require.NotEmpty(t, f.events(binding()))
}

// Machines that were told of what was committed act on it in the same step, among what tells none, too.
func TestWhatIsCommittedIsHeardInTheSameStep(t *testing.T) {
	f := running(t)
	wanted := wishOf(&messages.CopyWanted{Binding: "default/web-deployment", Cluster: "m1", Replicas: 2})
	unwanted := wishOf(&messages.CopyUnwanted{Binding: "default/gone", Cluster: "m1"})
	none := pending{key: "none", object: &api.Work{}}
	written := pending{key: "written", object: &api.Work{}, wish: &wanted, generation: 1}
	marked := pending{key: "marked", object: &api.Work{}, wish: &unwanted}
	gone := pending{key: "gone", wish: &unwanted}
	goes := pending{key: "goes"}
	heard := func(batch ...pending) bool {
		f.committed(batch)
		again, err := f.flush()
		require.NoError(t, err)
		require.NoError(t, f.step())
		return again
	}
	for _, told := range []pending{written, gone} {
		require.True(t, heard(told), told.key)
		require.True(t, heard(none, goes, told), told.key)
		require.True(t, heard(told, none, marked, goes), told.key)
	}
	require.False(t, heard(none, goes, marked))
}

func TestWorksThatAreAsTheyShouldBeAreToldInTheSameStep(t *testing.T) {
	f := running(t)
	asItIs := wishOf(&messages.CopyWanted{Binding: "default/web-deployment", Cluster: "m1", Replicas: 2})
	never := wishOf(&messages.CopyUnwanted{Binding: "default/never", Cluster: "m1"})
	nothing := wish{binding: "default/gone", cluster: "m1", key: workKey("m1", "default/gone")}
	heard := func(wishes ...wish) bool {
		f.wishes = wishes
		again, err := f.flush()
		require.NoError(t, err)
		require.NoError(t, f.step())
		return again
	}
	for _, told := range []wish{asItIs, never} {
		require.True(t, heard(told))
		require.True(t, heard(told, nothing))
		require.True(t, heard(nothing, told))
	}
	require.False(t, heard(nothing))
}

// What follows from many decisions is committed in few steps.
func TestWhatFollowsIsCommittedTogether(t *testing.T) {
	f, c := newContended(t)
	f.write(manyMembers()...)
	steps := 0
	c.first = func(*engine.Proposal) { steps++ }
	require.NoError(t, f.step())
	require.Len(t, all[*corev1.Namespace](f, catalog.Namespaces), len(manyMembers()))
	require.Less(t, steps, 20)
}
