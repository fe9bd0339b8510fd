package engine

import (
	"time"

	"github.com/benbjohnson/clock"
)

// alarm rings once, at the next expiry.
type alarm struct {
	clock clock.Clock
	// rings is nil, and so never received from, while the alarm is not set.
	rings <-chan time.Time
	at    int64 // 0: not set
}

// set moves the alarm, if it is not there already. What it was set to before rings without a listener.
func (a *alarm) set(at int64) {
	if at != a.at {
		a.rings, a.at = a.clock.After(max(0, time.Unix(0, at).Sub(a.clock.Now()))), at
	}
}

// expiry is when an object goes by itself.
type expiry struct {
	at, version int64
	key         string
}

func byExpiry(a, b expiry) bool { return a.at < b.at || a.at == b.at && a.key < b.key }

// reschedule lets a change take the place of the object that it replaces among those that expire.
func (e *Engine) reschedule(old, changed item) {
	if !old.none() && old.expires != 0 {
		e.expiring.Delete(expiry{at: old.expires, key: old.key})
	}
	if changed.expires != 0 {
		e.expiring.ReplaceOrInsert(expiry{changed.expires, changed.version, changed.key})
	}
}

// expire deletes what is due, the oldest first, as far as one batch goes. It runs between two batches:
// nothing else can change meanwhile.
func (e *Engine) expire(b *batch) {
	due := e.due(syncedTogether)
	if len(due) == 0 {
		return
	}
	b.commits = append(b.commits, &commit{writes: due, done: make(chan error, 1)})
	e.commit(b)
}

// due are deletions of what is due, the oldest first, so many at most.
func (e *Engine) due(most int) (writes []Write) {
	now := e.clock.Now().UnixNano()
	e.mu.RLock()
	defer e.mu.RUnlock()
	e.expiring.Ascend(func(i expiry) bool {
		if i.at > now || len(writes) == most {
			return false
		}
		writes = append(writes, Delete(i.key, i.version))
		return true
	})
	return writes
}
