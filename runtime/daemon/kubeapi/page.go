package kubeapi

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/benbjohnson/clock"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server"

	"leeward/runtime/daemon/picture"
	"leeward/runtime/fleet/catalog"
)

// Page is the live page, which is served at /ui.
type Page struct {
	// Files are its parts, by name; index.html is the page. A browser gets them without a sign-in: they tell nothing of the fleet.
	Files map[string][]byte
	// Explain answers why one object is as it is, in JSON. The error says what is wrong with the question, if it is an
	// *ExplainError.
	Explain func(ctx context.Context, kind, name string) (any, error)
}

// ExplainError says what is wrong with a question.
type ExplainError struct{ Problem error }

func (e *ExplainError) Error() string { return e.Problem.Error() }

// Unwrap returns the problem.
func (e *ExplainError) Unwrap() error { return e.Problem }

const (
	pagePath    = "/ui/"
	watchPath   = pagePath + "data/watch"
	explainPath = pagePath + "data/explain"
	searchPath  = pagePath + "data/search"
	pastPath    = pagePath + "data/past"

	// viewLasts is how long a viewer is told before he must ask again, and with it how long after its end a token still shows him
	// anything.
	viewLasts = 10 * time.Minute
	// readsWithin is how long a viewer may take to read a message.
	readsWithin = 10 * time.Second
	// explainsWithin is how long an explanation may take, and explanationsWait how many may wait for the one that is made.
	explainsWithin   = 15 * time.Second
	explanationsWait = 7
	// searchesWithin is how long a search may take, and searchesWait how many may wait for the one that is made.
	searchesWithin = 5 * time.Second
	searchesWait   = 31
	// pastWithin is how long it may take to tell the past, and pastsWait how many may wait for it.
	pastWithin = 5 * time.Second
	pastsWait  = 31
)

// pageTypes are the types of the files of the page, by their extensions.
var pageTypes = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// pagePolicy has the page run its own scripts, ask its own server, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// live serves the page.
type live struct {
	*Page
	hub    *picture.Hub
	access authorizer.Authorizer
	clock  clock.Clock
}

func newLive(c *Config) *live {
	return &live{Page: c.Page, hub: picture.New(c.Engine, c.Clock), access: newRoles(c.Engine), clock: c.Clock}
}

// before serves the files to every browser, and all else by the chain of handlers that knows its users. That chain ends a connection
// with its answer to a client that is not known, and a browser asks for several files together.
func (l *live) before(chain http.Handler) http.Handler {
	open := map[string]http.Handler{"/ui": guarded(http.RedirectHandler(pagePath, http.StatusFound)), pagePath: l.file(".html", l.Files["index.html"])}
	for name, text := range l.Files { // order-free: each has its own place
		open[pagePath+name] = l.file(path.Ext(name), text)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if served := open[r.URL.Path]; served != nil {
			served.ServeHTTP(w, r)
			return
		}
		chain.ServeHTTP(w, r)
	})
}

// serve has the server serve what the page asks for.
func (l *live) serve(s *server.GenericAPIServer) {
	mux := s.Handler.NonGoRestfulMux
	mux.Handle(watchPath, guarded(l.allowed(l.watch)))
	mux.Handle(explainPath, guarded(l.allowed(l.answers(&question{
		what: "explanation", within: explainsWithin, slow: "leeward explain has no such limit", all: newTurns(1, explanationsWait), users: newTurns(1, 1),
		answer: func(ctx context.Context, q url.Values) (any, error) {
			return l.Explain(ctx, q.Get("kind"), q.Get("name"))
		},
	}))))
	mux.Handle(searchPath, guarded(l.allowed(l.answers(&question{
		what: "search", within: searchesWithin, slow: "kubectl get has no such limit", all: newTurns(1, searchesWait), users: newTurns(1, 1),
		answer: func(ctx context.Context, q url.Values) (any, error) { return l.hub.Search(ctx, q.Get("q")) },
	}))))
	mux.Handle(pastPath, guarded(l.allowed(l.answers(&question{
		what: "past", within: pastWithin, slow: "the page shows the present without it", all: newTurns(1, pastsWait), users: newTurns(1, 1),
		answer: func(context.Context, url.Values) (any, error) { return l.hub.Past(), nil },
	}))))
}

// guarded gives every answer the headers that keep the page to itself.
func guarded(served http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.Method != http.MethodGet {
			h.Set("Allow", http.MethodGet)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		served.ServeHTTP(w, r)
	})
}

func (l *live) file(extension string, text []byte) http.Handler {
	packed := pack(text, gzip.BestCompression)
	return guarded(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", pageTypes[extension])
		h.Set("Cache-Control", "no-cache")
		_ = l.sendPacked(w, r, text, func() []byte { return packed }) // who has gone misses nothing
	}))
}

func pack(text []byte, level int) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, level) // there is that level
	_, _ = w.Write(text)                        // into memory
	_ = w.Close()
	return packed.Bytes()
}

// sendPacked sends a text, compressed to clients that read that.
func (l *live) sendPacked(w http.ResponseWriter, r *http.Request, text []byte, packed func() []byte) error {
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		text = packed()
	}
	return l.send(w, text)
}

// send writes to a client that reads in time. Its connection, which may serve other requests afterwards, keeps no deadline.
func (l *live) send(w http.ResponseWriter, text []byte) error {
	out := http.NewResponseController(w)
	if err := out.SetWriteDeadline(l.clock.Now().Add(readsWithin)); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return out.SetWriteDeadline(time.Time{})
}

// shows are what the picture shows: only who may list all of it may see it.
var shows = []*catalog.Resource{catalog.Clusters, catalog.Bindings, catalog.ClusterBindings, catalog.Governors}

// allowed serves those who may see the picture. A certificate in a browser goes with requests of other sites, too: those are refused.
func (l *live) allowed(serve func(http.ResponseWriter, *http.Request, string) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, _ := request.UserFrom(r.Context())
		err := l.may(r)
		if err == nil {
			err = serve(w, r, u.GetName())
		}
		if err != nil {
			status := responsewriters.ErrorToAPIStatus(err)
			responsewriters.WriteRawJSON(int(status.Code), status, w)
		}
	})
}

func (l *live) may(r *http.Request) error {
	if from := r.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" && from != "none" {
		return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("a page of another site asks for the picture of the fleet"))
	}
	u, known := request.UserFrom(r.Context())
	if !known {
		return apierrors.NewUnauthorized("the live page shows the fleet to known users only")
	}
	for _, resource := range shows {
		name := resource.Name()
		decision, _, err := l.access.Authorize(r.Context(), authorizer.AttributesRecord{
			User: u, Verb: "list", APIGroup: name.Group, APIVersion: resource.Kind.Version, Resource: name.Resource, ResourceRequest: true,
		})
		if err != nil || decision != authorizer.DecisionAllow {
			return apierrors.NewForbidden(name, "", fmt.Errorf("the live page shows the whole fleet: user %q must be allowed to list %s in all namespaces", u.GetName(), name))
		}
	}
	return nil
}

// watch tells a viewer how the fleet is, by server-sent events: "picture" with a message of package picture, and "end" with the reason
// why there are no more.
func (l *live) watch(w http.ResponseWriter, r *http.Request, user string) error {
	v, err := l.hub.Join(user)
	if err != nil {
		return apierrors.NewTooManyRequests(err.Error(), retryAfter)
	}
	defer v.Leave()
	ctx, cancel := l.clock.WithTimeout(r.Context(), viewLasts)
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(event string, text []byte) error {
		return l.send(w, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, text))
	}
	for {
		text, err := v.Next(ctx)
		if err != nil {
			_ = send("end", ending(err)) // who has gone misses nothing
			return nil
		}
		if err := send("picture", text); err != nil {
			return nil
		}
	}
}

// lasting has a viewer be served for longer than other requests may take.
func lasting(others request.LongRunningRequestCheck) request.LongRunningRequestCheck {
	return func(r *http.Request, info *request.RequestInfo) bool {
		return !info.IsResourceRequest && info.Path == watchPath || proxied(info) || others(r, info)
	}
}

// ending says why a viewer is told no more, so that he knows whether to ask again.
func ending(err error) []byte {
	switch {
	case errors.Is(err, picture.ErrSlow):
		return []byte(`{"reason":"slow"}`)
	case errors.Is(err, picture.ErrStopping):
		return []byte(`{"reason":"stopping"}`)
	}
	return []byte(`{"reason":"renew"}`)
}

// question is what a viewer may ask. One is answered at a time, and one of each user.
type question struct {
	// what is what answers are called, within how long one may take, and slow what a user can do where it takes longer.
	what, slow string
	within     time.Duration
	all, users *turns
	answer     func(ctx context.Context, q url.Values) (any, error)
}

// answers a question.
func (l *live) answers(q *question) func(http.ResponseWriter, *http.Request, string) error {
	return func(w http.ResponseWriter, r *http.Request, user string) error {
		ctx, cancel := l.clock.WithTimeout(r.Context(), q.within)
		defer cancel()
		for _, line := range []struct {
			turns *turns
			key   string
		}{{q.users, user}, {q.all, ""}} {
			end, err := line.turns.take(ctx, line.key)
			if err != nil {
				return apierrors.NewTooManyRequests("another "+q.what+" is being made", retryAfter)
			}
			defer end()
		}
		answer, err := q.answer(ctx, r.URL.Query())
		var wrong *ExplainError
		var asked *picture.AskedError
		switch {
		case errors.As(err, &wrong), errors.As(err, &asked):
			return apierrors.NewBadRequest(err.Error())
		case ctx.Err() != nil:
			return apierrors.NewTimeoutError(fmt.Sprintf("the %s took longer than %s; %s", q.what, q.within, q.slow), retryAfter)
		case err != nil:
			return apierrors.NewInternalError(err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			return apierrors.NewInternalError(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = l.sendPacked(w, r, text, func() []byte { return pack(text, gzip.BestSpeed) }) // who has gone misses nothing
		return nil
	}
}
