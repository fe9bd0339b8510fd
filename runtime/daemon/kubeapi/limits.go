package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/benbjohnson/clock"
	"golang.org/x/sync/semaphore"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"
)

const (
	// requestsOfUser is how many requests of one user are served at the same time, half of the seats of a level: requests
	// that last cannot take all of them.
	requestsOfUser = 64
	// watchesOfUser is how many watches one user may have.
	watchesOfUser = 256
	// writesOfObject is how many writes of one user to one object may wait for each other. A patch of a megabyte takes a
	// processor for seconds, and 75 times its size in memory.
	writesOfObject = 16
	// retryAfter is how many seconds a refused client should wait before it tries again.
	retryAfter = 1
)

// limits are what one user may have of a server at the same time.
type limits struct {
	requests, watches *turns
	// writes has the writes of a user to an object go one after the other, and computing has only so many of his writes
	// compute at the same time: what they wait for is a processor.
	writes, computing *turns
}

func newLimits() *limits {
	return &limits{
		requests: newTurns(requestsOfUser, 0), watches: newTurns(watchesOfUser, 0),
		writes: newTurns(1, writesOfObject-1), computing: newTurns(runtime.GOMAXPROCS(0), math.MaxInt32),
	}
}

// limiting has requests be served by a chain of Kubernetes' server in which users get their seats in turn, and none more
// than limits allow.
func (s *Server) limiting(generic *server.Config) {
	generic.FlowControl = newFairness()
	generic.BuildHandlerChainFunc = func(served http.Handler, c *server.Config) http.Handler {
		if s.config.Member != nil {
			served = s.passing(served, c.Serializer)
		}
		chain := withBodiesInTime(server.DefaultBuildHandlerChain(s.limits.apply(served, c), c), c.RequestTimeout, s.config.Clock)
		if s.page != nil {
			return s.page.before(chain)
		}
		return chain
	}
}

// apply refuses what is more than one user may have. An unknown user may only ask whether the daemon is well.
func (l *limits) apply(served http.Handler, c *server.Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, _ := request.RequestInfoFrom(r.Context())
		if !info.IsResourceRequest && slices.Contains(healthPaths, info.Path) {
			served.ServeHTTP(w, r)
			return
		}
		most, what := l.requests, "requests under way"
		if c.LongRunningFunc(r, info) {
			most, what = l.watches, "watches"
		}
		end, err := take(r.Context(), most, "")
		if err != nil {
			refused := apierrors.NewTooManyRequests(fmt.Sprintf("one user may have %d %s", most.together, what), retryAfter)
			responsewriters.ErrorNegotiated(refused, c.Serializer, schema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}, w, r)
			return
		}
		defer end()
		served.ServeHTTP(w, r)
	})
}

// take has a user take a turn at something. What the server does by itself takes none.
func take(ctx context.Context, t *turns, at string) (end func(), err error) {
	u, known := request.UserFrom(ctx)
	if !known {
		return func() {}, nil
	}
	return t.take(ctx, u.GetName()+" "+at)
}

// write waits until a user's write to an object may begin. Others of his to the same object wait until end is called.
func (l *limits) write(ctx context.Context, key string) (end func(), err error) {
	end, err = take(ctx, l.writes, key)
	if errors.Is(err, errTooMany) {
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("%d writes of one user to %s wait for each other already", writesOfObject, key), retryAfter)
	}
	return end, err
}

// compute computes what will be written, unless the request is cut off before.
func (l *limits) compute(ctx context.Context, what func() (kruntime.Object, *uint64, error)) (kruntime.Object, *uint64, error) {
	end, err := take(ctx, l.computing, "")
	if err != nil {
		return nil, nil, err
	}
	defer end()
	return what()
}

// withBodiesInTime cuts off bodies that are not read in the time that a request has. Kubernetes' server answers such a
// request, and then waits for the rest of the body, as long as a byte comes now and then.
func withBodiesInTime(served http.Handler, most time.Duration, c clock.Clock) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// the error is that of a writer that has no deadlines, which a connection has
			_ = http.NewResponseController(w).SetReadDeadline(c.Now().Add(lasts(r, most)))
		}
		served.ServeHTTP(w, r)
	})
}

// lasts is how long a request may take: as long as it says, and no longer than any.
func lasts(r *http.Request, most time.Duration) time.Duration {
	if asked, err := time.ParseDuration(r.URL.Query().Get("timeout")); err == nil && asked > 0 {
		return min(asked, most)
	}
	return most
}

// turns lets, of all that give the same key, so many proceed at the same time, and so many more wait for them, in the
// order in which they came.
type turns struct {
	together, waiting int

	mu    sync.Mutex
	lines map[string]*line
}

// line is one key's.
type line struct {
	*semaphore.Weighted
	// length counts what proceeds and what waits.
	length int
}

func newTurns(together, waiting int) *turns {
	return &turns{together: together, waiting: waiting, lines: map[string]*line{}}
}

// errTooMany says that as many wait as may.
var errTooMany = errors.New("too many are waiting")

// take waits for a turn, which lasts until end is called. The error is errTooMany or the context's.
func (t *turns) take(ctx context.Context, key string) (end func(), err error) {
	l := t.join(key)
	if l == nil {
		return nil, errTooMany
	}
	if err := l.Acquire(ctx, 1); err != nil {
		t.leave(key, l)
		return nil, err
	}
	return func() {
		l.Release(1)
		t.leave(key, l)
	}, nil
}

func (t *turns) join(key string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lines[key]
	if l == nil {
		l = &line{Weighted: semaphore.NewWeighted(int64(t.together))}
		t.lines[key] = l
	}
	if l.length == t.together+t.waiting {
		return nil
	}
	l.length++
	return l
}

func (t *turns) leave(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.length--; l.length == 0 {
		delete(t.lines, key)
	}
}
