package kubeapi

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"

	"leeward/messages/api"
	"leeward/runtime/daemon/engine"
	"leeward/runtime/fleet/catalog"
)

// clusterProxy is below which requests go on to the API servers of members, and passed are the verbs of such requests.
const clusterProxy = "clusters/proxy"

var passed = []string{"get", "create", "update", "patch", "delete"}

// The bounds of requests to members.
const (
	// passedOfUser is how many of one user are under way at the same time.
	passedOfUser = 32
	// passedFor is how long one takes at most, and streamedFor one that lasts: a watch, a log that is followed, a connection.
	passedFor   = time.Minute
	streamedFor = time.Hour
	// mostPassed is how large the body of one is. Source: the largest request that the server takes itself.
	mostPassed = 3 << 20
)

// passer passes requests on to members, by the credentials that the hub has of them.
type passer struct {
	*Server
	turns      *turns
	serializer runtime.NegotiatedSerializer
}

// proxied reports whether a request is for a member.
func proxied(info *request.RequestInfo) bool {
	return info.IsResourceRequest && info.APIGroup == catalog.Clusters.Kind.Group && info.Resource+"/"+info.Subresource == clusterProxy
}

// passing passes on what is for members, once it is known who asks and that he may.
func (s *Server) passing(others http.Handler, serializer runtime.NegotiatedSerializer) http.Handler {
	p := &passer{Server: s, turns: newTurns(passedOfUser, 0), serializer: serializer}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, known := request.RequestInfoFrom(r.Context())
		if !known || !proxied(info) {
			others.ServeHTTP(w, r)
			return
		}
		if err := p.pass(w, r, info); err != nil {
			p.refuse(w, r, err)
		}
	})
}

func (p *passer) refuse(w http.ResponseWriter, r *http.Request, err error) {
	responsewriters.ErrorNegotiated(err, p.serializer, catalog.Clusters.Kind.GroupVersion(), w, r)
}

// pass passes one request on, and its answer back. The error is why it does not.
func (p *passer) pass(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) error {
	path, err := pathInMember(r.URL, info)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if !slices.Contains(passed, info.Verb) {
		return apierrors.NewMethodNotSupported(schema.GroupResource{Group: info.APIGroup, Resource: clusterProxy}, r.Method)
	}
	if r.ContentLength > mostPassed {
		return errTooLarge
	}
	end, err := take(r.Context(), p.turns, "")
	if err != nil {
		return apierrors.NewTooManyRequests(fmt.Sprintf("one user may have %d requests to members under way", passedOfUser), retryAfter)
	}
	defer end()
	at, transport, err := p.member(info.Name)
	if err != nil {
		return err
	}
	defer utilnet.CloseIdleConnectionsFor(transport)
	most := passedFor
	if lasts := r.URL.Query(); r.Header.Get("Upgrade") != "" || wants(lasts, "watch") || wants(lasts, "follow") {
		most = streamedFor
	}
	ctx, cancel := p.config.Clock.WithTimeout(r.Context(), most)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body = http.MaxBytesReader(w, r.Body, mostPassed)
	p.proxy(info.Name, at, path, transport).ServeHTTP(w, r)
	return nil
}

// proxy is what speaks to a member for one request.
func (p *passer) proxy(cluster string, at *url.URL, path string, transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // of connections that end while an answer is passed on
		Rewrite: func(r *httputil.ProxyRequest) {
			to := *at
			to.Path, to.RawPath, to.RawQuery = strings.TrimSuffix(at.Path, "/")+path, "", r.In.URL.RawQuery
			r.Out.URL, r.Out.Host = &to, at.Host
			withoutCaller(r.Out.Header)
		},
		ModifyResponse: func(a *http.Response) error {
			if a.StatusCode >= 300 && a.StatusCode < 400 && a.Header.Get("Location") != "" {
				return errors.New("it answers with a redirect, which is not followed")
			}
			a.Header.Del("Set-Cookie")
			a.Header.Set("Content-Security-Policy", "sandbox") // a page of a member is none of the hub
			a.Header.Set("X-Content-Type-Options", "nosniff")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
				p.refuse(w, r, errTooLarge)
				return
			}
			p.refuse(w, r, unreachable(cluster, err))
		},
	}
}

var errTooLarge = apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("the body has more than %d bytes", mostPassed))

func unreachable(cluster string, err error) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf("cluster %s: the member does not answer: %v", cluster, err))
}

// member is how a cluster in push mode is reached.
func (p *passer) member(cluster string) (*url.URL, http.RoundTripper, error) {
	o, _ := p.config.Engine.Table(catalog.Clusters.Name()).Get(engine.Key(catalog.Clusters.Name(), "", cluster))
	c, is := o.(*api.Cluster)
	if !is {
		return nil, nil, apierrors.NewNotFound(catalog.Clusters.Name(), cluster)
	}
	if c.Spec.SyncMode != api.Push || c.Spec.SecretRef == nil {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("cluster %s is not in push mode with credentials (spec.syncMode, spec.secretRef): requests cannot be passed on to it", cluster))
	}
	held, _ := p.config.Engine.Table(catalog.Secrets.Name()).Get(engine.Key(catalog.Secrets.Name(), api.LeaseNamespace, c.Spec.SecretRef.Name))
	secret, _ := held.(*corev1.Secret)
	at, transport, err := p.config.Member(c, secret)
	if err != nil {
		return nil, nil, apierrors.NewServiceUnavailable(err.Error())
	}
	return at, transport, nil
}

// pathInMember is what follows clusters/NAME/proxy in the path of a request. One that could mean another place is refused.
func pathInMember(at *url.URL, info *request.RequestInfo) (string, error) {
	_, path, found := strings.Cut(at.Path, "/clusters/"+info.Name+"/proxy")
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	bad := func(s string) bool { return s == "." || s == ".." || strings.ContainsAny(s, "\\\x00") }
	switch {
	case !found || path != "" && path[0] != '/', slices.ContainsFunc(segments, bad), len(segments) > 1 && slices.Contains(segments, ""),
		strings.Contains(strings.ToLower(at.EscapedPath()), "%2f"):
		return "", fmt.Errorf("%q is no path in a member: it may have no empty segment, and none that is . or .. or holds a slash", path)
	case path == "":
		return "/", nil
	}
	return path, nil
}

// callers are headers that say who asks the hub, or how he came there.
var callers = []string{"Authorization", "Proxy-Authorization", "Cookie", "Origin", "Referer", "Forwarded"}

// websocketToken precedes a token in a subprotocol of WebSocket. Source: Kubernetes.
const websocketToken = "base64url.bearer.authorization.k8s.io."

// withoutCaller takes out of headers all that a member could act as the caller by, at itself or at the hub.
func withoutCaller(h http.Header) {
	for name := range h { // order-free: each by itself
		lower := strings.ToLower(name)
		if slices.Contains(callers, name) || strings.HasPrefix(lower, "impersonate-") || strings.HasPrefix(lower, "x-remote-") || strings.HasPrefix(lower, "x-forwarded-") {
			delete(h, name)
		}
	}
	const protocols = "Sec-Websocket-Protocol"
	var kept []string
	for p := range strings.SplitSeq(strings.Join(h.Values(protocols), ","), ",") {
		if p = strings.TrimSpace(p); p != "" && !strings.HasPrefix(p, websocketToken) {
			kept = append(kept, p)
		}
	}
	h.Del(protocols)
	if len(kept) > 0 {
		h.Set(protocols, strings.Join(kept, ", "))
	}
}

func wants(q url.Values, what string) bool {
	value := q.Get(what)
	return value == "true" || value == "1"
}
