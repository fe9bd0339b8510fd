package world_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/runtime/fleet/config"
	"leeward/runtime/fleet/world"
)

func TestAllSettingsMayChangeTogether(t *testing.T) {
	settings, err := config.Profile("leeward")
	require.NoError(t, err)
	w := world.New(world.Config{Settings: settings})
	defer w.Close()
	settings.Failover, settings.GracefulEvictionTimeout = false, time.Minute
	w.SetAll(settings)
	require.NoError(t, w.Settle(world.Start))
	var changes []string
	for _, e := range w.Journal().Entries() {
		if f, ok := e.Fact.(*messages.SettingChanged); ok {
			changes = append(changes, f.Field+"="+f.To)
		}
	}
	require.Equal(t, []string{"failover=false", "gracefulEvictionTimeout=1m"}, changes, "the gate stays off though enableNoExecuteTaintEviction is on")
}
