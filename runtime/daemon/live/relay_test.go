package live

import (
	"errors"
	"fmt"
	"testing"

	"github.com/benbjohnson/clock"
	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// TestARelayCommitsAllThatItIsGivenAndLeavesNobodyWaiting is given more parts than are on the way at once.
func TestARelayCommitsAllThatItIsGivenAndLeavesNobodyWaiting(t *testing.T) {
	e, err := engine.Open(engine.Config{Resources: engine.Tables(), Clock: clock.NewMock()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	f := &Fleet{config: Config{Engine: e}, feed: e.Follow()}
	r := &relay{fleet: f}
	const many = (partsOnTheWay+2)*flushAtOnce + 1
	for n := range many {
		p, needed := f.namespaceFor(messages.ClusterName(fmt.Sprint("m", n)), start)
		require.True(t, needed)
		r.addOne(p)
	}
	_, err = r.end()
	require.NoError(t, err)
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

// manyMembers are more clusters than a shared store takes at once.
func manyMembers() (members []api.Object) {
	for n := range engine.SharedAtOnce + 20 {
		members = append(members, member(fmt.Sprintf("m%03d", n)))
	}
	return members
}

func TestMoreThanASharedStoreTakesAtOnceIsWrittenInSteps(t *testing.T) {
	f, c := newContended(t)
	f.apply(manyMembers()...)
	for _, m := range all[*api.Cluster](f, catalog.Clusters) {
		require.Contains(t, m.Finalizers, ClusterFinalizer)
	}
	require.Len(t, all[*api.Cluster](f, catalog.Clusters), engine.SharedAtOnce+20)

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

// TestWhatIsTooLargeByItselfIsLeftOut shows a Work that no store of the kind can take: all else goes on.
func TestWhatIsTooLargeByItselfIsLeftOut(t *testing.T) {
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

// TestWhoCommitsSaysWhetherMachinesWereTold so that they are heard at once: among what tells none, too.
func TestWhoCommitsSaysWhetherMachinesWereTold(t *testing.T) {
	f := running(t)
	wanted := wishOf(&messages.CopyWanted{Binding: "default/web-deployment", Cluster: "m1", Replicas: 2})
	unwanted := wishOf(&messages.CopyUnwanted{Binding: "default/gone", Cluster: "m1"})
	none := pending{key: "none", object: &api.Work{}}
	written := pending{key: "written", object: &api.Work{}, wish: &wanted, generation: 1}
	marked := pending{key: "marked", object: &api.Work{}, wish: &unwanted}
	gone := pending{key: "gone", wish: &unwanted}
	goes := pending{key: "goes"}
	for _, told := range []pending{written, gone} {
		require.True(t, f.committed([]pending{told}), told.key)
		require.True(t, f.committed([]pending{none, goes, told}), told.key)
		require.True(t, f.committed([]pending{told, none, marked, goes}), told.key)
	}
	require.False(t, f.committed([]pending{none, goes, marked}))

	r := &relay{}
	r.note(false, nil)
	require.False(t, r.told)
	r.note(true, nil)
	r.note(false, nil)
	require.True(t, r.told)
	require.NoError(t, f.step())
}

func TestWhoLooksAtWorksSaysWhetherMachinesWereTold(t *testing.T) {
	f := running(t)
	asItIs := wishOf(&messages.CopyWanted{Binding: "default/web-deployment", Cluster: "m1", Replicas: 2})
	never := wishOf(&messages.CopyUnwanted{Binding: "default/never", Cluster: "m1"})
	nothing := wish{binding: "default/gone", cluster: "m1", key: workKey("m1", "default/gone")}
	look := func(wishes ...wish) bool {
		f.wishes = wishes
		return f.addWorks(func(pending) { t.Error("nothing needs to be written") }, f.now(), func() bool { return false })
	}
	for _, told := range []wish{asItIs, never} {
		require.True(t, look(told))
		require.True(t, look(told, nothing))
		require.True(t, look(nothing, told))
	}
	require.False(t, look(nothing))
	require.NoError(t, f.step())
}
