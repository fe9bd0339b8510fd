package kernel

// turnsAhead is how many turns a lane reads ahead. What so many actors look at fits into the first cache.
const turnsAhead = 16

// reader is a machine of which there are so many that none is in the cache when its turn comes.
type reader interface {
	// ReadAhead reads what the machine's next turn will look at, and changes nothing. It returns any number that follows
	// from all that it read, or else the compiler would leave the reading out.
	ReadAhead() int
}

// readsAhead notes whether a machine may be read ahead, of which a lane may have none.
func (l *lane) readsAhead(machine any) (reads bool) {
	_, reads = machine.(reader)
	l.reads = l.reads || reads
	return reads
}

// readAhead fetches what the next turns will look at. A turn waits for each piece of its actor's state, one after the
// other, for the last piece says where the next is. The same piece of several actors is fetched together: a storm
// of 100 000 bindings takes a twelfth less CPU time for it (BenchmarkFailover).
func (l *lane) readAhead() {
	if !l.reads || l.kernel.config.Order != FIFO || l.ready.n < turnsAhead {
		return
	}
	var next [turnsAhead]*cell
	for i := range next {
		next[i] = l.cells.at(*l.ready.at(i))
		l.read += int(next[i].mailbox.first)
	}
	for _, c := range next {
		l.read += int(l.mail.pool[c.mailbox.first].next)
		if c.reads {
			l.read += c.machine.(reader).ReadAhead()
		}
	}
}
