package live

import (
	"fmt"
	"os"

	"leeward/messages/api"
)

// traced prints a line, and before it what was written since the last, where -writers.trace asks for that.
func (w *writers) traced(format string, args ...any) {
	if w.follows == nil {
		return
	}
	for _, c := range w.follows.Take() {
		said := "deleted"
		switch o := c.Object.(type) {
		case nil:
		case *api.Work:
			said = fmt.Sprintf("generation %d, deleted %v, uid %s, %d statuses", o.Generation, o.DeletionTimestamp, o.UID, len(o.Status.ManifestStatuses))
		case *api.ResourceBinding:
			said = fmt.Sprintf("generation %d, %+v %+v", o.Generation, o.Spec.Clusters, o.Spec.GracefulEvictionTasks)
		case *api.Cluster:
			said = fmt.Sprintf("generation %d, deleted %v, %+v", o.Generation, o.DeletionTimestamp, o.Spec.Taints)
		default:
			said = fmt.Sprintf("generation %d", o.GetGeneration())
		}
		fmt.Fprintf(os.Stderr, "    store %d %s: %s\n", c.Version, c.Key, said)
	}
	fmt.Fprintf(os.Stderr, format+"\n", args...)
}
