package kernel

import "leeward/messages"

// mailbox is a queue of letters: 8 bytes for each actor, and nothing else while it is empty.
type mailbox struct{ first, last int32 }

func (m mailbox) empty() bool { return m.first == 0 }

// letters is the pool that all mailboxes draw on: linked lists in one slice. Letter 0 is never used, so
// that 0 ends a list. It keeps the memory of the most letters that were ever queued at one time.
type letters struct {
	pool   []letter
	free   int32
	queued uint64
}

type letter struct {
	message messages.Message
	next    int32
	from    int32 // its sender on this lane, or none
}

// noSender is the sender of what comes from outside, or from another lane.
const noSender int32 = -1

func (l *letters) push(box *mailbox, m messages.Message, from int32) {
	i := l.take()
	l.pool[i].message, l.pool[i].from = m, from
	if box.empty() {
		box.first = i
	} else {
		l.pool[box.last].next = i
	}
	box.last = i
	l.queued++
}

func (l *letters) take() int32 {
	if l.free == 0 {
		if len(l.pool) == 0 {
			l.pool = append(l.pool, letter{})
		}
		l.pool = append(l.pool, letter{})
		return int32(len(l.pool) - 1)
	}
	i := l.free
	l.free, l.pool[i].next = l.pool[i].next, 0
	return i
}

// first returns the oldest message of a mailbox that is not empty.
func (l *letters) first(box mailbox) messages.Message { return l.pool[box.first].message }

// sender returns who sent it.
func (l *letters) sender(box mailbox) int32 { return l.pool[box.first].from }

// pop forgets the oldest message of a mailbox that is not empty.
func (l *letters) pop(box *mailbox) {
	i := box.first
	box.first = l.pool[i].next
	l.pool[i] = letter{next: l.free}
	l.free = i
	l.queued--
}

// sift takes the lost messages out of a mailbox, and returns how many those are.
func (l *letters) sift(box *mailbox, lost func(messages.Message) bool) (dropped uint64) {
	kept := mailbox{}
	for !box.empty() {
		m, from := l.first(*box), l.sender(*box)
		if l.pop(box); lost(m) {
			dropped++
			continue
		}
		l.push(&kept, m, from)
	}
	*box = kept
	return dropped
}

// drop empties the mailbox and returns how many messages that cost.
func (l *letters) drop(box *mailbox) (dropped uint64) {
	for ; !box.empty(); dropped++ {
		l.pop(box)
	}
	return dropped
}
