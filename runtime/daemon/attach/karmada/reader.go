package karmada

import (
	"context"
	"errors"
	"sync"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
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
}

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
	running.Wait()
}
