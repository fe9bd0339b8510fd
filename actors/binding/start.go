package binding

import (
	"slices"

	"leeward/messages"
)

// starting are the targets on which no copy was healthy yet, while the binding hands over to them, if anybody counts
// them. A hand-over that is overdue keeps nobody else waiting.
func (b *Binding) starting() (clusters []messages.ClusterName) {
	if b.settings.MaxStartingPerCluster == 0 || !slices.ContainsFunc(b.tasks, func(k task) bool { return !k.overdue }) {
		return nil
	}
	for i := range b.targets {
		if c := b.copy(b.targets[i].cluster); c == nil || !c.reported || !c.startingSince.IsZero() {
			clusters = append(clusters, b.targets[i].cluster)
		}
	}
	return clusters
}
