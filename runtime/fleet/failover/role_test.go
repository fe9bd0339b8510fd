package failover_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/failover"
)

// about sets in a fact of any kind that it is about web on a cluster, and that it tells of health, of a result that is void, or of
// targets which include all that may be due.
func about(f messages.Fact, c messages.ClusterName) messages.Fact {
	v := reflect.ValueOf(f).Elem()
	for name, value := range map[string]any{"Binding": web, "Cluster": c, "Health": api.Healthy, "Cleared": true, "Clusters": on("m1", "m2", "m3")} {
		if field := v.FieldByName(name); field.IsValid() && field.Type() == reflect.TypeOf(value) {
			field.Set(reflect.ValueOf(value))
		}
	}
	return f
}

// during is a binding with a countdown on m1, handovers from m2 and m3, and an old copy on m4 that is not removed yet.
func during() *failover.Binding {
	b := &failover.Binding{}
	for _, f := range []messages.Fact{
		placed("", "m1", "m2", "m3", "m4"), evicted("m4", tainted), placed("m4", "m1", "m2", "m3"), ended("m4", "timeout"),
		countdown("m1", tainted), evicted("m2", tainted), evicted("m3", tainted),
	} {
		b.Take(start, f, func(time.Time, failover.Step, *failover.Failover) {})
	}
	return b
}

// changed is what one fact did to the failovers of a binding: its steps by cluster, and whether anything is other than before.
type changed struct {
	steps map[messages.ClusterName][]failover.Step
	any   bool
}

func take(f messages.Fact) changed {
	b, c := during(), changed{steps: map[messages.ClusterName][]failover.Step{}}
	b.Take(start.Add(time.Minute), f, func(_ time.Time, s failover.Step, o *failover.Failover) {
		c.steps[o.Cluster] = append(c.steps[o.Cluster], s)
	})
	c.any = len(c.steps) > 0 || !reflect.DeepEqual(b, during())
	return c
}

// TestTheTableOfRolesIsWhatTheFoldDoes for every fact that there is: a fact that is folded and has no row, or has one and is not
// folded, fails here.
func TestTheTableOfRolesIsWhatTheFoldDoes(t *testing.T) {
	for n, f := range messages.Facts() {
		t.Run(f.Kind(), func(t *testing.T) {
			role := failover.RoleOf(f)
			_, ofCluster := f.(messages.AboutCluster)
			var folded, ownStep, otherStep, retracts, begins bool
			for _, c := range []messages.ClusterName{"m1", "m2", "m3", "m4", "m5"} {
				f := about(messages.Facts()[n], c)
				did := take(f)
				folded = folded || did.any
				for on, steps := range did.steps {
					ownStep, otherStep = ownStep || on == c, otherStep || on != c
					retracts = retracts || c == "m2" && on == c && ofCluster && steps[0] == failover.Cancelled
				}
				fold := failover.Fold{}
				fold.Take(start, f, func(time.Time, failover.Step, *failover.Failover) {})
				begins = begins || len(fold) > 0
			}
			require.Equal(t, folded, role.Is(failover.Folded), "Take takes it in, or does not")
			require.Equal(t, begins, role.Is(failover.Begins), "the first of a failover")
			require.Equal(t, retracts, role.Is(failover.Retracts), "it takes back a handover")
			require.Equal(t, ofCluster && ownStep && !otherStep && f.Kind() != "HealthForgotten", role.Is(failover.Evicts), "a step of the eviction from its own cluster")
			name, is := failover.About(about(f, "m1"))
			require.Equal(t, role.Is(failover.Folded), is && name == web)
			if role.Is(failover.Owner) {
				require.True(t, role.Is(failover.Folded), "owners are told of steps alone")
			}
		})
	}
}

func TestOwnersAreToldOfAPlacementThatAnEvictionTriggered(t *testing.T) {
	require.True(t, failover.RoleOf(&messages.Scheduled{Trigger: messages.TriggerEviction}).Is(failover.Owner))
	require.False(t, failover.RoleOf(&messages.Scheduled{}).Is(failover.Owner))
}

func TestAnEvictionAndItsWithdrawalAreRetractedTogether(t *testing.T) {
	first, other, again := evicted("m1", tainted), evicted("m2", tainted), evicted("m1", tainted)
	back, backAgain := withdrawn("m1"), withdrawn("m1")
	require.Equal(t, []messages.Fact{first, back}, failover.Retracted([]messages.Fact{first, other, placed("m1", "m3"), back}))
	require.Equal(t, []messages.Fact{first, back, again, backAgain}, failover.Retracted([]messages.Fact{first, back, again, backAgain}))
	require.Empty(t, failover.Retracted([]messages.Fact{back, first}), "one that began before these facts")
	require.Empty(t, failover.Retracted([]messages.Fact{&messages.EvictionScheduled{Binding: web, Cluster: "m3"}, back}), "with the end of what was scheduled elsewhere")
	require.Empty(t, failover.Retracted([]messages.Fact{first, ended("m1", "timeout")}))
	require.Empty(t, failover.Retracted([]messages.Fact{first, &messages.BindingDeleted{Binding: web}}), "it did begin")
}
