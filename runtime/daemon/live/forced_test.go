package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

// forces are the ways in which a cluster is taken out of the store: whether or not a daemon runs, and with a kill of one that has
// heard of it, before what it decides is committed, or between that and what follows from it.
var forces = map[string]func(*fixture, api.Object){
	"while a daemon runs": func(f *fixture, c api.Object) {
		unheard(f, c)
		require.NoError(f.t, f.step())
	},
	"while none runs": func(f *fixture, c api.Object) {
		f.Close()
		unheard(f, c)
		f.open()
	},
	"and a daemon is killed that has decided on it": func(f *fixture, c api.Object) {
		unheard(f, c)
		f.take()
		require.NoError(f.t, f.settle())
		require.Nil(f.t, get(f, member("m1")))
		f.restart()
	},
	"and a daemon is killed that has made it again": func(f *fixture, c api.Object) {
		unheard(f, c)
		f.take()
		require.NoError(f.t, f.settle())
		r := &relay{fleet: f.Fleet}
		f.flushDecisions(f.nextDecisions(), r)
		require.NoError(f.t, r.end())
		require.NotNil(f.t, get(f, member("m1")))
		f.restart()
	},
}

// A cluster that is taken out of the store while workloads are placed on it is being deleted until they have left it, however its
// finalizer was lost, and whether or not a daemon ran.
func TestAClusterThatIsForcedOutIsDeletedWhenItsWorkloadsHaveLeft(t *testing.T) {
	for name, force := range forces {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			force(f, member("m1"))
			isGoing(f, "m1")
			require.Equal(t, "m2:2 leaves m1", placed(f))
			f.restart()
			require.Equal(t, "m2:2 leaves m1", placed(f), "a start changes nothing")
			f.serves("m2", 2)
			require.Equal(t, "m2:2", placed(f))
			if get(f, work("m1")) != nil { // of a cluster that nothing is known of they are given up
				f.lets("m1")
			}
			require.Nil(t, get(f, member("m1")))
			require.Nil(t, get(f, work("m1")))
		})
	}
}

// isGoing requires that a cluster is stored, and being deleted until nothing is placed there.
func isGoing(f *fixture, cluster string) {
	f.t.Helper()
	c := get(f, member(cluster))
	require.NotNil(f.t, c)
	require.NotNil(f.t, c.DeletionTimestamp)
	require.Equal(f.t, []string{ClusterFinalizer}, c.Finalizers)
}

// A ClusterResourceBinding keeps its cluster as a ResourceBinding does.
func TestAClusterThatIsForcedOutIsDeletedWhenWhatHasNoNamespaceIsGone(t *testing.T) {
	for name, force := range forces {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			role := named(&api.ClusterResourceBinding{}, api.WorkGroupVersion, "ClusterResourceBinding", "", "viewer-clusterrole")
			role.Spec.Resource = api.ObjectReference{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "viewer"}
			role.Spec.Placement = &api.Placement{SpreadConstraints: policy().Spec.Placement.SpreadConstraints}
			f.apply(serving("m1"), serving("m2"), role)
			require.Equal(t, "m1:0", targets(&get(f, role).Spec))
			force(f, member("m1"))
			isGoing(f, "m1")
			require.Equal(t, "m2:0 leaves m1", targets(&get(f, role).Spec))
			f.restart()
			require.Equal(t, "m2:0 leaves m1", targets(&get(f, role).Spec), "a start changes nothing")
			f.pass(time.Hour)
			require.Equal(t, "m2:0 leaves m1", targets(&get(f, role).Spec), "no agent says that it serves elsewhere")
			isGoing(f, "m1")
			f.remove(role)
			require.Nil(t, get(f, role))
			require.Nil(t, get(f, member("m1")))
		})
	}
}

// serving is a member that has ClusterRoles.
func serving(name string) *api.Cluster {
	c := member(name)
	c.Status.APIEnablements = []api.APIEnablement{{
		GroupVersion: "rbac.authorization.k8s.io/v1", Resources: []api.APIResource{{Name: "clusterroles", Kind: "ClusterRole"}},
	}}
	return c
}

// A cluster on which only old copies remain is known by their tasks alone, and is back in the store with the start.
func TestAClusterThatIsForcedOutDuringAHandoverIsDeletedAfterIt(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.Close()
	unheard(f, member("m1"))
	f.open()
	isGoing(f, "m1")
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	if get(f, work("m1")) != nil {
		f.lets("m1")
	}
	require.Nil(t, get(f, member("m1")))
}

// It is stored again where nothing of it changes otherwise, too: Karmada does not taint a cluster that is being deleted.
func TestAClusterThatIsForcedOutIsStoredAgainWithoutATaint(t *testing.T) {
	f := running(t)
	f.Close()
	unheard(f, member("m1"))
	watched(f, nil, func(c *Config) { c.Settings.TaintTerminatingClusters = false })
	isGoing(f, "m1")
}

// A cluster that is taken out of the store and made again before a fleet, or a standby, has heard of that stays, with what is placed on it. The
// taint of the old one goes.
func TestAClusterThatIsMadeAgainStays(t *testing.T) {
	remade := func(f *fixture, deleted bool) {
		if deleted {
			going := api.Shallow(get(f, member("m1")))
			going.SetDeletionTimestamp(&metav1.Time{Time: f.clock.Now()})
			table, key := f.table(going)
			_, version := table.Get(key)
			require.NoError(f.t, f.engine.Commit(engine.Update(key, going, version)))
		}
		unheard(f, member("m1"))
		f.write(member("m1"))
	}
	for name, happens := range map[string]func(f *fixture){
		"while a daemon runs":  func(f *fixture) { remade(f, false) },
		"after it was deleted": func(f *fixture) { remade(f, true) },
		"while a standby follows": func(f *fixture) {
			s := f.beside()
			remade(f, true)
			require.NoError(f.t, s.fleet.step(f.t.Context()))
			f.succeeds(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			happens(f)
			require.NoError(t, f.step())
			f.pass(time.Minute)
			c := get(f, member("m1"))
			require.NotNil(t, c)
			require.Nil(t, c.DeletionTimestamp)
			require.Empty(t, c.Spec.Taints)
			require.Equal(t, "m1:2", placed(f))
			before := f.engine.Version()
			f.restart()
			require.Equal(t, before, f.engine.Version(), "a start finds nothing to write")
		})
	}
}
