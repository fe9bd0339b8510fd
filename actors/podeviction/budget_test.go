package podeviction_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leeward/actors/actorstest"
	"leeward/messages"
)

var serverAt = messages.Address{Kind: messages.KindAPIServer}

// asked are the evictions that were asked for in the last step.
func (f *fleet) asked() []messages.Message { return actorstest.MailTo(f.Mail(), serverAt) }

func refusal(attempt int, detail string) *messages.PodEvictionAnswered {
	return &messages.PodEvictionAnswered{Pod: self, UID: "u1", Attempt: attempt, Error: "Cannot evict.", Detail: detail, Later: true, Budget: "d/b"}
}

func TestAnEvictionThatHonoursBudgetsWaitsForThem(t *testing.T) {
	rules := leeward
	rules.HonoursBudgets = true
	f := newFleet(t, rules)
	f.tell(pod(), tainted("k"))
	require.Equal(t, []messages.Message{&messages.EvictPod{
		Pod: self, UID: "u1", Attempt: 1, Unready: true, Reason: "DeletionByTaintManager", Message: "deleted because of the taint k:NoExecute",
	}}, f.asked())
	f.tell(refusal(1, "It needs 2."))
	require.Equal(t, []string{"EvictionBlocked"}, f.kinds())
	f.until(3600)
	require.Empty(t, f.asked(), "it waits for the budget")

	f.tell(&messages.PodBudgetAllows{})
	require.Len(t, f.asked(), 1)
	f.tell(refusal(2, "It needs 2."))
	require.Equal(t, []string{"EvictionBlocked"}, f.kinds(), "the same reason is told once")
	f.tell(&messages.PodBudgetAllows{})
	f.tell(refusal(2, "late"))
	f.tell(&messages.PodEvictionAnswered{Pod: self, UID: "u1", Attempt: 3})
	require.Equal(t, []string{"EvictionBlocked", "Evicted"}, f.kinds())
	f.tell(&messages.PodBudgetAllows{})
	require.Empty(t, f.asked(), "it is done")
}

func TestABlockedEvictionIsTakenBackWithItsTaint(t *testing.T) {
	rules := leeward
	rules.HonoursBudgets = true
	f := newFleet(t, rules)
	f.tell(pod(), tainted("k"))
	f.tell(refusal(1, "It needs 2."))
	f.tell(tainted())
	require.Equal(t, []string{"EvictionBlocked", "EvictionCancelled"}, f.kinds())
	f.tell(&messages.PodBudgetAllows{})
	require.Empty(t, f.asked())
}
