package engine

import (
	"errors"
	"fmt"
)

// ErrClosed is the answer to writers and watchers once the engine is closed.
var ErrClosed = errors.New("the store is closed")

// Conflict says that an object is not what a write expected. Zero stands for no object: to create one
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
