package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A cluster that is taken out of the store while workloads are placed on it is being deleted until they have left it, however its
// finalizer was lost, and whether or not a daemon ran.
func TestAClusterThatIsForcedOutIsDeletedWhenItsWorkloadsHaveLeft(t *testing.T) {
	for name, force := range map[string]func(*fixture){
		"while a daemon runs": func(f *fixture) {
			unheard(f, member("m1"))
			require.NoError(t, f.step())
		},
		"while none runs": func(f *fixture) {
			f.Close()
			unheard(f, member("m1"))
			f.open()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := running(t)
			force(f)
			c := get(f, member("m1"))
			require.NotNil(t, c)
			require.NotNil(t, c.DeletionTimestamp)
			require.Equal(t, []string{ClusterFinalizer}, c.Finalizers)
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

// A cluster on which only old copies remain is known by their tasks alone, and is back in the store with the start.
func TestAClusterThatIsForcedOutDuringAHandoverIsDeletedAfterIt(t *testing.T) {
	f := running(t)
	putTaints(f, "m1", failed)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.Close()
	unheard(f, member("m1"))
	f.open()
	require.NotNil(t, get(f, member("m1")))
	require.NotNil(t, get(f, member("m1")).DeletionTimestamp)
	require.Equal(t, "m2:2 leaves m1", placed(f))
	f.serves("m2", 2)
	require.Equal(t, "m2:2", placed(f))
	if get(f, work("m1")) != nil {
		f.lets("m1")
	}
	require.Nil(t, get(f, member("m1")))
}
