package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/messages"
	"leeward/messages/api"
)

func TestHeldEvictions(t *testing.T) {
	hold := func(c messages.ClusterName, reason string, until time.Time) *messages.EvictionHeld {
		return &messages.EvictionHeld{Binding: web, Cluster: c, Reason: reason, Message: "nowhere to go", Until: until}
	}
	for _, c := range []struct {
		name string
		fact messages.Fact
		left []string
	}{
		{"nothing happens", nil, []string{"member1 NoClusterFit", "member2 CoolingDown"}},
		{"another reason takes its place", hold("member2", "NoClusterFit", time.Time{}), []string{"member1 NoClusterFit", "member2 NoClusterFit"}},
		{"the cluster is left", evicting("member2", api.PurgeGracefully), []string{"member1 NoClusterFit"}},
		{"it need not be left", &messages.CountdownStopped{Binding: web, Cluster: "member1"}, []string{"member2 CoolingDown"}},
		{"it need not be left yet", &messages.CountdownStarted{Binding: web, Cluster: "member1"}, []string{"member2 CoolingDown"}},
		{"it is off the result", (&fleet{}).placed("member2"), []string{"member2 CoolingDown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFleet(t)
			f.apply(f.placed("member1", "member2"), hold("member2", "CoolingDown", start.Add(time.Hour)), hold("member1", "NoClusterFit", time.Time{}))
			b := f.Binding(web)
			require.Equal(t, start.Add(time.Hour), b.Status.HeldEvictions[1].Until.Time)
			require.Nil(t, b.Status.HeldEvictions[0].Until)
			shown := b.Status.HeldEvictions
			if c.fact != nil {
				f.apply(c.fact)
			}
			var left []string
			for _, h := range b.Status.HeldEvictions {
				left = append(left, h.Cluster+" "+h.Reason)
			}
			require.Equal(t, c.left, left)
			require.Equal(t, "member2", shown[1].Cluster, "who holds a status may keep it")
		})
	}
}
