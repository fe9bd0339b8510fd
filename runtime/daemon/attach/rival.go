package attach

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Rival is another controller that evicts pods for the taints of their nodes. Beside one Leeward does not act.
type Rival struct {
	// Who it is, and what shows that it acts.
	Who, Evidence string
}

func (r *Rival) Error() string {
	return fmt.Sprintf("another controller evicts pods for NoExecute taints here: %s (%s); start the kube-controller-manager with --controllers=*,-%s, "+
		"then start leewardd again", r.Who, r.Evidence, taintManager)
}

// quiet is for how long no other controller may have evicted a pod before Leeward acts.
const quiet = 2 * time.Minute

// rivalOf is the rival that a pod shows: it is one, or was marked by one after an instant, to the second, as marks are. nil: it shows none.
func rivalOf(p *corev1.Pod, after time.Time) *Rival {
	if isControllerManager(p) {
		if runs, known := evictsForTaints(p); known && runs {
			return &Rival{Who: "pod " + string(podName(p)), Evidence: "its command does not switch the controller off"}
		}
	}
	if m := markOf(p); m != nil && !m.ours() && !m.at.Before(after.Truncate(time.Second)) {
		return &Rival{
			Who: m.by, Evidence: fmt.Sprintf("it marked pod %s at %s; Leeward acts when none was marked for %s", podName(p), m.at.UTC().Format(time.RFC3339), quiet),
		}
	}
	return nil
}

// rival looks for one among all pods; nil: there is none.
func (a *Attachment) rival() *Rival {
	after := a.config.Clock.Now().Add(-quiet)
	var found *Rival
	for _, p := range a.watched.allPods() {
		if r := rivalOf(p, after); r != nil && (found == nil || r.Evidence < found.Evidence) {
			found = r
		}
	}
	return found
}
