package engine

import (
	"errors"
	"fmt"
)

// ErrClosed is the answer to writers and watchers once the engine is closed.
var ErrClosed = errors.New("the store is closed")

// Conflict says that an object is not what a write expected. Zero means no object: to create one
// that is there has Expected 0, to change one that is gone has Actual 0. The writer reads again.
type Conflict struct {
	Key              string
	Expected, Actual int64
}

func (c *Conflict) Error() string {
	switch {
	case c.Expected == 0:
		return fmt.Sprintf("%s exists already, at version %d", c.Key, c.Actual)
	case c.Actual == 0:
		return fmt.Sprintf("%s does not exist; version %d was expected", c.Key, c.Expected)
	default:
		return fmt.Sprintf("%s is at version %d; version %d was expected", c.Key, c.Actual, c.Expected)
	}
}

// Expired says that the changes after a version are no longer at hand; Oldest is the first version whose
// are. Who wants to go on lists again: in HTTP, 410 Gone.
type Expired struct {
	Version, Oldest int64
}

func (e *Expired) Error() string {
	return fmt.Sprintf("version %d is too old: the oldest at hand is %d", e.Version, e.Oldest)
}

// Ahead says that a version has not been reached yet.
type Ahead struct {
	Version, Current int64
}

func (a *Ahead) Error() string {
	return fmt.Sprintf("version %d is ahead of the current version %d", a.Version, a.Current)
}

// ReadOnly is the answer to writers since the log has failed: a sync, or a full disk. What was acknowledged
// before is durable and can be read. It lasts until the store is opened again.
type ReadOnly struct {
	Cause error
}

func (r *ReadOnly) Error() string {
	return fmt.Sprintf("the store is read-only until it is opened again: %v", r.Cause)
}

func (r *ReadOnly) Unwrap() error { return r.Cause }

// Deposed is the answer to a decision of a leader since another one leads the shared store. None of it has happened.
type Deposed struct {
	// Term is that of the decision, Current the one that holds; 0 if no daemon has led yet.
	Term, Current int64
}

func (d *Deposed) Error() string {
	return fmt.Sprintf("another process leads since version %d; this one led since version %d", d.Current, d.Term)
}

// TooLarge says that a shared store takes no commit of that size.
type TooLarge struct {
	Cause error
}

func (t *TooLarge) Error() string { return fmt.Sprintf("too large for the shared store: %v", t.Cause) }

func (t *TooLarge) Unwrap() error { return t.Cause }

// Unreachable says that a shared store has not answered: it is not known whether what should be written will be heard of.
type Unreachable struct {
	Cause error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("the shared store does not answer: %v", u.Cause)
}

func (u *Unreachable) Unwrap() error { return u.Cause }
