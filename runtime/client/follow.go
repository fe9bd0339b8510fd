package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"leeward/messages/api"
	"leeward/runtime/fleet/catalog"
)

// watchSeconds is how long one watch lasts; the next goes on where it ended.
const watchSeconds = 300

// Watching follows the objects of one resource.
type Watching struct {
	Resource *catalog.Resource
	// Namespace: empty is all of them.
	Namespace string
	Clock     clock.Clock
	// Listed gets all objects that there are, at first and whenever changes may have been missed.
	Listed func([]api.Object)
	// Changed gets each change after that, in order. The object of a deletion is as it was last.
	Changed func(watch.EventType, api.Object)
	// Lost is told why the server cannot be followed any more, once before it is listed again.
	Lost func(error)
}

// Follow tells of objects and their changes until the context ends; a server that is away, or forgot where we were,
// is asked again. The error is that of a list or a watch that the server will not give, now or later.
func (c *Client) Follow(ctx context.Context, w *Watching) error {
	var patience Patience
	lost := false
	for {
		objects, version, err := c.List(ctx, w.Resource, w.Namespace, "")
		if err == nil {
			lost = false
			w.Listed(objects)
			err = c.changes(ctx, w, version)
		}
		switch {
		case ended(ctx):
			return nil
		case Refused(err):
			return err
		case !lost:
			lost = true
			w.Lost(err)
		}
		patience.Wait(ctx, w.Clock)
	}
}

func ended(ctx context.Context) bool { return ctx.Err() != nil }

// changes tells of changes after a version, one watch after the other, and returns why it cannot go on.
func (c *Client) changes(ctx context.Context, w *Watching, version string) error {
	for {
		before := version
		var err error
		if version, err = c.Watch(ctx, &Stretch{w.Resource, w.Namespace, "", version, w.Changed}); err != nil {
			return err
		}
		if version == before {
			return fmt.Errorf("watch %s: %w", w.Resource.Plural, io.ErrUnexpectedEOF) // a server that goes away ends a watch like this, too
		}
	}
}

// Stretch is one watch.
type Stretch struct {
	Resource *catalog.Resource
	// Namespace: empty is all of them. Selector of labels: empty fits any object.
	Namespace, Selector string
	// Version is that after which changes are told.
	Version string
	// Changed gets each change, in order. The object of a deletion is as it was last.
	Changed func(watch.EventType, api.Object)
}

// Watch tells of changes for as long as one watch lasts, and returns the version to go on from, also with an error.
func (c *Client) Watch(ctx context.Context, s *Stretch) (version string, err error) {
	stream, err := c.stream(ctx, s.Resource, s.Namespace, s.Selector, s.Version)
	if err != nil {
		return s.Version, fmt.Errorf("watch %s: %w", s.Resource.Plural, err)
	}
	version, err = s.read(stream)
	_ = stream.Close() // it was only read
	if err != nil {
		return version, fmt.Errorf("watch %s: %w", s.Resource.Plural, err)
	}
	return version, nil
}

// read tells of what a stream says, and returns the version to go on from.
func (s *Stretch) read(stream io.Reader) (string, error) {
	version := s.Version
	events := json.NewDecoder(stream)
	for {
		var e struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		switch err := events.Decode(&e); {
		case errors.Is(err, io.EOF):
			return version, nil
		case err != nil:
			return version, err
		case e.Type == watch.Error:
			var status metav1.Status
			if err := json.Unmarshal(e.Object, &status); err != nil {
				return version, err
			}
			return version, &apierrors.StatusError{ErrStatus: status}
		}
		o, err := decode(s.Resource, e.Object)
		if err != nil {
			return version, err
		}
		version = o.GetResourceVersion()
		if e.Type != watch.Bookmark {
			s.Changed(e.Type, o)
		}
	}
}

// Waits for a server grow from the first to the last of these.
const (
	firstWait = 100 * time.Millisecond
	lastWait  = 5 * time.Second
)

// Patience paces attempts at a server that does not answer as it should. The zero Patience has not waited yet.
type Patience struct {
	next  time.Duration
	since time.Time // the last wait was over
}

// Wait waits before the next attempt, or until the context ends: longer each time, and as at first after an attempt that
// lasted longer than any wait.
func (p *Patience) Wait(ctx context.Context, c clock.Clock) {
	if p.next == 0 || c.Since(p.since) > lastWait {
		p.next = firstWait
	}
	select {
	case <-ctx.Done():
	case <-c.After(p.next):
	}
	p.next, p.since = min(2*p.next, lastWait), c.Now()
}

// Refused reports an error that asking again would not help against.
func Refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}
