package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
	"leeward/runtime/fleet/store"
)

func TestTheGovernorShowsWhatUsersHold(t *testing.T) {
	f := newFleet(t)
	ofWeb, onM1 := messages.HoldScope{Binding: web}, messages.HoldScope{Cluster: "m1"}
	f.SetPause(&api.Hold{Reason: "network"})
	f.apply(
		&messages.HoldPlaced{HoldScope: ofWeb, Reason: "migration"}, &messages.HoldPlaced{HoldScope: onM1, Reason: "rack"},
		&messages.HoldPlaced{Reason: "network", Until: start.Add(time.Hour)},
		&messages.HoldPlaced{HoldScope: onM1, Reason: "still the rack"},
		&messages.ReleaseGranted{HoldScope: ofWeb, Reason: "a customer waits"},
	)
	shown := f.Governor()
	require.Equal(t, "Normal", shown.State)
	require.Equal(t, []string{"network", "still the rack", "migration"}, []string{shown.Holds[0].Reason, shown.Holds[1].Reason, shown.Holds[2].Reason})
	require.Equal(t, start.Add(time.Hour), shown.Holds[0].Until.Time)
	require.Equal(t, "a customer waits", shown.Releases[0].Reason)

	f.apply(&messages.HoldEnded{HoldScope: onM1}, &messages.HoldEnded{}, &messages.ReleaseEnded{HoldScope: ofWeb})
	f.SetPause(nil)
	require.Len(t, f.Governor().Holds, 1)
	require.Empty(t, f.Governor().Releases)
	require.Len(t, shown.Holds, 3, "who holds a status may keep it")
	g := f.Get(store.GovernorKey).(*api.Governor)
	require.Nil(t, g.Spec.Pause)
	require.Equal(t, int64(2), g.Generation)
}

func TestTheGovernorShowsWhatAnEngineRunsWith(t *testing.T) {
	f := newFleet(t)
	f.RunsWith(start, "karmada", []string{"failover=true"})
	g := f.Get(store.GovernorKey).(*api.Governor)
	require.Equal(t, []string{"failover=true"}, g.Status.Settings)
	require.True(t, g.CreationTimestamp.Time.Equal(start.Truncate(time.Second)))
	f.RunsWith(start.Add(time.Second), "karmada", []string{"failover=true"})
	require.Same(t, g, f.Get(store.GovernorKey), "nothing has changed")
	f.RunsWith(start.Add(time.Second), "leeward", nil)
	require.Equal(t, "leeward", f.Governor().Profile)
	require.True(t, f.Get(store.GovernorKey).(*api.Governor).CreationTimestamp.Time.Equal(start.Truncate(time.Second)))
}
