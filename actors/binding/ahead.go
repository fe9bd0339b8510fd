package binding

// ReadAhead reads a piece of each line of memory that nearly every message looks at, for the host to do so in time. The
// number means nothing.
func (b *Binding) ReadAhead() int {
	n := len(b.policy) + len(b.targets) + int(b.placements) + len(b.affinity) + b.lastScheduled.Nanosecond()
	for i := range b.targets {
		n += int(b.targets[i].replicas) + len(b.targets[i].taints)
	}
	for i := range b.copies {
		n += int(b.copies[i].replicas) + int(b.copies[i].ready)
	}
	for i := range b.tasks {
		n += len(b.tasks[i].FromCluster)
	}
	return n
}
