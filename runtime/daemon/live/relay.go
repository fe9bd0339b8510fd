package live

// partsOnTheWay is how many parts are encoded, queued or synced while the next is gathered: enough for none of these to
// wait for another.
const partsOnTheWay = 8

// relay commits parts in their order: while some are encoded and synced the next is gathered. No two parts have the same
// object.
type relay struct {
	fleet *Fleet
	part  []pending // that is gathered by addOne
	// leaving are handed to who has them encoded and queued, one after the other; answers are awaited in the same order,
	// that of the parts that are on the way. Both are nil before the first.
	leaving  chan []pending
	answers  chan func() error
	onTheWay [][]pending

	err error
}

func (r *relay) addOne(p pending) {
	if r.part = append(r.part, p); len(r.part) == flushedTogether {
		r.add(r.part)
		r.part = nil
	}
}

// add has a part committed while its caller goes on, unless that takes several steps.
func (r *relay) add(part []pending) {
	switch {
	case r.err != nil || len(part) == 0:
	case r.fleet.config.Shadow || len(part) > r.fleet.config.Engine.Batch():
		r.arriveAll()
		r.err = r.fleet.commit(part)
	default:
		r.leave(part)
	}
}

func (r *relay) leave(part []pending) {
	if r.leaving == nil {
		r.leaving, r.answers = make(chan []pending, partsOnTheWay), make(chan func() error, partsOnTheWay)
		go r.fleet.begin(r.leaving, r.answers)
	}
	if len(r.onTheWay) == partsOnTheWay {
		r.arrive()
	}
	r.onTheWay = append(r.onTheWay, part)
	r.leaving <- part
}

// begin has parts encoded and queued until there are no more.
func (f *Fleet) begin(parts <-chan []pending, answers chan<- func() error) {
	for part := range parts {
		answers <- f.feed.Begin(f.config.Term, writes(part)...)
	}
}

// arrive waits for the part that has been on the way for longest.
func (r *relay) arrive() {
	part, end := r.onTheWay[0], <-r.answers
	r.onTheWay = r.onTheWay[1:]
	if err := end(); r.err == nil {
		r.err = r.fleet.answered(part, err)
	}
}

func (r *relay) arriveAll() {
	for len(r.onTheWay) > 0 {
		r.arrive()
	}
}

// end waits for all parts. Error: of the first that failed.
func (r *relay) end() error {
	r.add(r.part)
	r.arriveAll()
	if r.leaving != nil {
		close(r.leaving)
	}
	return r.err
}
