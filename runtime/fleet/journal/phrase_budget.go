package journal

import (
	"fmt"

	"leeward/messages"
)

// budget says how many disruptions a budget allows. One that evictions wait for is a warning.
func budget(f *messages.BudgetChanged) Phrase {
	s, say := &f.Status, detail
	why := fmt.Sprintf("%d of %d replicas available, %d required", s.CurrentHealthy, s.ExpectedReplicas, s.DesiredHealthy)
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
	return say("allows", fmt.Sprintf("%d disruptions", s.DisruptionsAllowed), why).about("budget " + string(f.Budget))
}
