package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func stateful(s *messages.Settings)     { s.StatefulFailoverInjection = true }
func needsState(s *messages.Settings)   { s.EvictionNeedsState = true }
func anyPurgeMode(s *messages.Settings) { s.StateForAnyPurgeMode = true }

// keeping is a policy that takes a savepoint along.
func keeping(mode api.PurgeMode) *api.PropagationSpec {
	policy := toleratingUnhealthy(0, mode)
	policy.Failover.Application.StatePreservation = &api.StatePreservation{
		Rules: []api.StatePreservationRule{{AliasLabelName: "savepoint", JSONPath: "{.job.savepoint}"}},
	}
	return policy
}

// saying is a report of m1 with what its copy says of itself.
func saying(h api.ResourceHealth, status string) *messages.CopyReported {
	m := report("m1", h, 2, 1)
	m.Status = status
	return m
}

const savepoint = `{"job":{"savepoint":"s-17"}}`

// startedOn are the labels with which a member was told to run its first copy.
func startedOn(t *testing.T, b *subject, cluster string) map[string]string {
	t.Helper()
	mail := actorstest.MailTo(b.Mail(), memberAt(cluster))
	require.Len(t, mail, 1)
	return mail[0].(*messages.RunCopy).Labels
}

func TestStateGoesAlong(t *testing.T) {
	inherited := map[string]string{"savepoint": "s-17"}
	for _, c := range []struct {
		name     string
		settings []func(*messages.Settings)
		mode     api.PurgeMode
		next     []string
		stored   map[string]string
		labels   map[string]string
	}{
		{"directly, to one new cluster", []func(*messages.Settings){stateful}, api.PurgeDirectly, []string{"m3:2"}, inherited, inherited},
		{"not without the gate", nil, api.PurgeDirectly, []string{"m3:2"}, nil, nil},
		{"not gracefully in Karmada", []func(*messages.Settings){stateful}, api.PurgeGracefully, []string{"m3:2"}, inherited, nil},
		{"gracefully in Leeward", []func(*messages.Settings){stateful, anyPurgeMode}, api.PurgeGracefully, []string{"m3:2"}, inherited, inherited},
		{"not to one of two clusters", []func(*messages.Settings){stateful}, api.PurgeDirectly, []string{"m3:1", "m4:1"}, inherited, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := placed(t, settings(c.settings...), keeping(c.mode), "m1:2")
			b.tell(saying(api.Healthy, savepoint))
			task := starts(b.tell(saying(api.Unhealthy, savepoint)))[0].Task
			require.Equal(t, c.stored, task.PreservedLabelState)
			require.Equal(t, c.stored != nil, task.ClustersBeforeFailover != nil)
			b.tell(&messages.CopyRemoved{Cluster: "m1"})
			b.tell(b.place(c.next...))
			require.Equal(t, c.labels, startedOn(t, b, "m3"))
		})
	}
}

func TestWhatACopySaysIsToldOnce(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	b.tell(saying(api.Healthy, savepoint)).Recorded(&messages.StatusChanged{Binding: name, Cluster: "m1", Status: []byte(savepoint)})
	b.tell(saying(api.Healthy, savepoint)).Quiet()
}

func TestStateThatCannotBeReadHoldsBackInKarmadaAlone(t *testing.T) {
	b := placed(t, settings(stateful, needsState), keeping(api.PurgeDirectly), "m1:2", "m2:2")
	held := holds(b.tell(unhealthy))[0]
	require.Equal(t, "StateNotPreserved", held.Reason)
	require.Equal(t, "label savepoint: path {.job.savepoint}: job is not found", held.Message)
	require.Len(t, starts(b.tell(saying(api.Unhealthy, savepoint))), 1, "until it can be read")

	b = placed(t, settings(stateful), keeping(api.PurgeDirectly), "m1:2", "m2:2")
	task := starts(b.tell(unhealthy))[0].Task
	require.Equal(t, "without its state: label savepoint: path {.job.savepoint}: job is not found", task.Message)
	require.Nil(t, task.PreservedLabelState)
}

func TestStateOfAFailedClusterGoesAlong(t *testing.T) {
	policy := duplicated()
	policy.Failover = &api.FailoverBehavior{Cluster: &api.ClusterFailover{
		PurgeMode: api.PurgeDirectly, StatePreservation: keeping("").Failover.Application.StatePreservation,
	}}
	b := placed(t, settings(stateful), policy, "m1:2")
	b.tell(saying(api.Healthy, savepoint))
	b.tell(tainted("m1", b.Now(), "down"))
	task := starts(b.tell(permit("m1")))[0].Task
	require.Equal(t, map[string]string{"savepoint": "s-17"}, task.PreservedLabelState)
	require.Nil(t, task.ClustersBeforeFailover)
}

func TestStateThatIsNoLabelIsOfNoUse(t *testing.T) {
	long := `{"job":{"savepoint":"s3://state/17"}}`
	b := placed(t, settings(stateful), keeping(api.PurgeDirectly), "m1:2")
	b.tell(saying(api.Healthy, long))
	task := starts(b.tell(saying(api.Unhealthy, long)))[0].Task
	require.Contains(t, task.Message, `without its state: label savepoint: value "s3://state/17": a valid label must`)
	require.Nil(t, task.PreservedLabelState)

	b = placed(t, settings(stateful, needsState), keeping(api.PurgeDirectly), "m1:2")
	b.tell(saying(api.Healthy, long))
	task = starts(b.tell(saying(api.Unhealthy, long)))[0].Task
	require.Equal(t, map[string]string{"savepoint": "s3://state/17"}, task.PreservedLabelState, "Karmada does not look")
}

func TestATaskRemembersWhereTheBindingWasInItsOrder(t *testing.T) {
	b := placed(t, settings(stateful), keeping(api.PurgeDirectly), "m1:2", "m2:2", "m3:2")
	b.tell(report("m2", api.Healthy, 2, 2))
	unhealthyThere := saying(api.Unhealthy, savepoint)
	unhealthyThere.Cluster = "m2"
	task := starts(b.tell(unhealthyThere))[0].Task
	require.Equal(t, []string{"m1", "m2", "m3"}, task.ClustersBeforeFailover)
}

func TestTasksOfOneInstantRememberWhereTheBindingWasBeforeAnyOfThem(t *testing.T) {
	actorstest.EveryWay(func(choose actorstest.Choose) {
		b := placed(t, settings(stateful), keeping(api.PurgeDirectly), "m1:2", "m2:2", "m3:2")
		b.tell(saying(api.Healthy, savepoint))
		mute := report("m2", api.Unhealthy, 0, 1)
		news := actorstest.Alone[messages.ToBinding](saying(api.Unhealthy, savepoint), mute)
		left := starts(b.tell(actorstest.Interleave(choose, news...)...))
		require.Len(t, left, 2)
		for _, f := range left {
			require.Equal(t, []string{"m1", "m2", "m3"}, f.Task.ClustersBeforeFailover, f.Cluster)
		}
		b.Advance(time.Minute)
		last := saying(api.Unhealthy, savepoint)
		last.Cluster = "m3"
		require.Equal(t, []string{"m3"}, starts(b.tell(last))[0].Task.ClustersBeforeFailover, "a minute later it is elsewhere")
	})
}
