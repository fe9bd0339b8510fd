package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/actors/member"
	"leeward/messages"
	"leeward/messages/api"
)

// ofPods is a member whose copies are run by pods, and that was told to run one with so many replicas.
func ofPods(t *testing.T, replicas int32) *driver {
	t.Helper()
	d := actorstest.Drive(t, member.New("m1", lease, 1))
	d.Tell(&messages.MemberConfigured{Behaviour: messages.MemberBehaviour{StartupMin: time.Hour, StartupMax: time.Hour, Health: api.Healthy, ByPods: true}})
	d.Tell(&messages.RunCopy{Binding: "web", Replicas: replicas, Placement: 1})
	require.Equal(t, messages.CopyReported{Cluster: "m1", Health: api.Unhealthy}, reported(d), "its pods are to start, whatever the start-up time of a member")
	return d
}

// reported is the last report of the last step.
func reported(d *driver) (last messages.CopyReported) {
	for _, m := range d.Mail() {
		if r, is := m.Message.(*messages.CopyReported); is {
			last = *r
		}
	}
	return last
}

func TestACopyIsWhatItsPodsAre(t *testing.T) {
	d := ofPods(t, 3)
	for _, step := range []struct {
		pods messages.PodsCounted
		want messages.CopyReported
	}{
		{messages.PodsCounted{Ready: 2}, messages.CopyReported{Health: api.Unhealthy, Ready: 2}},
		{messages.PodsCounted{Ready: 3}, messages.CopyReported{Health: api.Healthy, Ready: 3, ForPlacement: 1}},
		{messages.PodsCounted{Ready: 1, Unschedulable: 2}, messages.CopyReported{Health: api.Unhealthy, Ready: 1, ForPlacement: 1, Unschedulable: 2, Full: true}},
		{messages.PodsCounted{Ready: 4}, messages.CopyReported{Health: api.Healthy, Ready: 3, ForPlacement: 1}},
	} {
		step.pods.Binding, step.want.Cluster = "web", "m1"
		d.Tell(&step.pods)
		require.Equal(t, step.want, reported(d))
	}
	d.Tell(&messages.PodsCounted{Binding: "other", Ready: 1}).Quiet()
}

func TestAvailableArePodsThatAreReadyAndHavePower(t *testing.T) {
	d := ofPods(t, 2)
	available := func() (n int32) {
		n = -1
		for _, f := range d.Facts() {
			if f, is := f.(*messages.AvailabilityChanged); is {
				n = f.Available
			}
		}
		return n
	}
	d.Tell(&messages.PodsCounted{Binding: "web", Ready: 1})
	require.EqualValues(t, 1, available(), "though the copy is not healthy")
	d.Tell(&messages.OutagesSet{Outages: messages.Outages{Power: true}})
	require.Zero(t, available())
	d.Tell(&messages.OutagesSet{})
	require.EqualValues(t, 1, available(), "its pods never ended")
	d.Tell(&messages.OutagesSet{Outages: messages.Outages{Agent: true}})
	require.Equal(t, messages.CopyReported{}, reported(d), "its agent is silent")
	d.Tell(&messages.PodsCounted{Binding: "web"})
	require.Zero(t, available(), "and users feel what is not reported")
}
