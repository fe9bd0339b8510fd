package governor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
)

func TestAPauseHoldsEverythingUntilPeopleEndIt(t *testing.T) {
	paused := &messages.SettingsChanged{Settings: messages.Settings{ClusterEvictionRate: 0.1, PauseEvictions: true}}
	word := &messages.EvictionDelayed{Cluster: "e1", Reason: "Paused", Message: "evictions are paused (pauseEvictions)"}
	d := drive(t, messages.Settings{ClusterEvictionRate: 0.1})
	require.Equal(t, []string{"a/e1"}, gone(d.Tell(from("e1", "a", "b")...)))
	d.Tell(paused).Told(bindingAt("b"), word)
	d.Tell(paused).Quiet()
	d.Tell(from("e1", "c")...).Told(bindingAt("c"), word).Told(bindingAt("b"))
	d.QuietFor(24 * time.Hour)
	n := d.Tell(&messages.SettingsChanged{Settings: messages.Settings{ClusterEvictionRate: 0.1}})
	require.Equal(t, []string{"b/e1"}, gone(n))
	n.Told(bindingAt("c"), slowed("e1", "cluster e1 is left at 0.1 evictions a second"))
}
