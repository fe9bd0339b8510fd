package kubeapi

import (
	"context"
	"errors"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
)

const (
	// bookmarkEvery is how often a watcher is told how far it is while nothing happens. Source: kube-apiserver.
	bookmarkEvery = time.Minute
	// progressEvery is how often one is that asks for its progress. Source: what kube-apiserver asks of etcd.
	progressEvery = 5 * time.Second
	// bookmarkBefore is how long before its end a watch is told once more.
	bookmarkBefore = 2 * time.Second
	// undelivered is how many events may wait for a client.
	undelivered = 100
)

// Watch follows the objects under a key, or the one at it, from a version on. A version that is no longer at hand,
// or not reached yet, ends the watch with an event that says so.
func (s *tableStorage) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	key, err := storage.PrepareKey(s.prefix, key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	version, err := s.ParseResourceVersion(opts.ResourceVersion)
	if err != nil {
		return nil, badVersion(err)
	}
	if err := s.reached(ctx, opts.ResourceVersion); err != nil && !storage.IsTooLargeResourceVersion(err) {
		return nil, err // one that is not reached ends the watch, once it has begun
	}
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{tableStorage: s, ctx: ctx, stop: stop, key: key, opts: opts, events: make(chan watch.Event, undelivered)}
	// where it begins is fixed before the call returns: what is written afterwards is seen
	snapshot, failed := w.begin(int64(version))
	go w.run(snapshot, failed)
	utilflowcontrol.WatchInitialized(ctx)
	return w, nil
}

// watcher is one client's watch: a cursor in the table's ring.
type watcher struct {
	*tableStorage
	ctx    context.Context
	stop   context.CancelFunc
	key    string
	opts   storage.ListOptions
	cursor *engine.Cursor
	events chan watch.Event
}

func (w *watcher) Stop()                          { w.stop() }
func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

// begin places the cursor. It returns the objects to tell first, nil for none.
func (w *watcher) begin(version int64) (*engine.Snapshot, error) {
	asked := w.opts.SendInitialEvents
	if asked == nil && version == 0 || asked != nil && *asked {
		snapshot, cursor := w.table.SnapshotAndWatch()
		w.cursor = cursor
		if version > snapshot.Version {
			return nil, &engine.Ahead{Version: version, Current: snapshot.Version}
		}
		return &snapshot, nil
	}
	if version == 0 {
		_, w.cursor = w.table.SnapshotAndWatch()
		return nil, nil
	}
	cursor, err := w.table.Watch(version)
	w.cursor = cursor
	return nil, err
}

func (w *watcher) run(snapshot *engine.Snapshot, err error) {
	defer close(w.events)
	defer w.stop()
	if snapshot != nil {
		w.tell(*snapshot)
	}
	if err == nil {
		err = w.follow()
	}
	if status := watchError(err); status != nil && w.ctx.Err() == nil {
		w.send(watch.Event{Type: watch.Error, Object: status})
	}
}

// tell sends the objects as they stand, and that these are all, if the client has asked for it.
func (w *watcher) tell(snapshot engine.Snapshot) {
	if o := snapshot.Get(w.key); !w.opts.Recursive {
		w.tellOf(o)
	}
	if w.opts.Recursive {
		for _, o := range snapshot.Under(w.key, "") {
			w.tellOf(o)
		}
	}
	if w.opts.SendInitialEvents != nil && w.opts.Predicate.AllowWatchBookmarks {
		w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
}

// tellOf sends an object that is selected.
func (w *watcher) tellOf(o engine.Object) {
	o, err := w.shown(o)
	if err == nil && w.selects(o) {
		w.send(watch.Event{Type: watch.Added, Object: w.toSend(o)})
	}
}

// follow sends what changes until the client or the store has had enough.
func (w *watcher) follow() error {
	next := w.nextBookmark()
	for {
		ctx, cancel := context.WithDeadline(w.ctx, next)
		changes, err := w.cursor.Next(ctx)
		cancel()
		for i := range changes {
			w.change(&changes[i])
		}
		if !w.clock.Now().Before(next) {
			w.bookmark(nil)
			next = w.nextBookmark()
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) || w.ctx.Err() != nil {
			return err
		}
	}
}

// nextBookmark is in a minute, or shortly before the watch ends, or in seconds where that is asked for.
func (w *watcher) nextBookmark() time.Time {
	now := w.clock.Now()
	next := now.Add(bookmarkEvery)
	if w.opts.ProgressNotify {
		next = now.Add(progressEvery)
	}
	if end, ends := w.ctx.Deadline(); ends {
		if last := end.Add(-bookmarkBefore); last.After(now) && last.Before(next) {
			return last
		}
	}
	return next
}

// change sends what a change is to those who see only what they have selected: an object that is no longer
// selected is deleted, and one that is selected now is new.
func (w *watcher) change(c *engine.Change) {
	if !w.covers(c.Key) {
		return
	}
	is, was := w.selected(c.Object), w.selectedBefore(c)
	switch {
	case is && was:
		w.send(watch.Event{Type: watch.Modified, Object: w.standing(c)})
	case is:
		w.send(watch.Event{Type: watch.Added, Object: w.standing(c)})
	case was:
		w.send(watch.Event{Type: watch.Deleted, Object: w.gone(c)})
	}
}

// standing is what a change made of an object.
func (w *watcher) standing(c *engine.Change) runtime.Object {
	return w.shares.of(c.Version, false, func() *shared {
		if w.codec != nil {
			o, _ := w.shown(c.Object) // it was just selected, and so can be read
			return &shared{Object: w.toSend(o)}
		}
		return &shared{Object: w.toSend(c.Object), logged: c.Text, wrappings: &w.shares.wrappings}
	})
}

// gone is an object as it was before a change, at the version of the change.
func (w *watcher) gone(c *engine.Change) runtime.Object {
	return w.shares.of(c.Version, true, func() *shared {
		last, _ := w.shown(c.Previous()) // as above
		last = w.toSend(last)
		last.SetResourceVersion(strconv.FormatInt(c.Version, 10))
		return &shared{Object: last}
	})
}

// toSend returns a copy that the server may put a kind on; what it points to is only read.
func (w *watcher) toSend(o engine.Object) engine.Object {
	if w.codec != nil { // shown made one
		return o
	}
	c := api.Shallow(o)
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return c
}

func (w *watcher) covers(key string) bool {
	if w.opts.Recursive {
		return len(key) > len(w.key) && key[:len(w.key)] == w.key
	}
	return key == w.key
}

// selected reports whether an object of the table is selected, and can be read.
func (w *watcher) selected(o engine.Object) bool {
	o, err := w.shown(o)
	return err == nil && w.selects(o)
}

// selects is selected of an object as it is sent.
func (w *watcher) selects(o engine.Object) bool {
	if o == nil {
		return false
	}
	matched, err := w.opts.Predicate.Matches(o)
	return err == nil && matched
}

// selectedBefore spares looking at what was stored before where everything is selected.
func (w *watcher) selectedBefore(c *engine.Change) bool {
	if c.New() || w.opts.Predicate.Empty() {
		return !c.New()
	}
	return w.selected(c.Previous())
}

// bookmark tells the client how far it is.
func (w *watcher) bookmark(annotations map[string]string) {
	if !w.opts.Predicate.AllowWatchBookmarks && !w.opts.ProgressNotify {
		return
	}
	o := w.fresh()
	o.SetAnnotations(annotations)
	if err := w.UpdateObject(o, uint64(w.cursor.Version())); err == nil {
		w.send(watch.Event{Type: watch.Bookmark, Object: o})
	}
}

func (w *watcher) send(e watch.Event) {
	select {
	case w.events <- e:
	case <-w.ctx.Done():
	}
}

// watchError is what ends a watch; nil where nothing went wrong. A version that was never reached is one of before
// the store was emptied, so it is too old, too.
func watchError(err error) runtime.Object {
	ahead, expired := new(engine.Ahead), new(engine.Expired)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, engine.ErrClosed):
		return nil
	case errors.As(err, &expired), errors.As(err, &ahead):
		return &apierrors.NewResourceExpired(err.Error()).ErrStatus
	default:
		return &apierrors.NewInternalError(err).ErrStatus
	}
}
