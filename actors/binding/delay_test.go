package binding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
)

func TestADepartureSaysOnceWhatKeepsItWaitingForItsPermit(t *testing.T) {
	b := placed(t, settings(), duplicated(), "m1:2", "m2:2")
	slow := &messages.EvictionDelayed{Cluster: "m1", Reason: "EvictionRate", Message: "the fleet is limited to 1 evictions a second"}
	b.tell(slow).Quiet()
	b.tell(tainted("m1", b.Now(), "down"))
	held := actorstest.FactsOf[*messages.EvictionBlocked](b.tell(slow).Facts())
	require.Len(t, held, 1)
	require.Equal(t, slow.Message, held[0].Message)
	require.Equal(t, "down", held[0].Grounds.Taint.Key)
	b.tell(slow).Quiet()
	require.Contains(t, kinds(b.tell(permit("m1"))), "EvictionStarted")
	b.tell(slow).Quiet()
}
