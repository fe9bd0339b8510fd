package karmada

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"leeward/runtime/fleet/catalog"
)

// reader follows the kinds of a server into an inbox. client-go's reflectors list, stream lists where the server can, list again after a
// 410, and wait longer from failure to failure.
type reader struct {
	rest  rest.Interface
	clock clock.Clock
	inbox *inbox
	// lost hears that a kind cannot be followed, once until it can again; malformed hears of an object that cannot be read.
	lost      func(k *kind, err error)
	malformed func(error)
	// patience is how long the server may take to answer when it is asked whether it does.
	patience time.Duration
}

// pulsePeriod is how often the server is asked, and patience how long it may take. Together they are well below the time for which an agent
// may be silent.
const pulsePeriod, patience = 5 * time.Second, 10 * time.Second

// run follows all kinds until the context is done.
func (r *reader) run(ctx context.Context, all []*kind) {
	var running sync.WaitGroup
	for _, k := range all {
		s := &source{
			rest: r.rest, kind: k, malformed: r.malformed,
			found: func() { r.inbox.find(k, r.clock.Now()) },
			lost: func(err error) {
				if ctx.Err() == nil && !errors.Is(err, context.Canceled) && !apierrors.IsResourceExpired(err) && r.inbox.lose(k, r.clock.Now(), err) {
					r.lost(k, err)
				}
			},
		}
		lists := &cache.ListWatch{
			ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return s.list(ctx, o) },
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return s.watch(ctx, o) },
		}
		f := cache.NewReflectorWithOptions(lists, nil, &sink{r.inbox, k}, cache.ReflectorOptions{Name: "attach " + k.Plural, TypeDescription: k.Kind.Kind})
		running.Go(func() { f.RunWithContext(ctx) })
	}
	running.Go(func() { r.pulse(ctx) })
	running.Wait()
}

// pulse asks the server for a cluster now and then. One that hangs ends no watch for longer than an agent may be silent, and none of what
// its agents say is heard.
func (r *reader) pulse(ctx context.Context) {
	k := &kind{Resource: catalog.Clusters} // apart from the one that is followed, whose changes say nothing of the others
	s := &source{rest: r.rest, kind: k, malformed: func(error) {}}
	for {
		timer := r.clock.Timer(pulsePeriod)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		asking, end := context.WithTimeout(ctx, r.patience)
		_, err := s.list(asking, metav1.ListOptions{Limit: 1})
		end()
		switch {
		case err == nil:
			r.inbox.find(k, r.clock.Now())
		case ctx.Err() == nil && r.inbox.lose(k, r.clock.Now(), err):
			r.lost(k, err)
		}
	}
}

// readOnly has a client refuse every request that is no read, before it leaves the process.
func readOnly(c *rest.Config) *rest.Config {
	c.Wrap(func(next http.RoundTripper) http.RoundTripper { return reads{next} })
	return c
}

type reads struct{ next http.RoundTripper }

// RoundTrip makes a request.
func (r reads) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s: a daemon in shadow only reads", q.Method, q.URL.Path)
	}
	return r.next.RoundTrip(q)
}
