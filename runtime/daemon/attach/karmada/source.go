package karmada

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"leeward/runtime/fleet/catalog"
)

// source lists and watches the objects of one kind, for client-go's reflector.
type source struct {
	rest rest.Interface
	kind *kind
	// lost hears that the server did not answer as it should, found that it lets the kind be watched; nil: there is no listener.
	lost  func(error)
	found func()
	// malformed hears of an object that cannot be read. It counts as absent, and the others are read on.
	malformed func(error)
}

const (
	bareList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	bareOne  = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

func (s *source) get(bare string, options *metav1.ListOptions) *rest.Request {
	r := s.rest.Get().AbsPath(s.kind.path()...).VersionedParams(options, metav1.ParameterCodec)
	if s.kind.bare {
		return r.SetHeader("Accept", bare)
	}
	return r
}

// list reads one page.
func (s *source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	answer := s.get(bareList, &options).Do(ctx)
	if err := answer.Error(); err != nil { // in the server's words
		return nil, s.failed(err)
	}
	data, err := answer.Raw()
	if err != nil {
		return nil, s.failed(err)
	}
	var page struct {
		Metadata metav1.ListMeta  `json:"metadata"`
		Items    []jsontext.Value `json:"items"`
	}
	if err := json.Unmarshal(data, &page, catalog.AsJSON); err != nil {
		return nil, fmt.Errorf("decode the list of %s: %w", s.kind.Plural, err)
	}
	all := &metav1.List{ListMeta: page.Metadata}
	for _, item := range page.Items {
		if o, err := s.kind.decode(item); err != nil {
			s.malformed(err)
		} else {
			all.Items = append(all.Items, runtime.RawExtension{Object: o})
		}
	}
	return all, nil
}

func (s *source) failed(err error) error {
	if s.lost != nil {
		s.lost(err)
	}
	return err
}

func (s *source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	stream, err := s.get(bareOne, &options).Stream(ctx)
	switch {
	case err != nil && options.SendInitialEvents != nil:
		return nil, err // client-go lists instead, where a server cannot stream a list
	case err != nil:
		return nil, s.failed(err)
	}
	if s.found != nil {
		s.found()
	}
	return watch.NewStreamWatcher(&frames{source: s, stream: stream, read: jsontext.NewDecoder(stream)},
		apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")), nil
}

// frames are the events of one watch.
type frames struct {
	source *source
	stream io.ReadCloser
	read   *jsontext.Decoder
}

// Close ends the watch.
func (f *frames) Close() { _ = f.stream.Close() } // it was only read

// Decode reads the next event. What cannot be read is passed over.
func (f *frames) Decode() (watch.EventType, runtime.Object, error) {
	for {
		var e struct {
			Type   watch.EventType `json:"type"`
			Object jsontext.Value  `json:"object"`
		}
		if err := json.UnmarshalDecode(f.read, &e, catalog.AsJSON); err != nil {
			return "", nil, err
		}
		if e.Type == watch.Error {
			status := &metav1.Status{}
			return e.Type, status, json.Unmarshal(e.Object, status, catalog.AsJSON)
		}
		read := f.source.kind.decode
		if e.Type == watch.Bookmark { // its annotations say where the stream of a list ends
			read = f.source.kind.whole
		}
		o, err := read(e.Object)
		if err == nil {
			return e.Type, o, nil
		}
		f.source.malformed(err)
	}
}

// Missing says that the server does not have, or does not show, what is needed.
type Missing struct {
	Verb, Resource string
	Err            error
}

// Error names the verb and the resource.
func (m *Missing) Error() string {
	if apierrors.IsForbidden(m.Err) || apierrors.IsUnauthorized(m.Err) {
		return fmt.Sprintf("no right to %s %s: leeward attach install grants it: %v", m.Verb, m.Resource, m.Err)
	}
	return fmt.Sprintf("cannot %s %s: %v", m.Verb, m.Resource, m.Err)
}

// Unwrap is what the server said.
func (m *Missing) Unwrap() error { return m.Err }

// refused reports an error against which asking again does not help.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// probe asks whether the server lets the kind be listed and watched.
func (s *source) probe(ctx context.Context) error {
	missing := func(verb string, err error) error { return &Missing{verb, s.kind.Name().String(), err} }
	page, err := s.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return missing("list", err)
	}
	w, err := s.get(bareOne, &metav1.ListOptions{Watch: true, ResourceVersion: page.(*metav1.List).ResourceVersion, TimeoutSeconds: new(int64(1))}).Stream(ctx)
	if err != nil {
		return missing("watch", err)
	}
	return w.Close()
}

// probeAll returns those of some kinds that can be followed. Absent hears of those that cannot, and need not be. A *Missing is the first that must.
func probeAll(ctx context.Context, of rest.Interface, all []*kind, absent func(*Missing)) (found []*kind, err error) {
	for _, k := range all {
		s := &source{rest: of, kind: k, malformed: func(error) {}}
		err := s.probe(ctx)
		var missing *Missing
		switch {
		case err == nil:
			found = append(found, k)
		case k.required || !errors.As(err, &missing) || !refused(missing.Err):
			return nil, err
		default:
			absent(missing)
		}
	}
	return found, nil
}
