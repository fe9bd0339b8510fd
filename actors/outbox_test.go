package actors_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors"
	"leeward/messages"
)

func TestAnOutboxKeepsFactsAndMailInOrder(t *testing.T) {
	var out actors.Outbox
	out.Record(&messages.Restarted{})
	out.Record(&messages.BindingDeleted{Binding: "web"})
	out.TellGovernor(&messages.WithdrawRequest{Binding: "web", Cluster: "m1"})
	out.TellCluster("m1", &messages.BindingLeft{Binding: "web"})

	require.Equal(t, []messages.Fact{&messages.Restarted{}, &messages.BindingDeleted{Binding: "web"}}, out.Facts())
	require.Equal(t, []actors.Mail{
		{To: messages.Address{Kind: messages.KindGovernor}, Message: &messages.WithdrawRequest{Binding: "web", Cluster: "m1"}},
		{To: messages.Address{Kind: messages.KindCluster, Name: "m1"}, Message: &messages.BindingLeft{Binding: "web"}},
	}, out.Mail())
}

func TestEveryTellNamesItsMachine(t *testing.T) {
	var out actors.Outbox
	out.TellCluster("a", &messages.ContactRestored{})
	out.TellPolicy("b", &messages.PolicyApplied{})
	out.TellBinding("d", &messages.WorkloadDeleted{})
	out.TellMember("e", &messages.EngineRestarted{})
	out.TellScheduler(&messages.ClusterGone{})
	out.TellGovernor(&messages.WithdrawRequest{})

	var to []string
	for _, m := range out.Mail() {
		to = append(to, m.To.String())
	}
	require.Equal(t, []string{"cluster/a", "policy/b", "binding/d", "member/e", "scheduler", "governor"}, to)
}

func TestTheLastAlarmHolds(t *testing.T) {
	var out actors.Outbox
	_, set := out.Alarm()
	require.False(t, set, "a machine that asks for nothing keeps the alarm it had")

	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	out.WakeAt(noon)
	out.WakeAt(time.Time{})
	at, set := out.Alarm()
	require.True(t, set)
	require.True(t, at.IsZero(), "the zero time clears the alarm")
}

func TestResetForgetsEverything(t *testing.T) {
	var out actors.Outbox
	out.Record(&messages.Restarted{})
	out.TellScheduler(&messages.ClusterGone{})
	out.WakeAt(time.Unix(1, 0))
	out.Reset()

	_, set := out.Alarm()
	require.Empty(t, out.Facts())
	require.Empty(t, out.Mail())
	require.False(t, set)
}
