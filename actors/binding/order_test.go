package binding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
	"leeward/messages/api"
)

func TestTheOrderOfMessagesAtOneInstantDoesNotMatter(t *testing.T) {
	for profile, change := range map[string]func(*messages.Settings){
		"evict first":       func(*messages.Settings) {},
		"destination first": destinationFirst,
		"with re-lists":     relisting,
		"karmada's timers":  karmadasTimers,
	} {
		t.Run(profile, func(t *testing.T) {
			var first []actorstest.Outcome
			actorstest.EveryWay(func(choose actorstest.Choose) {
				policy := toleratingUnhealthy(30, api.PurgeGracefully)
				policy.Placement.ClusterTolerations = append(policy.Placement.ClusterTolerations, tolerates("mild", 300))
				b := placed(t, settings(withdrawing, change), policy, "m1:2", "m2:2", "m3:2", "m4:2")
				b.tell(tainted("m4", b.Now(), "down"))
				b.tell(permit("m4"))
				if b.asked.Leaving != nil {
					b.tell(b.replace("m4", "m1:2", "m2:2", "m3:2", "m5:2"))
				} else {
					b.tell(b.place("m1:2", "m2:2", "m3:2", "m5:2"))
				}
				b.advance(time.Second)
				arrivals := actorstest.Interleave(choose,
					[]messages.ToBinding{tainted("m1", b.Now(), "down")},
					[]messages.ToBinding{tainted("m2", b.Now(), "mild")},
					[]messages.ToBinding{healed("m4")},
					[]messages.ToBinding{report("m5", api.Healthy, 2, 5)},
					[]messages.ToBinding{report("m3", api.Unhealthy, 0, 3)},
					[]messages.ToBinding{workload(3)},
				)
				got := []actorstest.Outcome{b.tell(arrivals...).Outcome(), b.advance(30 * time.Second).Outcome(), b.advance(time.Hour).Outcome()}
				if first == nil {
					first = got
				}
				require.Equal(t, first, got, "now and later")
			})
		})
	}
}
