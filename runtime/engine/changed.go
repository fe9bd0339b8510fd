package engine

// Changed returns a channel that is closed when the next batch is visible, in whichever table, or the store is
// closed: for one who reads several tables at once. Ask for it before reading, or a change between the two is missed.
func (e *Engine) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.changed == nil {
		e.changed = make(chan struct{})
		if e.closed {
			close(e.changed)
		}
	}
	return e.changed
}

// stir tells those who wait for Changed; mu is held.
func (e *Engine) stir() {
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}
