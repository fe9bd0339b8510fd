package journal

import (
	"fmt"

	"leeward/messages"
)

// stands says how a budget stands. One that evictions wait for is a warning.
func stands(f *messages.BudgetChanged) Phrase {
	s, say := &f.Status, detail
	why := fmt.Sprintf("%d of %d replicas serve, %d have to", s.CurrentHealthy, s.ExpectedReplicas, s.DesiredHealthy)
	moved := int64(0)
	for _, m := range s.Moved {
		moved += m.Replicas
	}
	if moved > 0 {
		why += fmt.Sprintf(", %d moved", moved)
	}
	switch {
	case s.Waiting == 1:
		say, why = warning, why+"; 1 eviction waits"
	case s.Waiting > 1:
		say, why = warning, why+fmt.Sprintf("; %d evictions wait", s.Waiting)
	}
	return say("allows", fmt.Sprintf("%d more", s.DisruptionsAllowed), why).about("budget " + string(f.Budget))
}
