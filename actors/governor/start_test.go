package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"leeward/actors/actorstest"
	"leeward/actors/governor"
	"leeward/messages"
	"leeward/messages/api"
)

var (
	schedulerAt = messages.Address{Kind: messages.KindScheduler}
	backing     = messages.Settings{StartFailureLimit: 2, StartFailureWindow: 10 * time.Minute, StartBackoff: time.Minute}
)

// fails is a start that fails now and began so long ago.
func fails(d *driver, binding messages.BindingName, ago time.Duration) *messages.StartFailed {
	return &messages.StartFailed{Binding: binding, Cluster: "e1", Began: d.Now().Add(-ago)}
}

func limitsStarts(most int, why string) *messages.StartsLimited {
	return &messages.StartsLimited{Cluster: "e1", Most: most, Why: why}
}

// backsOff returns a governor of a fleet in which e1 does.
func backsOff(t *testing.T) *driver {
	t.Helper()
	d := drive(t, backing)
	d.Tell(fails(d, "a", time.Minute)).Told(schedulerAt)
	require.Equal(t, []*messages.StartsCounted{{StartBackoff: api.StartBackoff{Cluster: "e1", Failed: []metav1.MicroTime{*micro(d.Now())}}}}, counts(d.Network))
	d.Advance(30 * time.Second)
	d.Tell(fails(d, "b", time.Minute), fails(d, "c", time.Minute)).
		Told(schedulerAt, limitsStarts(1, "3 starts failed within 30s")).WakesIn(time.Minute)
	return d
}

func counts(n *actorstest.Network) []*messages.StartsCounted {
	return actorstest.FactsOf[*messages.StartsCounted](n.Facts())
}

func micro(at time.Time) *metav1.MicroTime { return &metav1.MicroTime{Time: at} }

func TestAClusterOnWhichStartsFailBacksOff(t *testing.T) {
	d := backsOff(t)
	require.Equal(t, []*messages.StartsCounted{{Limits: true, StartBackoff: api.StartBackoff{
		Cluster: "e1", Failed: []metav1.MicroTime{*micro(d.Now().Add(-30 * time.Second)), *micro(d.Now()), *micro(d.Now())},
		Most: 1, Message: "3 starts failed within 30s", Level: 1, Since: micro(d.Now()), Until: micro(d.Now().Add(time.Minute)),
	}}}, counts(d.Network))
	d.Advance(time.Second)
	d.Tell(fails(d, "d", time.Hour)).Told(schedulerAt)
	d.Tell(fails(d, "e", 0)).Told(schedulerAt, limitsStarts(1, "4 starts failed within 31s")).WakesIn(2 * time.Minute)
}

func TestAStartThatFailsIsCountedForItsClusterAlone(t *testing.T) {
	d := backsOff(t)
	d.Tell(&messages.StartFailed{Binding: "a", Cluster: "u1", Began: d.Now()})
	require.Len(t, counts(d.Network), 1)
	require.Equal(t, "u1", counts(d.Network)[0].Cluster)
	n := d.Tell(&messages.StartFailed{Binding: "b", Cluster: "e2", Began: d.Now()}, &messages.StartFailed{Binding: "c", Cluster: "e2", Began: d.Now()})
	require.Equal(t, "2 starts failed", counts(n)[0].Message, "in no time")
}

func TestStartsThatFailTogetherCountAlikeInAnyOrder(t *testing.T) {
	for name, c := range map[string]struct {
		after    time.Duration // the first back-off
		ago      []time.Duration
		level    int
		failures int
	}{
		"as it begins":         {0, []time.Duration{time.Minute, 30 * time.Second, 0}, 1, 3},
		"while it is in force": {30 * time.Second, []time.Duration{time.Minute, 20 * time.Second, 0}, 2, 5},
	} {
		t.Run(name, func(t *testing.T) {
			actorstest.EveryWay(func(choose actorstest.Choose) {
				d := drive(t, backing)
				if c.after > 0 {
					d = backsOff(t)
					d.Advance(c.after)
				}
				d.Tell(actorstest.Interleave(choose, actorstest.Alone[messages.ToGovernor](fails(d, "d", c.ago[0]), fails(d, "e", c.ago[1]), fails(d, "f", c.ago[2]))...)...)
				counted := counts(d.Network)
				require.Len(t, counted, 1)
				require.Equal(t, c.level, counted[0].Level)
				require.Len(t, counted[0].Failed, c.failures)
			})
		})
	}
}

func TestABackoffEnds(t *testing.T) {
	t.Run("with time", func(t *testing.T) {
		d := backsOff(t)
		d.QuietFor(time.Minute - 1)
		n := d.Advance(1).Told(schedulerAt, limitsStarts(0, ""))
		require.Equal(t, "it is tried again", counts(n)[0].Message)
		d.Advance(time.Hour)
		require.Zero(t, counts(d.Network)[0].Level, "it is forgotten")
		d.Sleeps()
	})
	t.Run("with a start that succeeds, also where others fail", func(t *testing.T) {
		d := backsOff(t)
		n := d.Tell(fails(d, "d", 0), &messages.StartsSucceeded{Clusters: []messages.ClusterName{"e1", "e2"}}).Told(schedulerAt, limitsStarts(0, ""))
		require.Equal(t, "a start succeeded", counts(n)[0].Message)
		d.Sleeps()
	})
	t.Run("with the setting", func(t *testing.T) {
		d := backsOff(t)
		d.Tell(&messages.SettingsChanged{}).Told(schedulerAt, limitsStarts(0, ""))
		d.Tell(fails(d, "d", 0)).Quiet().Sleeps()
	})
}

func TestABackoffOutlivesARestart(t *testing.T) {
	before := backsOff(t)
	status := &api.GovernorStatus{Starts: []api.StartBackoff{counts(before.Network)[0].StartBackoff}}
	d := actorstest.Drive(t, governor.New(backing))
	d.Advance(before.Now().Sub(d.Now()))
	d.Tell(&messages.GovernorRestored{Status: status}).Told(schedulerAt, limitsStarts(1, "3 starts failed within 30s")).WakesIn(time.Minute)
	d.Advance(time.Second)
	d.Tell(fails(d, "d", time.Minute)).Told(schedulerAt) // it began before that
	d.Tell(fails(d, "e", 0)).Told(schedulerAt, limitsStarts(1, "4 starts failed within 31s")).WakesIn(2 * time.Minute)
}
